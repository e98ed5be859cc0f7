import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OfflineAnalyst from "../src/OfflineAnalyst.ts"
import { converse } from "./fixture/Conversation.ts"
import * as SampleWorld from "./fixture/SampleWorld.ts"
import { judge, type Verdict } from "./golden/Golden.ts"
import { questions } from "./golden/Questions.ts"

it.layer(Layer.merge(SampleWorld.layer, OfflineAnalyst.layer), { timeout: 60_000, excludeTestServices: true })(
  "golden set",
  (it) => {
    it.effect(
      "answers at least nine in ten questions right, and none wrong",
      () =>
        Effect.gen(function* () {
          const worlds = yield* SampleWorld.SampleWorld
          const verdicts: Array<readonly [string, Verdict]> = []
          for (const golden of questions) {
            const world = golden.world === "drafted" ? worlds.drafted : worlds.sample
            const asked = typeof golden.ask === "string" ? [golden.ask] : golden.ask
            const outcome = yield* converse(world, asked)
            const expected = "sql" in golden ? yield* world.sql(golden.sql) : undefined
            verdicts.push([asked.join(" / "), judge(golden, outcome, expected)])
          }
          const of = (tag: Verdict["_tag"]) => verdicts.filter(([, verdict]) => verdict._tag === tag)
          const report = [...of("Wrong"), ...of("Silent")]
            .map(([question, verdict]) => `${verdict._tag}: ${question}\n   ${"why" in verdict ? verdict.why : ""}`)
            .join("\n")
          assert.isAtLeast(questions.length, 100)
          assert.strictEqual(of("Wrong").length, 0, report)
          assert.isAtLeast(of("Right").length / questions.length, 0.9, report)
        }),
      { timeout: 180_000 }
    )
  }
)
