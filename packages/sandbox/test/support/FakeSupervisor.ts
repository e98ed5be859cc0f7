/**
 * A tier whose supervisor is the test itself: it reads what the engine sends and answers what it likes.
 */
import { type SandboxCapabilities, SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandboxProcess, SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

/** A command as it came. */
export interface Came {
  readonly id: number
  readonly nonce: string
  readonly op: string
  readonly [field: string]: unknown
}

/** The test's end of the channel. */
export interface Supervisor {
  /** Says something: a report with its payload. */
  readonly say: (report: object, payload?: string | Uint8Array) => void
  /** Says something about a command, with its id and nonce. */
  readonly answer: (command: Came, event: string, more?: object, payload?: string | Uint8Array) => void
  /** Puts raw bytes out. */
  readonly raw: (bytes: Uint8Array) => void
  /** Ends as a process does, for a reason that the tier knows where one is given. */
  readonly end: (reason?: string) => void
  readonly launchNonce: string
  /** Which of the processes of the session this is, from 1. */
  readonly life: number
}

/** What a supervisor does with a command; the ordinary ones are answered for it where it answers false. */
export type Behaviour = (command: Came, supervisor: Supervisor) => boolean | void

const capabilities: SandboxCapabilities = {
  isolation: "none",
  statefulPython: true,
  realBash: true,
  packages: [],
  gentleInterrupt: true,
  persistent: false,
  limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "none" }
}

const lost = new SandboxError({ reason: "lost", message: "the process is gone" })

const textOf = (payload: string | Uint8Array): Uint8Array => Buffer.from(payload)

/** A tier that behaves so. `replaceable`: whether another process can take the place of one that ended. */
export const tier = (
  behave: Behaviour,
  options: { readonly replaceable?: boolean; readonly greet?: (supervisor: Supervisor) => void } = {}
): SandboxTier => {
  const life = (number: number, launchNonce: string): Effect.Effect<SandboxProcess> =>
    Effect.gen(function* () {
      const output = yield* Queue.unbounded<Uint8Array, SandboxError>()
      let received = Buffer.alloc(0)
      const supervisor: Supervisor = {
        say: (report, payload = "") => {
          const bytes = textOf(payload)
          Queue.offerUnsafe(output, Buffer.concat([Buffer.from(`${JSON.stringify(report)}\n`), bytes]))
        },
        answer: ({ id, nonce }, event, more = {}, payload = "") =>
          supervisor.say({ event, id, nonce, ...more }, payload),
        raw: (bytes) => void Queue.offerUnsafe(output, bytes),
        end: (reason) =>
          void Effect.runSync(
            Queue.fail(output, reason === undefined ? lost : new SandboxError({ reason: "lost", message: reason }))
          ),
        launchNonce,
        life: number
      }
      const greet = options.greet ?? ((one) => one.say(ready(one.launchNonce)))
      greet(supervisor)
      const take = (bytes: Uint8Array): void => {
        received = Buffer.concat([received, bytes])
        for (;;) {
          const newline = received.indexOf(0x0a)
          if (newline === -1) return
          const command: Came & { readonly bytes?: number } = JSON.parse(received.toString("utf8", 0, newline))
          const end = newline + 1 + (command.bytes ?? 0)
          if (received.length < end) return
          received = received.subarray(end)
          if (behave(command, supervisor) !== true && command.op === "mount") supervisor.answer(command, "done")
        }
      }
      return {
        send: (bytes) => Effect.sync(() => take(bytes)),
        output: Stream.fromQueue(output),
        replaceInterpreter: options.replaceable === true ? life(number + 1, launchNonce) : Effect.fail(lost),
        memoryBytes: Effect.succeed(undefined)
      }
    })
  return { capabilities, launch: (_spec, nonce) => life(1, nonce) }
}

/** What a supervisor says first. */
export const ready = (nonce: string, more: object = {}) => ({
  event: "ready",
  nonce,
  protocol: 1,
  python: "3.11.2",
  packages: [],
  ...more
})

/** A report that an execution ended. */
export const finished = { outcome: "completed", exit_code: 0, files: [], dataframes: [], dropped_bytes: 0 }
