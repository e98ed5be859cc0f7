/** A host that is killed, 37: a case for runtimes whose sessions are processes of the host. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { createInterface } from "node:readline"
import type { AbuseCase } from "../Abuse.ts"
import { descendants, secret, secretVariable, stillRuns } from "../HostWatch.ts"

/** A host of its own, and what comes after it. */
export interface HostProgram {
  /** What Node is given to run it. It opens a session, leaves programs behind that ignore what can be, and says `ready`. */
  readonly program: ReadonlyArray<string>
  /** Processes of the session that there are at least when it is ready. */
  readonly processes: number
  /** The folder that it writes to: what it leaves there, the next host takes away. */
  readonly folder: string
  /** Another host over that folder, gone with the scope. */
  readonly next: Effect.Effect<unknown, never, Scope.Scope>
}

const start = (program: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [...program], {
        env: { ...process.env, [secretVariable]: secret },
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** Waits for something; how often it looked and did not find it, at most, is far more than it takes. */
const eventually = Effect.fnUntraced(function* (holds: () => boolean) {
  for (let attempt = 0; attempt < 2_400; attempt += 1) {
    // What held once may not hold a moment later: processes come and go.
    if (holds()) return true
    yield* Effect.sleep("25 millis")
  }
  return false
})

/** The case. */
export const killedHost = ({ folder, next, processes, program }: HostProgram): AbuseCase => ({
  number: 37,
  title: "a host that is killed takes its sessions along, whatever they do about it, and the next one clears up",
  run: Effect.fnUntraced(function* () {
    const before = readdirSync(folder).toSorted()
    const host = yield* start(program)
    let isReady = false
    createInterface({ input: host.stdout }).on("line", (line) => {
      isReady ||= line === "ready"
    })
    const { pid = 0 } = host
    assert.isTrue(yield* eventually(() => isReady), "the host became ready")
    assert.isTrue(yield* eventually(() => descendants(pid).length >= processes), "its session's processes are there")
    const left = descendants(pid)
    // Only once all its threads are gone, and it can be waited for, has it let go of what it had open.
    yield* Effect.callback<void>((resume) => {
      host.once("exit", () => resume(Effect.void))
      host.kill("SIGKILL")
    })
    yield* eventually(() => !left.some(stillRuns))
    assert.deepStrictEqual(left.filter(stillRuns), [], "processes that outlived their host")
    yield* Effect.scoped(next)
    assert.deepStrictEqual(readdirSync(folder).toSorted(), before, "what the host left on the disk")
  })
})
