/**
 * A session of scripted sandboxes: what it has, and how it ends.
 */
import { type Dataframe, SandboxError, type SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { HeldFiles } from "./ScriptedFiles.ts"
import type { PythonValue } from "./ScriptedStatements.ts"

/** Why a program ends that would not end by itself. */
export type Stop = "interrupted" | "lost"

/** What a session has. */
export interface Session {
  spec: SandboxSpec
  readonly files: HeldFiles
  readonly running: Set<Deferred.Deferred<Stop>>
  variables: Map<string, PythonValue>
  dataframes: Map<string, Dataframe>
  isOpen: boolean
}

/** The session answers nothing any more. */
export const lostSession = new SandboxError({ reason: "lost", message: "the session is gone" })

/** Ends the programs of a session that would not end by themselves. */
export const end = (session: Session, stop: Stop): Effect.Effect<void> =>
  Effect.forEach([...session.running], (running) => Deferred.succeed(running, stop), { discard: true })

/** Does something with a session that is open. */
export const within = <A>(
  session: Session,
  work: () => Effect.Effect<A, SandboxError>
): Effect.Effect<A, SandboxError> => Effect.suspend(() => (session.isOpen ? work() : Effect.fail(lostSession)))
