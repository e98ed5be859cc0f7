/**
 * What a failed statement means to who asked for it. No use case handles a failure of the database: it is a defect,
 * `StorageUnavailable` when trying again later can help, the error itself when the statement is at fault.
 */
import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { SqlError } from "effect/sql/SqlError"

/**
 * The classes of SQLSTATE with which a server says that it cannot serve: connection exceptions (08), insufficient
 * resources (53), shut down or started (57P), system errors of the disk (58); a server that is read-only (25006), and one
 * that no longer has the database (3D000).
 * Source: PostgreSQL, appendix A.
 */
const unavailableStates = /^(?:08|53|57P|58|25006|3D000)/

/** The SQLSTATE that a server answered with; absent where it did not answer. */
export const sqlStateOf = (error: SqlError): string | undefined => {
  let cause: unknown = error.reason.cause
  // The client wraps the server's error a few times.
  for (let depth = 0; depth < 5 && Predicate.isObject(cause); depth++) {
    if (Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code)) {
      return cause.code
    }
    cause = Predicate.hasProperty(cause, "cause") ? cause.cause : undefined
  }
  return undefined
}

/** Whether the database could not be asked, or could not serve whatever it was asked. */
export const isUnavailable = (error: SqlError): boolean => {
  switch (error.reason._tag) {
    case "ConnectionError":
    case "AuthenticationError":
    case "StatementTimeoutError":
    case "LockTimeoutError":
      return true
    default:
      return unavailableStates.test(sqlStateOf(error) ?? "")
  }
}

/** Whether the same transaction, run once more, may well succeed: it lost against another one. */
export const isLostRace = (error: SqlError): boolean =>
  error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError"

/** A failure of the database as the defect that it is to a use case. */
export const defectOf = (error: SqlError): SqlError | StorageUnavailable =>
  isUnavailable(error) || isLostRace(error) ? new StorageUnavailable({ cause: error }) : error

/** The failure of a statement as a defect. */
export const orDefect = <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, never, R> =>
  Effect.catch(effect, (error) => Effect.die(defectOf(error)))

/** A cause with every failure of the database in it as the defect that it is to a use case. */
export const inCause = <E>(cause: Cause.Cause<E>): Cause.Cause<E> =>
  Cause.fromReasons(
    cause.reasons.map((reason) =>
      Cause.isDieReason(reason) && reason.defect instanceof SqlError
        ? Cause.makeDieReason(defectOf(reason.defect))
        : reason
    )
  )

/** The first failure of a statement among the defects of a cause. */
export const statementFailure = (cause: Cause.Cause<unknown>): SqlError | undefined => {
  for (const reason of cause.reasons) {
    const found = Cause.isDieReason(reason) ? reason.defect : Cause.isFailReason(reason) ? reason.error : undefined
    const failure = found instanceof StorageUnavailable ? found.cause : found
    if (failure instanceof SqlError) return failure
  }
  return undefined
}
