/**
 * The abuse that every sandbox must withstand, one test a case, each with the host measured before and after it.
 *
 * Three cases need more than a session, and a runtime adds them with what only it can give: a host that is killed
 * (`KilledHost.ts`), a start that fails (`FailingStart.ts`), a provider that does (`FailingProvider.ts`). All numbers of
 * the list are accounted for: a case that is none of a runtime's says why.
 */
import { type SandboxCapabilities, SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { env } from "node:process"
import { type AbuseCase, alive, opened } from "./Abuse.ts"
import * as Disk from "./cases/Disk.ts"
import * as Escape from "./cases/Escape.ts"
import * as Files from "./cases/Files.ts"
import * as Interruption from "./cases/Interruption.ts"
import * as Memory from "./cases/Memory.ts"
import * as Neighbours from "./cases/Neighbours.ts"
import * as Network from "./cases/Network.ts"
import * as Output from "./cases/Output.ts"
import * as Root from "./cases/Root.ts"
import * as Secrets from "./cases/Secrets.ts"
import * as Sql from "./cases/Sql.ts"
import { guarded, type HostBounds, secret, secretVariable } from "./HostWatch.ts"

/** How many cases the list has. */
export const caseCount = 51

/** The cases that are everybody's. */
export const cases: ReadonlyArray<AbuseCase> = [
  ...Interruption.cases,
  ...Memory.cases,
  ...Disk.cases,
  ...Output.cases,
  ...Secrets.cases,
  ...Network.cases,
  ...Escape.cases,
  ...Files.cases,
  ...Neighbours.cases,
  ...Root.cases,
  ...Sql.cases
].toSorted((a, b) => a.number - b.number)

/** What a runtime tells of itself. */
export interface AbuseOptions {
  /** What it declares: cases that are none of such a runtime's are told with the reason. */
  readonly kind: Pick<SandboxCapabilities, "isolation" | "realBash">
  readonly bounds: HostBounds
  /** Cases that only this runtime can show, among them those of the list that are nobody's in general. */
  readonly own: ReadonlyArray<AbuseCase>
  /** Cases of the list that are none of this runtime's, with the reason in words. They are not run. */
  readonly absent: Readonly<Record<number, string>>
}

/** Milliseconds that a case may take: only one that hangs takes them. */
const patience = 240_000

/** Runs the abuse against a runtime. Time is the machine's. */
export const suite = <E>(name: string, layer: Layer.Layer<SandboxRuntime, E>, options: AbuseOptions): void => {
  // Before the runtime is built: what it starts could have inherited it.
  env[secretVariable] = secret
  it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })(`abuse (${name})`, (it) => {
    it.effect("a session opens, and all 51 cases are accounted for", () =>
      Effect.gen(function* () {
        const { capabilities } = yield* SandboxRuntime
        assert.deepInclude(capabilities, options.kind)
        yield* Effect.scoped(Effect.flatMap(opened, alive))
        const told = new Set([
          ...cases.map(({ number }) => number),
          ...options.own.map(({ number }) => number),
          ...Object.keys(options.absent).map(Number)
        ])
        const missing = Array.from({ length: caseCount }, (_, index) => index + 1).filter((number) => !told.has(number))
        assert.deepStrictEqual(missing, [])
      })
    )

    const skipped = (number: number | string, reason: string) =>
      it.effect.skip(`${number}: not of this runtime: ${reason}`, () => Effect.void)

    for (const one of [...cases, ...options.own]) {
      if (options.absent[one.number] !== undefined) continue
      const reason = one.applies?.(options.kind)
      if (reason !== undefined) skipped(one.number, reason)
      else it.effect(`${one.number}: ${one.title}`, () => guarded(options.bounds, one.run), patience)
    }

    for (const [number, reason] of Object.entries(options.absent)) skipped(number, reason)
  })
}
