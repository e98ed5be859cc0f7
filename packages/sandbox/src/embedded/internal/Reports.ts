/**
 * What the supervisor of an embedded session tells the engine, in frames that wait until it takes them.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { encodeFrame } from "./deno/Frames.ts"
import type { FileRefusal } from "./HostFiles.ts"

/** What names a command and its answers. */
export interface Mark {
  readonly id: number
  readonly nonce: string
}

/** Tells the engine something; completes once there is room for it. */
export interface Reports {
  readonly report: (head: Readonly<Record<string, unknown>>, payload?: Uint8Array) => Effect.Effect<void>
  /** A command was carried out. */
  readonly done: (mark: Mark, more?: Readonly<Record<string, unknown>>) => Effect.Effect<void>
  /** A command was not carried out, and why. */
  readonly refused: (mark: Mark, refusal: FileRefusal) => Effect.Effect<void>
}

const nothing = new Uint8Array(0)

/** Reports that go into a queue, as the bytes of their frames. */
export const into = (output: Queue.Enqueue<Uint8Array, SandboxError | Cause.Done>): Reports => {
  const report: Reports["report"] = (head, payload = nothing) =>
    Effect.asVoid(Queue.offer(output, encodeFrame(head, payload)))
  return {
    report,
    done: (mark, more = {}) => report({ event: "done", ...mark, ...more }),
    refused: (mark, { message, reason }) => report({ event: "failed", ...mark, reason, message })
  }
}
