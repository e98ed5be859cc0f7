/**
 * The golden set over the real engines: DuckDB over the sample's files, Malloy over their models. Every expected
 * figure is computed by hand-written SQL when the test runs.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OfflineAnalyst from "../src/OfflineAnalyst.ts"
import { converse } from "./fixture/Conversation.ts"
import * as SampleWorld from "./fixture/SampleWorld.ts"
import { type Golden, isLook, judge, type Verdict } from "./golden/Golden.ts"
import * as HeldOut from "./golden/HeldOut.ts"
import * as HeldOutAgain from "./golden/HeldOutAgain.ts"
import { questions } from "./golden/Questions.ts"
import { readFile } from "node:fs/promises"

const page = new URL("../../../docs/offline-analyst.md", import.meta.url)

/** The questions of a section of the page: those in italics that stand first in a list. */
const documented = (text: string, section: string): ReadonlyArray<string> => {
  const part = text.split(/^## /m).find((candidate) => candidate.startsWith(section)) ?? ""
  return [...part.matchAll(/^- ([*_])(.+?)\1(?= |$)/gms)].map((match) => (match[2] ?? "").replace(/\s+/g, " "))
}

/** Whether an outcome has figures: anything asked beyond looking up a name. */
const hasFigures = (queries: ReadonlyArray<string>): boolean => queries.some((query) => !isLook(query))

const score = Effect.fnUntraced(function* (set: ReadonlyArray<Golden>) {
  const worlds = yield* SampleWorld.SampleWorld
  const verdicts: Array<readonly [string, Verdict]> = []
  for (const golden of set) {
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
  return { right: of("Right").length / set.length, wrong: of("Wrong").length, report }
})

it.layer(Layer.merge(SampleWorld.layer, OfflineAnalyst.layer), { timeout: 600_000, excludeTestServices: true })(
  "the golden set",
  (it) => {
    it.effect(
      "is answered right in nine of ten questions at least, and wrong in none",
      () =>
        Effect.gen(function* () {
          assert.isAtLeast(questions.length, 100)
          const { report, right, wrong } = yield* score(questions)
          assert.strictEqual(wrong, 0, report)
          assert.isAtLeast(right, 0.9, report)
        }),
      { timeout: 900_000 }
    )

    it.effect(
      "has held-out questions, which are answered right in eight of ten at least, and wrong in none",
      () =>
        Effect.gen(function* () {
          const { report, right, wrong } = yield* score([...HeldOut.questions, ...HeldOutAgain.questions])
          assert.strictEqual(wrong, 0, report)
          assert.isAtLeast(right, 0.8, report)
        }),
      { timeout: 900_000 }
    )

    it.effect(
      "is told truly by its page: what it understands is answered, what it does not is declined",
      () =>
        Effect.gen(function* () {
          const { sample } = yield* SampleWorld.SampleWorld
          const text = yield* Effect.promise(() => readFile(page, "utf8"))
          const understood = documented(text, "What it understands")
          const declined = documented(text, "What it does not understand")
          assert.isAbove(understood.length, 30)
          assert.isAbove(declined.length, 8)
          for (const question of understood) {
            const { queries, text: said } = yield* converse(sample, [question])
            assert.isTrue(hasFigures(queries), `${question}: ${said}`)
          }
          for (const question of declined) {
            const { queries, text: said } = yield* converse(sample, [question])
            assert.isFalse(hasFigures(queries), `${question}: ${said}`)
          }
        }),
      { timeout: 900_000 }
    )
  }
)
