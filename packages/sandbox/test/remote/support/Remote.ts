/**
 * The adapter over the local E2B.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import type { ExecEvent, SandboxRuntime, SandboxSession, SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { type Options } from "@castellan/sandbox/remote/E2bOptions"
import { layer } from "@castellan/sandbox/remote"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type E2bServer, key, serve } from "./E2bServer.ts"
import { python } from "./Python.ts"

/** The local E2B, for a test that looks behind the adapter. */
export class LocalE2b extends Context.Service<LocalE2b, E2bServer>()("test/remote/LocalE2b") {}

const program = python ?? "python3"

/** The local E2B. */
export const local: Layer.Layer<LocalE2b> = Layer.effect(LocalE2b, serve(program))

/** How the adapter reaches it. */
export const optionsFor = (server: E2bServer, more: Partial<Options> = {}): Options => ({
  apiKey: Redacted.make(key),
  apiUrl: server.url,
  sandboxUrl: server.url,
  python: program,
  ...more
})

/** The adapter over the local E2B. */
export const adapter = (more: Partial<Options> = {}): Layer.Layer<SandboxRuntime, never, LocalE2b> =>
  Layer.unwrap(LocalE2b.useSync((server) => layer(optionsFor(server, more))))

let count = 0

/** A spec with a tag that no session had. */
export const spec = (given: Partial<SandboxSpec> = {}): SandboxSpec => {
  count += 1
  return {
    id: SandcastleId.make(`remote-${count}`),
    organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
    library: [],
    ...given
  }
}

/** Executes in the session's Python; all that happens. */
export const events = (session: SandboxSession, code: string) =>
  Stream.runCollect(session.exec({ language: "python", code, within: "session", timeout: Duration.minutes(2) }))

/** What a program printed. */
export const printed = (session: SandboxSession, code: string) =>
  Effect.map(events(session, code), (all: ReadonlyArray<ExecEvent>) =>
    all.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")
  )
