/** A provider that fails, 51: a case for runtimes whose sessions are somebody else's machines. */
import { SandboxRuntime, type SandboxFailure } from "@castellan/core/sandcastle/SandboxRuntime"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { type AbuseCase, alive, at, library, opened, run } from "../Abuse.ts"

/** A way in which a provider does not open a session. */
export interface ProviderFailure {
  readonly what: string
  /** Runs something while the provider fails in that way. */
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What whoever asks for a session is told. */
  readonly reason: SandboxFailure
}

/** A provider that fails when it is told to. */
export interface FailingProvider {
  readonly failures: ReadonlyArray<ProviderFailure>
  /** Milliseconds after which a runtime must have said that it does not open. */
  readonly deadline: number
  /** Loses all sandboxes, as a provider does whose machine dies. */
  readonly lose: Effect.Effect<void>
  /** What the provider still has: sandboxes, and processes in them. */
  readonly left: Effect.Effect<number>
}

const nothingLeft = Effect.fnUntraced(function* ({ left }: FailingProvider, what: string) {
  for (let attempt = 0; attempt < 2_400 && (yield* left) > 0; attempt += 1) yield* Effect.sleep("25 millis")
  assert.strictEqual(yield* left, 0, `orphans after ${what}`)
})

const waiting = 'print("waits", flush=True)\nimport time\ntime.sleep(1000)'

/** The case. */
export const failingProvider = (provider: FailingProvider): AbuseCase => ({
  number: 51,
  title: "a provider that fails, hangs or loses a session leaves a typed error in time, the files, and no orphan",
  run: Effect.fnUntraced(function* () {
    for (const { during, reason, what } of provider.failures) {
      const begun = performance.now()
      const went = yield* Effect.result(during(Effect.scoped(opened)))
      assert.isBelow(performance.now() - begun, provider.deadline, what)
      if (Result.isSuccess(went)) return assert.fail(`${what}: it opened`)
      assert.strictEqual(went.failure.reason, reason, `${what}: ${went.failure.message}`)
      yield* nothingLeft(provider, what)
    }
    const { open } = yield* SandboxRuntime
    const organizationId = OrganizationId.make("018f0000-0000-7000-8000-000000000001")
    const spec = { id: SandcastleId.make(`abuse-lost-${process.pid}`), organizationId, library }
    yield* Effect.scoped(
      Effect.gen(function* () {
        const session = yield* open(spec)
        yield* session.upload(at("uploads/sales.csv"), new TextEncoder().encode("a,b\n1,2\n"))
        yield* run(session, 'x = 41\nopen("outputs/chart.txt", "w").write("chart")')
        const running = yield* Effect.forkChild(Effect.result(run(session, waiting)), { startImmediately: true })
        // It may be lost before it has said a word, and is lost then, too.
        yield* provider.lose
        const went = yield* Fiber.join(running)
        if (Result.isSuccess(went)) return assert.fail("what ran in a lost session went on")
        assert.strictEqual(went.failure.reason, "lost", went.failure.message)
        const usage = yield* Effect.result(session.usage)
        assert.isTrue(Result.isFailure(usage) && usage.failure.reason === "lost", "a lost session says that it is")
      })
    ).pipe(
      Effect.timeoutOrElse({ duration: "120 seconds", orElse: () => Effect.die(new Error("a lost session hangs")) })
    )
    yield* nothingLeft(provider, "a loss")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const again = yield* open(spec)
        assert.isFalse(again.resumed)
        const { stdout } = yield* run(
          again,
          'print(open("uploads/sales.csv").read(), open("outputs/chart.txt").read())'
        )
        assert.strictEqual(stdout, "a,b\n1,2\n chart\n")
        assert.strictEqual((yield* run(again, 'print("x" in globals())')).stdout, "False\n")
        yield* alive(again)
      })
    )
    yield* nothingLeft(provider, "a session that was taken up")
  })
})
