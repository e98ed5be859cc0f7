/**
 * What a host asks of a sandbox's supervisor, over the control channel.
 *
 * The channel carries frames in both directions: one line of JSON in UTF-8, ended by a newline, and, where the line has
 * `bytes`, that many raw bytes after it. The supervisor is the first process of a session: it starts the interpreter,
 * reads its pipes, keeps the files, and is not the interpreter, so that what runs there can neither block nor forge
 * what the supervisor answers. It answers to a command's `id` and `nonce` with the frames of `Report.ts`.
 */
import * as Schema from "effect/Schema"

/** The version of this protocol, which a supervisor says when it is ready. */
export const protocolVersion = 1

/** Bytes of the line of a frame, at most. */
export const maximumLine = 1024 * 1024

/** Raw bytes of a frame that comes out of a sandbox, at most; longer contents come in several frames. */
export const maximumPayload = 8 * 1024 * 1024

const Bytes = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A command beside its `id` and `nonce`. */
export const Order = Schema.Union([
  /** Executes: answered by `started`, output, and `finished`. One at a time in the session's interpreter. */
  Schema.Struct({
    op: Schema.Literal("execute"),
    language: Schema.Literals(["python", "bash"]),
    within: Schema.Literals(["session", "process"]),
    environment: Schema.Record(Schema.String, Schema.String),
    /** Bytes of stdout and stderr together that are passed on; what is beyond is read, dropped and counted. */
    outputBytes: Bytes,
    /** The program follows as raw bytes, in UTF-8. */
    bytes: Bytes
  }),
  /** Interrupts what the command of that id executes, gently (SIGINT); answered by `done` at once. */
  Schema.Struct({ op: Schema.Literal("interrupt"), target: Schema.Int }),
  /** Kills what the command of that id executes with all that it started; in the session's Python that is a restart. */
  Schema.Struct({ op: Schema.Literal("kill"), target: Schema.Int }),
  /** Kills the interpreter with all that it started and starts another; answered by `done` when that one is ready. */
  Schema.Struct({ op: Schema.Literal("restart") }),
  /** Makes a dataframe of an Arrow IPC stream, which follows; answered by `done` with a `Dataframe`. */
  Schema.Struct({ op: Schema.Literal("bind"), name: Schema.String, bytes: Bytes }),
  /** Hands out a dataframe: `data` frames that together are an Arrow IPC stream, then `done`. */
  Schema.Struct({ op: Schema.Literal("export"), name: Schema.String }),
  /** Writes a file below the files' root, making its folders. */
  Schema.Struct({ op: Schema.Literal("put"), path: Schema.String, bytes: Bytes }),
  /** Reads a file: `data` frames, then `done`. Nothing but a plain file is read, and no link is followed. */
  Schema.Struct({ op: Schema.Literal("get"), path: Schema.String }),
  /** The entries of a folder (paths from the files' root), in `entries` frames, then `done`. */
  Schema.Struct({ op: Schema.Literal("list"), path: Schema.String }),
  Schema.Struct({ op: Schema.Literal("remove"), path: Schema.String }),
  /** Replaces a folder's contents by these files, whose contents follow one after another. */
  Schema.Struct({
    op: Schema.Literal("mount"),
    path: Schema.String,
    files: Schema.Array(Schema.Struct({ path: Schema.String, bytes: Bytes })),
    bytes: Bytes
  }),
  /**
   * Everything below a folder with its digest (paths from that folder), in `entries` frames, then `done`; links and
   * devices are told, not read.
   */
  Schema.Struct({ op: Schema.Literal("tree"), path: Schema.String, maximumEntries: Schema.Int }),
  /** What the session uses and holds: answered by `done` with a `Usage`. */
  Schema.Struct({ op: Schema.Literal("usage") }),
  /**
   * The answer to a `call`, with the id of the command that made it; the table follows as an Arrow IPC stream, or nothing
   * where it failed. It is answered by nothing.
   */
  Schema.Struct({
    op: Schema.Literal("answer"),
    call: Schema.Int,
    error: Schema.optionalKey(Schema.String),
    bytes: Bytes
  })
])
export type Order = typeof Order.Type

/** A command as it is sent: answers are matched by both, so that none can be guessed. */
export interface Command {
  readonly id: number
  /** 32 hexadecimal digits, new for each command. */
  readonly nonce: string
  readonly order: Order
  /** The raw bytes that follow. */
  readonly payload: Uint8Array
}
