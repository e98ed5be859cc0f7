/**
 * What a sandbox's supervisor says. Every frame is a claim of code that nobody vetted: its line and its payload are
 * bounded, it is decoded strictly, and it must name a command that is open, by id and nonce; any other ends the session
 * as a breach of the protocol.
 */
import * as Schema from "effect/Schema"

const Id = Schema.Int
const Nonce = Schema.String
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Name = Schema.String.check(Schema.isMaxLength(1_024))

const answers = { id: Id, nonce: Nonce }

/** A dataframe as the session tells it. */
export const ReportedDataframe = Schema.Struct({
  name: Name,
  rows: Count,
  columns: Count,
  /** Bytes of memory that it holds, where that can be told. */
  memory: Schema.optionalKey(Count)
})

/** One form of a displayed value; its bytes are a part of the frame's payload, in the order of the forms. */
export const ReportedForm = Schema.Struct({ media_type: Name, bytes: Count })

/** An entry of a listing. */
export const ReportedEntry = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(["file", "directory", "link", "other"]),
  size: Count,
  /** SHA-256 in hexadecimal digits of a file's content; in `tree` frames alone. */
  digest: Schema.optionalKey(Schema.String)
})

/** A frame of a supervisor. */
export const Report = Schema.Union([
  /** The supervisor and the interpreter are there. It answers to no command: its nonce is the session's own. */
  Schema.Struct({
    event: Schema.Literal("ready"),
    nonce: Nonce,
    protocol: Schema.Int,
    python: Schema.String,
    packages: Schema.Array(Name)
  }),
  Schema.Struct({ ...answers, event: Schema.Literal("started") }),
  /** Text that was put out follows as raw bytes, which need not be UTF-8. */
  Schema.Struct({
    ...answers,
    event: Schema.Literal("output"),
    stream: Schema.Literals(["stdout", "stderr"]),
    bytes: Count
  }),
  Schema.Struct({ ...answers, event: Schema.Literal("rich"), forms: Schema.Array(ReportedForm), bytes: Count }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("error"),
    name: Schema.String,
    message: Schema.String,
    traceback: Schema.Array(Schema.String)
  }),
  /** The interpreter went down, or was taken down, and another is there. */
  Schema.Struct({ ...answers, event: Schema.Literal("restarted"), state_lost: Schema.Boolean }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("finished"),
    outcome: Schema.Literals(["completed", "failed", "interrupted"]),
    exit_code: Schema.Int,
    files: Schema.Array(Schema.String),
    dataframes: Schema.Array(ReportedDataframe),
    dropped_bytes: Count
  }),
  Schema.Struct({ ...answers, event: Schema.Literal("data"), bytes: Count }),
  Schema.Struct({ ...answers, event: Schema.Literal("entries"), entries: Schema.Array(ReportedEntry) }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("done"),
    dataframe: Schema.optionalKey(ReportedDataframe),
    dataframes: Schema.optionalKey(Schema.Array(ReportedDataframe)),
    memory: Schema.optionalKey(Count)
  }),
  Schema.Struct({
    ...answers,
    event: Schema.Literal("failed"),
    reason: Schema.Literals(["not_found", "invalid", "exhausted", "too_many_files"]),
    message: Schema.String
  }),
  /**
   * The running program asks the host for SQL over its dataframes (`castellan.sql`). The payload is the statement in
   * UTF-8. The tables came before it, in `data` frames of the same command: one Arrow IPC stream after another.
   */
  Schema.Struct({
    ...answers,
    event: Schema.Literal("call"),
    call: Count,
    tables: Schema.Array(Schema.Struct({ name: Name, bytes: Count })),
    bytes: Count
  })
])
export type Report = typeof Report.Type
