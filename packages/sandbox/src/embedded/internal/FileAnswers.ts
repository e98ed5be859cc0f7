/**
 * How file commands of the engine are answered: at once and truly, whatever runs in the session.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ReportedEntry } from "../../protocol/Report.ts"
import { pieceBytes } from "./deno/Wire.ts"
import type { FileRefusal, HostFiles } from "./HostFiles.ts"
import type { Mark, Reports } from "./Reports.ts"

const entriesAtOnce = 500
/** Characters of the entries' names in one frame. */
const namesAtOnce = 64 * 1024

/** Tells whether a change of the host's own was made. */
export const answer = (reports: Reports, mark: Mark, went: Result.Result<void, FileRefusal>): Effect.Effect<void> =>
  Result.isSuccess(went) ? reports.done(mark) : reports.refused(mark, went.failure)

/** Tells the entries of a folder, as many at once as a frame holds. */
export const entries = Effect.fnUntraced(function* (
  { done, refused, report }: Reports,
  mark: Mark,
  found: Result.Result<ReadonlyArray<typeof ReportedEntry.Type>, FileRefusal>
) {
  if (Result.isFailure(found)) return yield* refused(mark, found.failure)
  let batch: Array<typeof ReportedEntry.Type> = []
  let names = 0
  for (const entry of found.success) {
    if (batch.length === entriesAtOnce || (batch.length > 0 && names + entry.path.length > namesAtOnce)) {
      yield* report({ event: "entries", ...mark, entries: batch })
      batch = []
      names = 0
    }
    batch.push(entry)
    names += entry.path.length
  }
  if (batch.length > 0) yield* report({ event: "entries", ...mark, entries: batch })
  yield* done(mark)
})

/** Tells what a file holds, in pieces. */
export const content = Effect.fnUntraced(function* (
  { done, refused, report }: Reports,
  mark: Mark,
  found: ReturnType<HostFiles["get"]>
) {
  if (Result.isFailure(found)) return yield* refused(mark, found.failure)
  for (let at = 0; at < found.success.length; at += pieceBytes) {
    yield* report({ event: "data", ...mark }, found.success.subarray(at, at + pieceBytes))
  }
  yield* done(mark)
})
