/**
 * Everything that can be said about the code without running it. `pnpm check` is what has to be green before a change
 * goes in, beside `pnpm test`.
 */
import { command, main } from "./steps.ts"

/** Effect's own diagnostics, with the severities of the project: what the linter cannot see because it has no types. */
const effect = (project: string): void =>
  command("effect-tsgo", ["diagnostics", "--project", project, "--format", "text", "--severity", "error"])

await main([
  { name: "types", run: () => command("tsc", ["-b"]) },
  { name: "types of Python", run: () => command("pyright", ["--warnings"]) },
  { name: "lint, import rules, cycles", run: () => command("oxlint", ["--deny-warnings"]) },
  { name: "format", run: () => command("oxfmt", ["--check"]) },
  { name: "lint and format of Python", run: () => command("node", ["scripts/python.ts", "--check"]) },
  { name: "barrels and exports", run: () => command("node", ["scripts/barrels.ts", "--check"]) },
  { name: "pages", run: () => command("node", ["scripts/docs.ts", "--check"]) },
  { name: "Effect, published code", run: () => effect("tsconfig.lint.json") },
  { name: "Effect, everything else", run: () => effect("tsconfig.tests.json") }
])
