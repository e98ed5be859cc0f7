/**
 * The files of a session of scripted sandboxes, by their paths: library/, uploads/, outputs/ and whatever else a program
 * writes.
 */
import {
  LibraryEdit,
  type LibraryFile,
  SandboxError,
  type SandboxEntry
} from "@castellan/core/sandcastle/SandboxRuntime"

/** A file of a session; what a link points at is never read. */
export type Held = { readonly _tag: "Bytes"; readonly content: Uint8Array } | { readonly _tag: "Link" }

/** The files of a session. */
export type HeldFiles = Map<string, Held>

/** There is no such file. */
export const noFile = (path: string) => new SandboxError({ reason: "not_found", message: `there is no file ${path}` })

/** Puts the files of a library below its folder. */
export const mount = (held: HeldFiles, files: ReadonlyArray<LibraryFile>): void => {
  for (const { content, path } of files) held.set(`library/${path}`, { _tag: "Bytes", content: content.slice() })
}

/** The entries of a folder: its files, and the folders that its files are in. Dotfiles and links are left out. */
export const entriesOf = (files: HeldFiles, folder: string): ReadonlyArray<SandboxEntry> => {
  const prefix = folder === "" ? "" : `${folder}/`
  const found = new Map<string, SandboxEntry>()
  for (const [path, held] of files) {
    if (!path.startsWith(prefix)) continue
    const [name = "", ...below] = path.slice(prefix.length).split("/")
    if (name.startsWith(".")) continue
    if (below.length > 0) found.set(name, { path: `${prefix}${name}`, kind: "directory", size: 0 })
    else if (held._tag === "Bytes") found.set(name, { path, kind: "file", size: held.content.length })
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index])

/** What became of a library's files: added, changed, gone, or nothing that a library can hold. */
export const editsOf = (files: HeldFiles, base: ReadonlyArray<LibraryFile>): ReadonlyArray<LibraryEdit> => {
  const { Added, Deleted, Modified, Rejected } = LibraryEdit.cases
  const before = new Map(base.map((file): [string, Uint8Array] => [file.path, file.content]))
  const edits: Array<LibraryEdit> = []
  for (const [full, held] of files) {
    if (!full.startsWith("library/")) continue
    const path = full.slice("library/".length)
    const old = before.get(path)
    before.delete(path)
    if (held._tag === "Link") edits.push(Rejected.make({ path, reason: "a link" }))
    else if (old === undefined) edits.push(Added.make({ path, content: held.content }))
    else if (!sameBytes(old, held.content)) edits.push(Modified.make({ path, content: held.content }))
  }
  for (const path of before.keys()) edits.push(Deleted.make({ path }))
  return edits.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
