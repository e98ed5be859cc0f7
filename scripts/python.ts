/**
 * The linter and the formatter of the Python sources: `--check` says what is wrong, and without it files are formatted
 * in place. Types are looked after by pyright (`pyrightconfig.json`).
 */
import { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-nodejs"
import * as Schema from "effect/Schema"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./packages.ts"

/** Families of rules, by the prefix of their names: https://docs.astral.sh/ruff/rules */
const select =
  "A004 B C4 D100 D104 D419 E ERA F FLY G I ISC LOG PERF PGH PIE PLC PLE PLW RET RSE RUF SIM SLF T10 UP W YTT".split(
    " "
  )

const ignore = [
  // Columns and their values are made together: their lengths are equal by how they are made.
  "B905",
  // The reason why an error changes nothing stands where it is caught.
  "SIM105",
  // What is imported late is not there everywhere, or not needed by most.
  "PLC0415",
  // Where lines break is the formatter's business.
  "E501",
  // Texts for people have the letters of people.
  "RUF001",
  "RUF002",
  "RUF003"
]

const settings = { "line-length": 120, "target-version": "py311" }

/** What programs of sessions use: everything that it offers is documented. */
const sources = new Workspace(
  { ...settings, lint: { select: [...select, "D101", "D103"], ignore } },
  PositionEncoding.Utf16
)
const others = new Workspace({ ...settings, lint: { select, ignore } }, PositionEncoding.Utf16)

const Diagnostics = Schema.decodeUnknownSync(
  Schema.Array(
    Schema.Struct({
      code: Schema.NullOr(Schema.String),
      message: Schema.String,
      start_location: Schema.Struct({ row: Schema.Int, column: Schema.Int })
    })
  )
)

const check = process.argv.includes("--check")
const files = [
  ...globSync("packages/*/python/**/*.py", { cwd: root }).map((path) => ({ path, workspace: sources })),
  ...globSync(["packages/*/test/**/*.py", "bench/src/**/*.py"], { cwd: root }).map((path) => ({
    path,
    workspace: others
  }))
].toSorted((one, other) => (one.path < other.path ? -1 : 1))

let wrong = 0
for (const { path, workspace } of files) {
  const text = readFileSync(join(root, path), "utf8")
  for (const { code, message, start_location: at } of Diagnostics(workspace.check(text))) {
    wrong++
    console.log(`${path}:${at.row}:${at.column} ${code ?? "syntax"}: ${message}`)
  }
  const formatted = workspace.format(text)
  if (formatted !== text) {
    if (check) {
      wrong++
      console.log(`${path}: not formatted`)
    } else {
      writeFileSync(join(root, path), formatted)
      console.log(`${path}: formatted`)
    }
  }
}
console.log(`${files.length} files, ${wrong} findings`)
if (wrong > 0) process.exitCode = 1
