/**
 * What the host says to its child processes, and what they may answer. The answers that the protocol of
 * `protocol/Report.ts` has look as they do there.
 *
 * An order is trusted; an answer is a claim of code that nobody vetted, which the host decodes by `ChildReport.ts`.
 */

/** What became of a path below the files' root, for the child to follow. Contents come one after another. */
export interface FileEdit {
  readonly path: string
  readonly kind: "file" | "directory" | "link" | "gone"
  readonly bytes: number
  /** Of a link. */
  readonly target?: string
}

/** The first order to an interpreter: what it is made of. The modules' contents follow one after another. */
export interface Boot {
  readonly op: "boot"
  /** What `ready` must say. */
  readonly nonce: string
  /** The folder of Pyodide's files. */
  readonly pyodide: string
  /** The memory to start with; empty: the interpreter starts from nothing. */
  readonly snapshot: string
  /** SHA-256 of it in hexadecimal digits: what is at the path may have become another thing. */
  readonly snapshotDigest: string
  /** Answer the memory of an interpreter that has just started, for others to start with. */
  readonly makeSnapshot: boolean
  /** Packages to load, and the lock that tells where their wheels are; empty where there are none. */
  readonly packages: ReadonlyArray<string>
  readonly lock: string
  /** Bytes and nodes that all of its file system may have. */
  readonly fileBytes: number
  readonly fileCount: number
  readonly modules: ReadonlyArray<{ readonly path: string; readonly bytes: number }>
  readonly bytes?: number
}

/** The first order to a shell. */
export interface ShellBoot {
  readonly op: "boot"
  readonly nonce: string
  /** The URL of the shell's module. */
  readonly module: string
  readonly fileBytes: number
  readonly fileCount: number
}

/** Takes edits of the files over. Answered by nothing. */
export interface FilesOrder {
  readonly op: "files"
  readonly edits: ReadonlyArray<FileEdit>
}

/** Runs a program, which follows: answered by output, `changed` files, and `finished`. */
export interface ExecuteOrder {
  readonly op: "execute"
  readonly id: number
  readonly nonce: string
  readonly within: "session" | "process"
  readonly environment: Readonly<Record<string, string>>
  readonly outputBytes: number
}

/** Makes a dataframe of an Arrow IPC stream: answered by `done` with it and all others. */
export interface BindOrder {
  readonly op: "bind"
  readonly id: number
  readonly nonce: string
  readonly name: string
}

/** Hands a dataframe out: answered by `data` and `done`. */
export interface ExportOrder {
  readonly op: "export"
  readonly id: number
  readonly nonce: string
  readonly name: string
}

/** Interrupts what the order of that id runs, and nothing else. Answered by nothing. */
export interface InterruptOrder {
  readonly op: "interrupt"
  readonly id: number
}

/** What a `call` is answered: the result follows, or nothing where there is an error. */
export interface AnswerOrder {
  readonly op: "answer"
  readonly call: number
  readonly error?: string
}

/** An order of the host. */
export type ChildOrder =
  | Boot
  | ShellBoot
  | FilesOrder
  | ExecuteOrder
  | BindOrder
  | ExportOrder
  | InterruptOrder
  | AnswerOrder

/** Bytes of a frame that a child sends, at most: longer contents come in pieces. */
export const pieceBytes = 4 * 1024 * 1024

/** The folder that all paths of files are below. */
export const filesRoot = "/sandbox/files"

/** Parts of contents that follow one after another. */
export const split = function* (
  payload: Uint8Array,
  parts: ReadonlyArray<{ readonly bytes: number }>
): Generator<Uint8Array> {
  let at = 0
  for (const { bytes } of parts) {
    yield payload.subarray(at, at + bytes)
    at += bytes
  }
}
