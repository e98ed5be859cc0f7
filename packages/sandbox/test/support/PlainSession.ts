/**
 * Words for tests of sessions whose Python is the machine's own: what is run in one, and what it told.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import type { ExecEvent, ExecRequest, SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import type { SqlExecutor } from "@castellan/sandbox/sql/SqlExecutor"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Stream from "effect/Stream"
import * as PlainPython from "./PlainPython.ts"

/** What a session is opened with. */
export const spec = {
  id: SandcastleId.make("plain"),
  organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
  library: []
}

/** A session; its SQL is answered by what is given. */
export const opened = (executor?: SqlExecutor["Service"], started?: (process: PlainPython.PlainProcess) => void) =>
  KernelSession.open(PlainPython.tier(started), spec, executor)

/** Runs a program of the session to its end. */
export const run = (session: SandboxSession, code: string, more: Partial<ExecRequest> = {}) =>
  Stream.runCollect(
    session.exec({ language: "python", code, within: "session", timeout: Duration.seconds(60), ...more })
  )

/** What was written to a stream, as a whole. */
export const text = (events: ReadonlyArray<ExecEvent>, tag: "Stdout" | "Stderr" = "Stdout") =>
  events.map((event) => (event._tag === tag ? event.text : "")).join("")

/** The kinds of events, in order. */
export const tags = (events: ReadonlyArray<ExecEvent>) => events.map(({ _tag }) => _tag)

/** The end of an execution, which must be there. */
export const finished = (events: ReadonlyArray<ExecEvent>) => {
  assert.strictEqual(tags(events).filter((tag) => tag === "Finished").length, 1)
  const last = events.at(-1)
  if (last?._tag !== "Finished") assert.fail("the last event is not Finished")
  return last
}

/** The error that was told, if one was. */
export const errorOf = (events: ReadonlyArray<ExecEvent>) => events.find((event) => event._tag === "Error")
