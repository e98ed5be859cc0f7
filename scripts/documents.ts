/**
 * The pages of the project: code in them is included from files that are type-checked and run, never retyped, and
 * links between them lead somewhere.
 *
 * A fenced block below a line `<!-- include: path -->` holds the file of that path, or the part of it between
 * `// #region name` and `// #endregion` for `<!-- include: path#name -->`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { root } from "./packages.ts"

/** The pages, relative to the root. */
export const pages = (workspace: string = root): ReadonlyArray<string> => [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(workspace, "docs"))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `docs/${name}`)
]

// The formatter puts an empty line below the comment.
const include = /^<!-- include: (\S+?)(?:#(\S+))? -->\n\n?```(\w+)\n[\s\S]*?^```$/gm

const regionOf = (source: string, name: string, path: string): string => {
  const lines = source.split("\n")
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`)
  const end = lines.findIndex((line, index) => index > start && line.trim() === "// #endregion")
  if (start === -1 || end === -1) throw new Error(`${path} has no region ${name}`)
  return lines.slice(start + 1, end).join("\n")
}

/** A page with its included code as it is in the files now. */
export const withIncludes = (page: string, workspace: string = root): string =>
  page.replaceAll(include, (_block, path: string, region: string | undefined, language: string) => {
    const source = readFileSync(join(workspace, path), "utf8")
    const code = (region === undefined ? source : regionOf(source, region, path)).trimEnd()
    const marker = region === undefined ? path : `${path}#${region}`
    return `<!-- include: ${marker} -->\n\n\`\`\`${language}\n${code}\n\`\`\``
  })

/** The relative links and pictures of a page that lead nowhere. */
export const brokenLinks = (path: string, page: string, workspace: string = root): ReadonlyArray<string> => {
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, "")
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/\bsrc="([^"]+)"/g)]
  return targets
    .map(([, target = ""]) => target)
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .filter((target) => !existsSync(normalize(join(workspace, dirname(path), target.split("#")[0] ?? ""))))
}
