/**
 * Which package may import what, as data. The linter reads it; the picture is in `docs` and in CONTRIBUTING.
 *
 * Dependencies point inwards: adapters know the core, the core knows nobody.
 */
import type { Package } from "./packages.ts"

/** What one package may import, beside its own files and `effect`. */
export interface Arrow {
  /** The packages of ours further in. */
  readonly inwards: ReadonlyArray<string>
  /**
   * A pure package runs anywhere: no file, process, socket or database, neither Node's nor Effect's, and no vendor
   * but these. The others may use Node and the dependencies that their manifest names.
   */
  readonly pure?: ReadonlyArray<string>
}

/** The arrows. A new package needs a line here before it can be linted. */
export const arrows: Readonly<Record<string, Arrow>> = {
  core: { inwards: [], pure: ["@noble/hashes", "diff", "node-diff3"] },
  api: { inwards: ["core"], pure: [] },
  http: { inwards: ["core", "api"] },
  connectors: { inwards: ["core"] },
  postgres: { inwards: ["core"] },
  ontology: { inwards: ["core"] },
  llm: { inwards: ["core"] },
  charts: { inwards: ["core"] },
  sandbox: { inwards: ["core", "connectors"] },
  testing: { inwards: ["core"] }
}

/** One entry of the linter's `no-restricted-imports`. */
export type Pattern =
  | { readonly group: Array<string>; readonly message: string }
  | { readonly regex: string; readonly message: string }

const io: Pattern = {
  regex: "^(node:|@effect/(platform|sql)-|effect/(FileSystem|process|socket|sql|cluster|workflow)(/|$))",
  message: "this package is pure: put I/O in an adapter package"
}

const wire: Pattern = {
  regex: "^effect/(http|http-api|rpc)(/|$)",
  message: "core knows no protocol: put it in api or http"
}

const otherPackagesFiles: Pattern = {
  regex: "^(\\.\\./)+([\\w-]+/)+src/",
  message: "this file belongs to another package: import the package's name"
}

const internals: Pattern = {
  regex: "^@castellan/[^/]+/(.+/)?internal/",
  message: "internal modules are closed: use what the package exports"
}

const barrels: ReadonlyArray<Pattern> = [
  {
    regex: "^(effect(/[a-z-]+)?|@effect/platform-[a-z]+|@effect/sql-[a-z]+|@castellan/[a-z-]+)$",
    message: "import the module, not the barrel: it loads faster and cannot become a cycle"
  },
  {
    regex: "^\\.{1,2}(/.*)?/index(\\.ts)?$|^\\.{1,2}/?$",
    message: "import the module, not the barrel: it loads faster and cannot become a cycle"
  }
]

const outside: Pattern = {
  regex: "^(\\.\\./)+(test|dist|examples|bench|docs|scripts)/",
  message: "published code imports published code only"
}

/** The rules for the published sources of one package. */
export const patternsFor = (one: Package): Array<Pattern> => {
  const arrow = arrows[one.id]
  if (arrow === undefined) throw new Error(`scripts/imports.ts does not say what ${one.name} may import`)
  const inwards = arrow.inwards.map((id) => `@castellan/${id}`)
  const vendors = arrow.pure ?? one.needs.filter((name) => !name.startsWith("@castellan/"))
  const allowed = new Set(["effect", ...inwards, ...vendors])
  return [
    ...(arrow.pure === undefined ? [] : [io]),
    ...(one.id === "core" ? [wire] : []),
    ...barrels,
    internals,
    otherPackagesFiles,
    outside,
    // Last, because the linter asks no further once an exception (`!`) has matched.
    {
      group: [
        "**",
        "!./**",
        "!../**",
        ...(arrow.pure === undefined ? ["!node:*", "!node:*/**"] : []),
        ...[...allowed].flatMap((name) => [`!${name}`, `!${name}/**`])
      ],
      message: `${one.name} may import: ${[...allowed].join(", ")}`
    }
  ]
}

/** The rules for everything that is not published: tests, examples, benchmarks, scripts, pages. */
export const patternsElsewhere: Array<Pattern> = [internals, otherPackagesFiles]
