/**
 * What the use cases of changes keep and put on the record, and how a refusal of a change's state reads to a caller.
 *
 * Source: decisions.md §3 ("Audit log": before and after).
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AuditAction, AuditEntry } from "../audit/AuditEvent.ts"
import { Conflict } from "../error/Failure.ts"
import type { Change } from "./Change.ts"
import type { ChangeRefusal } from "./ChangeState.ts"
import type { ChangeStore } from "./ChangeStore.ts"

const recorded = (change: Change): { readonly [field: string]: string | number } => ({
  number: change.number,
  status: change.status._tag,
  revision: change.changeset.revision,
  gitRef: change.gitRef
})

/** What was done to a change; a new one has no before. */
export const entry = (action: AuditAction, before: Change | undefined, after: Change): AuditEntry => ({
  action,
  target: { type: "change", id: after.id },
  ...(before === undefined ? {} : { before: recorded(before) }),
  after: recorded(after)
})

/** Goes on where the change's state allows it; else a conflict that says the state. */
export const allowed = <A>(result: Result.Result<A, ChangeRefusal>): Effect.Effect<A, Conflict> =>
  Effect.fromResult(Result.mapError(result, ({ message }) => new Conflict({ message })))

/** Keeps what became of a change, where nobody else has written to it meanwhile. */
export const replace = (store: ChangeStore["Service"], before: Change, after: Change): Effect.Effect<void, Conflict> =>
  Effect.mapError(
    store.replace(before, after),
    () => new Conflict({ message: "the change was changed at the same time; try again" })
  )
