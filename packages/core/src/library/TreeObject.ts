/**
 * One folder as git writes it: a row for each name, in git's order, with its mode and id.
 *
 * Source: git's tree objects; policy-cases O7 (symbolic links and submodules are refused).
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as GitObject from "./GitObject.ts"
import { ObjectId, TreeId } from "./ObjectId.ts"
import * as TextBytes from "./TextBytes.ts"

/** The mode of a file: whether it may be run as a program. */
export const FileMode = Schema.Literals(["100644", "100755"])
export type FileMode = typeof FileMode.Type

/** The mode of a folder. */
export const folderMode = "40000"

/** One name of a folder. */
export interface TreeRow {
  readonly name: string
  readonly mode: FileMode | typeof folderMode
  readonly id: ObjectId
}

/** Bytes are no folder of a library. */
export class TreeObjectRefusal extends Schema.TaggedError<TreeObjectRefusal>()("TreeObjectRefusal", {
  message: Schema.String
}) {}

/** The order of two texts by their bytes as UTF-8, which is git's. Code units beyond the surrogates sort before them. */
export const compareText = (a: string, b: string): number => {
  const shorter = Math.min(a.length, b.length)
  for (let index = 0; index < shorter; index++) {
    const x = a.charCodeAt(index)
    const y = b.charCodeAt(index)
    if (x === y) continue
    if (x < 0xd800 || y < 0xd800) return x - y
    return (x < 0xe000 ? x + 0x2000 : x - 0x800) - (y < 0xe000 ? y + 0x2000 : y - 0x800)
  }
  return a.length - b.length
}

/** The order of two rows in a folder: git reads a folder's name as if it ended in a slash. */
export const compareRows = (a: Pick<TreeRow, "name" | "mode">, b: Pick<TreeRow, "name" | "mode">): number =>
  compareText(a.mode === folderMode ? `${a.name}/` : a.name, b.mode === folderMode ? `${b.name}/` : b.name)

const body = (rows: ReadonlyArray<TreeRow>): Uint8Array => {
  const heads = rows.map((row) => TextBytes.encode(`${row.mode} ${row.name}\0`))
  const bytes = new Uint8Array(heads.reduce((sum, head) => sum + head.length + 20, 0))
  let at = 0
  rows.forEach((row, index) => {
    const head = heads[index]
    if (head === undefined) return
    bytes.set(head, at)
    bytes.set(hexToBytes(row.id), at + head.length)
    at += head.length + 20
  })
  return bytes
}

/** A folder as a git object; its rows are in git's order. */
export const encode = (rows: ReadonlyArray<TreeRow>): GitObject.GitObject => GitObject.make("tree", body(rows))

/** The id of a folder, as `git mktree` says it; its rows are in git's order. */
export const treeId = (rows: ReadonlyArray<TreeRow>): TreeId =>
  TreeId.make(GitObject.digest("tree", body(rows)), { disableChecks: true })

const isMode = (text: string): text is TreeRow["mode"] => text === folderMode || Schema.is(FileMode)(text)

/** The rows of a folder's object, without its header. Anything but files and folders is refused. */
export const decode = (bytes: Uint8Array): Result.Result<ReadonlyArray<TreeRow>, TreeObjectRefusal> => {
  const rows: Array<TreeRow> = []
  const refuse = (message: string): Result.Result<never, TreeObjectRefusal> =>
    Result.fail(new TreeObjectRefusal({ message }))
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at)
    if (end < 0 || end + 20 >= bytes.length) return refuse("the folder ends in the middle of a name")
    const head = Option.getOrUndefined(TextBytes.decode(bytes.subarray(at, end)))
    const space = head?.indexOf(" ") ?? -1
    if (head === undefined || space < 0) return refuse("a name is not UTF-8, or has no mode")
    const mode = head.slice(0, space)
    const name = head.slice(space + 1)
    if (!isMode(mode)) return refuse(`${JSON.stringify(name)} has mode ${mode}: only files and folders can be kept`)
    rows.push({ name, mode, id: ObjectId.make(bytesToHex(bytes.subarray(end + 1, end + 21)), { disableChecks: true }) })
    at = end + 21
  }
  return Result.succeed(rows)
}
