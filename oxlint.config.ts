/**
 * The linter's rules. It is a program and not a JSON file because the import rules are computed:
 * one table of arrows (scripts/imports.ts) and the dependencies that each manifest names.
 */
import { defineConfig } from "oxlint"
import type { OxlintOverride } from "oxlint"
import { patternsElsewhere, patternsFor } from "./scripts/imports.ts"
import { publicPackages } from "./scripts/packages.ts"

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { reportUnusedDisableDirectives: "error" },
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
    "typescript/ban-ts-comment": "error",
    "typescript/consistent-type-assertions": ["error", { assertionStyle: "never" }],
    "import/no-cycle": ["error", { ignoreTypes: false }],
    // `it.layer` hands its tests an `it` that has the layer.
    "no-shadow": ["error", { allow: ["it"] }],
    "no-underscore-dangle": ["error", { allow: ["_tag"] }],
    // Small helpers beside their only use, and records copied with one field changed, are the style here.
    "unicorn/consistent-function-scoping": "off",
    "oxc/no-map-spread": "off",
    // What `@castellan/testing` asserts with counts as an assertion.
    "vitest/expect-expect": ["error", { assertFunctionNames: ["expect", "assert", "expectDecision"] }],
    // The cases of a table name themselves.
    "vitest/valid-title": "off",
    "no-restricted-imports": ["error", { patterns: patternsElsewhere }]
  },
  overrides: [
    { files: ["packages/*/src/**/*.ts"], rules: { "no-console": "error" } },
    ...publicPackages().map((one): OxlintOverride => ({
      files: [`packages/${one.id}/src/**/*.ts`],
      rules: { "no-restricted-imports": ["error", { patterns: patternsFor(one) }] }
    }))
  ],
  ignorePatterns: ["**/dist/**", "**/.types/**", "coverage/**"]
})
