/**
 * What a child process of the embedded tier says, as the host takes it: decoded strictly, since whatever runs in the
 * child can write to the same pipe. The reports that the protocol has look as they do there.
 */
import * as Schema from "effect/Schema"
import { ReportedDataframe, ReportedForm } from "../../protocol/Report.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Name = Schema.String.check(Schema.isMaxLength(1_024))
/** As many and as long names as the tree is walked through. */
const Path = Schema.String.check(Schema.isMaxLength(64 * 256))
const Dataframes = Schema.Array(ReportedDataframe).check(Schema.isMaxLength(1_000))
const bytes = { bytes: Count }
const answers = { id: Schema.Int, nonce: Schema.String }

/** A report of a child process. */
export const ChildReport = Schema.Union([
  /** It is there, without permissions, and takes orders. */
  Schema.Struct({ event: Schema.Literal("ready"), nonce: Schema.String, version: Name }),
  /** The memory of an interpreter follows in `more` frames. */
  Schema.Struct({ event: Schema.Literal("snapshot"), nonce: Schema.String, size: Count }),
  /** The content that was begun goes on. Of a file it has an id, of a snapshot none. */
  Schema.Struct({ event: Schema.Literal("more"), nonce: Schema.String, id: Schema.optionalKey(Schema.Int), ...bytes }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("output"),
    stream: Schema.Literals(["stdout", "stderr"]),
    ...bytes
  }),
  Schema.Struct({ ...answers, event: Schema.Literal("rich"), forms: Schema.Array(ReportedForm), ...bytes }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("error"),
    name: Name,
    message: Schema.String,
    traceback: Schema.Array(Schema.String)
  }),
  /** A file was made or changed, and `size` bytes of it follow, the first in this frame; or something else was done. */
  Schema.Struct({
    ...answers,
    event: Schema.Literal("changed"),
    path: Path,
    kind: Schema.Literals(["file", "directory", "link", "other", "gone"]),
    target: Schema.optionalKey(Path),
    size: Count,
    ...bytes
  }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("finished"),
    outcome: Schema.Literals(["completed", "failed", "interrupted"]),
    exit_code: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })),
    /** All that there are. */
    dataframes: Dataframes,
    /** The names of those that it made or changed. */
    changed: Schema.Array(Name),
    dropped_bytes: Count
  }),
  Schema.Struct({ ...answers, event: Schema.Literal("data"), ...bytes }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("call"),
    call: Count,
    tables: Schema.Array(Schema.Struct({ name: Name, bytes: Count })),
    ...bytes
  }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("done"),
    dataframe: Schema.optionalKey(ReportedDataframe),
    dataframes: Schema.optionalKey(Dataframes)
  }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("failed"),
    reason: Schema.Literals(["not_found", "invalid", "exhausted"]),
    message: Schema.String
  })
])
export type ChildReport = typeof ChildReport.Type

/** Reads the line of a report; throws where it is none. */
export const parseReport: (line: string) => ChildReport = Schema.decodeUnknownSync(Schema.fromJsonString(ChildReport), {
  onExcessProperty: "error"
})
