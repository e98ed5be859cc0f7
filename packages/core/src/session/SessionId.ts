/**
 * The name of a session, apart from the session so that a principal can carry it.
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"

/** A session's id. */
export const SessionId = Uuid.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type
