/**
 * Which files a file loads, as far as its imports say: a test that does not load a file reaches none of its mutants,
 * and need not be run to see that.
 */
import { parseSync } from "oxc-parser"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "../packages.ts"

/** The file of the workspace that a specifier names in a file; nothing for what comes from elsewhere. */
export const resolve = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const [, name, path] = /^@castellan\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  return name === undefined || path === undefined ? undefined : join(root, "packages", name, "src", `${path}.ts`)
}

/** What a text loads: imports and re-exports, but not those of types alone, which are erased. */
export const specifiersOf = (source: string): ReadonlyArray<string> => {
  const { staticExports, staticImports } = parseSync("a.ts", source).module
  const exported = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ isType, moduleRequest }) => (isType || moduleRequest === null ? [] : [moduleRequest.value]))
  )
  const imported = staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value)
  return [...imported, ...exported]
}

/** Every file of the workspace that is loaded when one of these is, themselves among them. */
export const loadedBy = (path: string): ReadonlySet<string> => {
  const found = new Set([path])
  // A set is walked on to what is added meanwhile.
  for (const file of found) {
    if (!existsSync(file)) continue
    for (const specifier of specifiersOf(readFileSync(file, "utf8"))) {
      const next = resolve(file, specifier)
      if (next !== undefined) found.add(next)
    }
  }
  return found
}
