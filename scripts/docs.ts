/**
 * Brings the included code of every page up to date. `--check` only says which pages are stale or have dead links.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brokenLinks, pages, withIncludes } from "./documents.ts"
import { root } from "./packages.ts"

const check = process.argv.includes("--check")

for (const path of pages()) {
  const page = readFileSync(join(root, path), "utf8")
  const fresh = withIncludes(page)
  for (const link of brokenLinks(path, page)) {
    console.error(`${path}: dead link ${link}`)
    process.exitCode = 1
  }
  if (fresh === page) continue
  if (check) {
    console.error(`${path}: stale; run the docs script`)
    process.exitCode = 1
  } else {
    writeFileSync(join(root, path), fresh)
    console.log(`${path}: brought up to date`)
  }
}
