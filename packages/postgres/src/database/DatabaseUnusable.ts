/**
 * Why a start cannot work with its database, in the words that an operator needs: which login, where, and what the
 * server said. The password is in none of them.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { sqlStateOf } from "./DatabaseFailure.ts"

/** The database cannot be reached, or does not do for the login what a start asks of it. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  message: Schema.String
}) {}

/** What the server said, or the network: the innermost words of an error. */
const saidBy = (error: SqlError): string => {
  let said = error.message
  let cause: unknown = error.reason.cause
  for (let depth = 0; depth < 5 && Predicate.isObject(cause); depth++) {
    // Where each of several addresses refused, the error has a code alone.
    const words = [
      Predicate.hasProperty(cause, "message") ? cause.message : undefined,
      Predicate.hasProperty(cause, "code") ? cause.code : undefined
    ].find((word) => typeof word === "string" && word !== "")
    if (typeof words === "string") said = words
    cause = Predicate.hasProperty(cause, "cause") ? cause.cause : undefined
  }
  return said
}

/** What to do about it, where that is known by what the server said. */
const advice: ReadonlyMap<string, string> = new Map([
  ["22023", "a start with the owner's login makes the role"],
  ["42501", "a start with the owner's login lets this one work as that role"]
])

/** The failure of a start with the login of an address. */
export const of =
  (url: Redacted.Redacted<string>) =>
  (error: SqlError): DatabaseUnusable => {
    const { host, pathname, username } = new URL(Redacted.value(url))
    const connects = error.reason.operation === "connect"
    const hint = connects ? advice.get(sqlStateOf(error) ?? "") : undefined
    const place = `${host}${decodeURIComponent(pathname)}`
    const message = `the database at ${place} cannot be used as "${decodeURIComponent(username)}": ${saidBy(error)}`
    return new DatabaseUnusable({ message: hint === undefined ? message : `${message} (${hint})` })
  }
