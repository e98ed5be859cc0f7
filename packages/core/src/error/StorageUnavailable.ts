/**
 * What an adapter of a store dies with when nothing can be kept or read at the moment: its database is gone, full or
 * read-only. No use case can do anything about it, so it is a defect and in no signature; an adapter of a protocol
 * tells its callers to try again (HTTP: 503), and its cause stays in the log.
 */
import * as Schema from "effect/Schema"

/** The storage is unavailable. What was not acknowledged may be tried again. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the storage is unavailable"
  }
}
