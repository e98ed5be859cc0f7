/**
 * Which tables a folder of files offers, and what they are called.
 *
 * A file is a table, named for its stem written as an identifier, so that it needs no quotes: `flights.csv` is
 * `flights`, `2024 sales-eu.csv` is `_2024_sales_eu`, and `crm/orders.csv` is `crm_orders`. Where two files would get
 * one name, both get their extension (`flights_csv`, `flights_parquet`), and a number where even that is the same.
 * The stem, the stem with its folder, and the path, exactly as written, mean the same table where they are
 * unambiguous: `"2024 sales-eu"`, `"crm/orders.csv"`.
 *
 * The Parquet parts of one data set are one table, named for their folder: what lies below folders named
 * `key=value`, and a folder in which every data file is named as a part of one output (`part-0001`, `data_3`,
 * `00000-of-00010`, digits, a UUID).
 */
import type { FileFormat } from "../../duckdb/internal/Message.ts"

/** A data file of a folder. */
export interface DataFile {
  /** Path below the folder, with `/` between its parts. */
  readonly path: string
  readonly format: FileFormat
}

/** A table with the files that hold its rows. */
export interface NamedTable<File extends DataFile> {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly files: ReadonlyArray<File>
  readonly partitioned: boolean
}

const formats: Readonly<Record<string, FileFormat>> = {
  ".csv": "csv",
  ".tsv": "tsv",
  ".tab": "tsv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".parquet": "parquet"
}

const suffix = /(\.[a-z]+)(\.gz)?$/i

/** The format of a file by its name; undefined for a file that is not data. Text formats may be gzipped. */
export const formatOf = (path: string): FileFormat | undefined => {
  const match = suffix.exec(path)
  const format = formats[match?.[1]?.toLowerCase() ?? ""]
  return format === "parquet" && match?.[2] !== undefined ? undefined : format
}

const stemOf = (path: string): string => path.replace(suffix, "")
const extensionOf = (path: string): string => suffix.exec(path)?.[0].slice(1) ?? ""
const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

const withoutEnd = (name: string): string => name.replace(/(?<=.)_+$/u, "")

/**
 * A text written as an identifier: letters, digits and `_`, neither beginning with a digit nor ending with a half of a
 * letter, at most 63 code units of UTF-16.
 */
export const identifier = (text: string): string => {
  const plain = withoutEnd(text.normalize("NFC").replaceAll(/[^\p{L}\p{N}_]+/gu, "_"))
  const name = /^\p{N}/u.test(plain) || plain === "" ? `_${plain}` : plain
  return withoutEnd(name.slice(0, 63).replace(/\p{Cs}$/u, ""))
}

const partName = /^(part[-_.].*|data[-_]\d+|.*\d+-of-\d+.*|\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}.*)$/i

interface Group<File extends DataFile> {
  /** The path that names the table: of its one file, or of its folder. */
  readonly path: string
  readonly files: ReadonlyArray<File>
  readonly partitioned: boolean
}

const groups = <File extends DataFile>(files: ReadonlyArray<File>): ReadonlyArray<Group<File>> => {
  const parts = new Map<string, Array<File>>()
  const single: Array<File> = []
  const byFolder = Map.groupBy(files, (file) => folderOf(file.path))
  for (const [folder, within] of byFolder) {
    const key = folder.split("/").findIndex((part) => /^[^=]+=.*/.test(part))
    const allParts = within.every((file) => file.format === "parquet" && partName.test(stemOf(baseOf(file.path))))
    const root = key > 0 ? folder.split("/").slice(0, key).join("/") : folder
    for (const file of within) {
      if (file.format === "parquet" && root !== "" && (key > 0 || (key === -1 && allParts))) {
        parts.set(root, [...(parts.get(root) ?? []), file])
      } else single.push(file)
    }
  }
  return [
    ...single.map((file): Group<File> => ({ path: file.path, files: [file], partitioned: false })),
    ...Array.from(parts, ([path, found]): Group<File> => ({
      path,
      files: found,
      partitioned: found.some((file) => folderOf(file.path) !== path)
    }))
  ]
}

/** The tables of a folder's data files, in the order of their names. */
export const tablesOf = <File extends DataFile>(files: ReadonlyArray<File>): ReadonlyArray<NamedTable<File>> => {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const named = groups(sorted).map((group) => ({ group, name: identifier(stemOf(group.path)) }))
  const count = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const name of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1)
    return counts
  }
  const first = count(named.map(({ name }) => name))
  const taken = new Set<string>()
  const tables = named.map(({ group, name }) => {
    const clash = (first.get(name.toLowerCase()) ?? 0) > 1
    const wanted = clash ? identifier(`${stemOf(group.path)}_${extensionOf(group.path)}`) : name
    let free = wanted
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${wanted}_${number}`
    taken.add(free.toLowerCase())
    return { group, name: free }
  })
  const others = tables.map(({ group }) => [
    ...new Set([stemOf(baseOf(group.path)), stemOf(group.path), baseOf(group.path), group.path])
  ])
  const uses = count(others.flat())
  return tables
    .map(({ group, name }, index) => ({
      name,
      aliases: (others[index] ?? []).filter(
        (alias) => uses.get(alias.toLowerCase()) === 1 && !taken.has(alias.toLowerCase())
      ),
      files: group.files,
      partitioned: group.partitioned
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
