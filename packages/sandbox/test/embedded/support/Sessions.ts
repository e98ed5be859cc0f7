/**
 * Sessions of the embedded tier, for tests that look closer than the contract does.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import {
  type ExecEvent,
  type ExecRequest,
  SandboxRuntime,
  type SandboxSession
} from "@castellan/core/sandcastle/SandboxRuntime"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import * as Duration from "effect/Duration"
import * as Stream from "effect/Stream"

let count = 0

/** Opens a session with a tag that none had. */
export const opened = () =>
  SandboxRuntime.use((runtime) => {
    count += 1
    return runtime.open({
      id: SandcastleId.make(`embedded-${count}`),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
  })

/** Runs a program, in the session's Python where nothing else is said. */
export const all = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  Stream.runCollect(
    session.exec({ language: "python", within: "session", timeout: Duration.minutes(1), code, ...more })
  )

/** Runs a command. */
export const bash = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  all(session, code, { language: "bash", within: "process", ...more })

/** What was written to standard output. */
export const textOf = (events: ReadonlyArray<ExecEvent>): string =>
  events.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")

/** What was written to standard error. */
export const errorsOf = (events: ReadonlyArray<ExecEvent>): string =>
  events.map((event) => (event._tag === "Stderr" ? event.text : "")).join("")

/** The names of the exceptions that nothing caught. */
export const namesOf = (events: ReadonlyArray<ExecEvent>): ReadonlyArray<string> =>
  events.flatMap((event) => (event._tag === "Error" ? [event.name] : []))

/** Whether the session's Python was lost. */
export const restarted = (events: ReadonlyArray<ExecEvent>): boolean =>
  events.some((event) => event._tag === "KernelRestarted" && event.stateLost)

/** The outcome; the last event has it. */
export const outcomeOf = (events: ReadonlyArray<ExecEvent>): string => {
  const last = events.at(-1)
  return last?._tag === "Finished" ? last.outcome : "none"
}

export const path = (text: string) => SandboxPath.make(text)
