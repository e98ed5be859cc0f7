/**
 * Pyodide as far as a session uses it, with the file system under it.
 *
 * Its own declarations leave the file system untyped, and are of a package that this process loads by a path.
 */

/** A value of Python that JavaScript holds; functions of it are called with JavaScript's values. */
export interface PythonKernel {
  readonly execute: { readonly callPromising: (code: string) => Promise<string> }
  readonly execute_alone: { readonly callPromising: (code: string, environment: string) => Promise<string> }
  readonly bind: (name: string, stream: Uint8Array) => string
  readonly export: (name: string) => string
}

/** The module `castellan_embedded`. */
export interface EmbeddedModule {
  readonly start: (bridge: object, environment: string) => PythonKernel
  readonly warm: () => void
}

/** A node of the file system in memory. */
export interface FileNode {
  readonly id: number
  readonly mode: number
  /** A folder's nodes by name, a file's storage; what has neither has none. */
  readonly contents?: Record<string, FileNode> | ArrayBufferView
  readonly usedBytes: number
  readonly link?: string
  /** How many times its content changed: ours. */
  revision?: number
}

/** The nodes of a folder by their names; none of what is no folder. */
export const nodesIn = ({ contents }: FileNode): Readonly<Record<string, FileNode>> =>
  contents === undefined || ArrayBuffer.isView(contents) ? {} : contents

/** The content of a file; undefined of what is none. Its storage is signed or not, and longer than what is in it. */
export const contentOf = ({ contents, usedBytes }: FileNode): Uint8Array | undefined =>
  ArrayBuffer.isView(contents) ? new Uint8Array(contents.buffer, contents.byteOffset, usedBytes) : undefined

/** An open file. */
export interface FileStream {
  readonly node: FileNode
}

/** The file system in memory, whose operations are replaced by some that count. */
export interface MemoryFiles {
  ops_table: {
    readonly file: {
      readonly node: { setattr: (node: FileNode, attributes: { readonly size?: number }) => void }
      readonly stream: { write: FileWrite }
    }
  }
  createNode: (parent: FileNode | null, name: string, mode: number, device: number) => FileNode
  readonly stream_ops: { write: FileWrite }
}

/** Writes into an open file, and answers how many bytes. */
export type FileWrite = (
  stream: FileStream,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean
) => number

/** Emscripten's file system. */
export interface FileSystem {
  readonly filesystems: { readonly MEMFS: MemoryFiles }
  readonly ErrnoError: new (code: number) => Error
  readonly root: FileNode
  readonly streams: ReadonlyArray<FileStream | null | undefined>
  readonly lookupPath: (path: string, options?: { readonly follow: boolean }) => { readonly node: FileNode }
  readonly isFile: (mode: number) => boolean
  readonly isDir: (mode: number) => boolean
  readonly isLink: (mode: number) => boolean
  readonly mkdirTree: (path: string) => void
  readonly mkdir: (path: string) => void
  readonly writeFile: (path: string, content: Uint8Array) => void
  readonly unlink: (path: string) => void
  readonly rmdir: (path: string) => void
  readonly symlink: (target: string, path: string) => void
  readonly chdir: (path: string) => void
}

/** A started Pyodide. */
export interface Pyodide {
  readonly FS: FileSystem
  readonly version: string
  readonly runPython: (code: string) => unknown
  readonly pyimport: (name: "castellan_embedded") => EmbeddedModule
  readonly setInterruptBuffer: (buffer: Int32Array | undefined) => void
  readonly checkInterrupt: () => void
  readonly setStdin: (options: { readonly stdin: () => null }) => void
  readonly setStdout: (options: { readonly write: (bytes: Uint8Array) => number; readonly isatty: false }) => void
  readonly setStderr: (options: { readonly write: (bytes: Uint8Array) => number; readonly isatty: false }) => void
  readonly loadPackage: (
    names: ReadonlyArray<string>,
    options: {
      readonly checkIntegrity: boolean
      readonly messageCallback: (message: string) => void
      readonly errorCallback: (message: string) => void
    }
  ) => Promise<unknown>
  readonly makeMemorySnapshot: () => Uint8Array
}

/** What Pyodide is started with. The last two are its own and not documented: their use is held by this version. */
export interface PyodideOptions {
  readonly indexURL: string
  readonly env: Readonly<Record<string, string>>
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  readonly packageBaseUrl?: string
  readonly lockFileContents?: string
  readonly _makeSnapshot?: boolean
  readonly _loadSnapshot?: Uint8Array
}

/** What Pyodide's module exports. */
export interface PyodideModule {
  readonly loadPyodide: (options: PyodideOptions) => Promise<Pyodide>
}
