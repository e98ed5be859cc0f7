/**
 * The files whose every step a test has to pin down: rules and states, found by pattern, so that new ones join by
 * themselves.
 */
import { readFileSync } from "node:fs"
import { join, matchesGlob, relative, resolve } from "node:path"
import { root, sourcesIn } from "../packages.ts"

const core = "packages/core/src"

/** Names that rules have, and folders that hold little else. */
const patterns = [
  "**/*Policy.ts",
  "**/*State.ts",
  "access/EffectiveRoles.ts",
  "access/ClientMetadata.ts",
  "apikey/*.ts",
  "change/*.ts",
  "folderpolicy/*.ts",
  "library/*.ts",
  "rowpolicy/*.ts"
]

/** Services, ports and what they are made of are no rules: they have contract suites and tests of their use cases. */
const isService = (source: string): boolean =>
  source.includes('from "effect/Context"') || /\bEffect\.(gen|fn|fnUntraced)\b/.test(source)

/** Whether a file of core, by its path below `src` and its text, is one of them. */
export const isTarget = (path: string, source: string): boolean =>
  patterns.some((pattern) => matchesGlob(path, pattern)) && !isService(source)

/** A file to be examined. */
export interface Target {
  /** Below the root of the workspace. */
  readonly file: string
  readonly source: string
}

/** Every target, or those at or below the given paths; a file that is named is taken whatever it is. */
export const chosen = (paths: ReadonlyArray<string>): ReadonlyArray<Target> => {
  const wanted = paths.map((path) => relative(root, resolve(path)).replaceAll("\\", "/"))
  return sourcesIn(join(root, core)).flatMap((path): ReadonlyArray<Target> => {
    const file = `${core}/${path}`
    const source = readFileSync(join(root, file), "utf8")
    if (wanted.includes(file)) return [{ file, source }]
    if (wanted.length > 0 && !wanted.some((one) => file.startsWith(`${one}/`))) return []
    return isTarget(path, source) ? [{ file, source }] : []
  })
}
