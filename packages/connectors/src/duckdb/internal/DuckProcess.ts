/**
 * A DuckDB process as a resource: started, asked, and gone when its scope closes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { ChildHandle, type HandleOptions, type Reply, type Work } from "./ChildHandle.ts"
import type { ProcessEnded } from "./ProcessEnded.ts"

/** How a process is started. */
export interface ProcessOptions extends Omit<HandleOptions, "grace"> {
  /** Time that it has to stop a statement, or to end, before it is killed. */
  readonly grace: Duration.Duration
}

/** A running process, which takes one request at a time. */
export interface DuckProcess {
  readonly pid: number | undefined
  /** Whether it may take another request: it runs, and never ran out of memory. */
  readonly usable: () => boolean
  /** Resident memory in bytes, where the platform tells. */
  readonly residentMemory: () => number | undefined
  /**
   * Sends a request, with its payload in parts, and waits for its answer, whose payload may have `payloadLimit` bytes.
   * Interruption stops the request inside the process, or kills the process when it does not stop in time, before it
   * completes.
   */
  readonly ask: (
    work: Work,
    payloadLimit?: number,
    payloads?: ReadonlyArray<Uint8Array>
  ) => Effect.Effect<Reply, ProcessEnded>
}

const isExhaustion = ({ response }: Reply): boolean => response._tag === "Failed" && response.kind === "memory"

/** Starts a process. */
export const start: (options: ProcessOptions) => Effect.Effect<DuckProcess, never, Scope.Scope> = Effect.fnUntraced(
  function* (options) {
    const handle = yield* Effect.acquireRelease(
      Effect.sync(() => new ChildHandle({ ...options, grace: Duration.toMillis(options.grace) })),
      (child) => Effect.callback<void>((resume) => child.close(() => resume(Effect.void)))
    )
    let exhausted = false
    return {
      pid: handle.pid,
      usable: () => handle.running && !exhausted,
      residentMemory: () => handle.residentMemory,
      ask: (work, payloadLimit = 0, payloads = []) =>
        Effect.callback<Reply, ProcessEnded>((resume) => {
          const settle = (reply: Exit.Exit<Reply, ProcessEnded>): void => {
            exhausted ||= Exit.isSuccess(reply) && isExhaustion(reply.value)
            resume(reply)
          }
          const id = handle.post(work, payloadLimit, settle, payloads)
          return Effect.callback<void>((stopped) => handle.cancel(id, () => stopped(Effect.void)))
        })
    }
  }
)
