/**
 * Mutation testing of the rules: every comparison, condition and step of them is changed in turn, and some test has to
 * notice. `node scripts/mutation.ts [path...] [--sample N] [--seed N]
 * [--tests part-of-name]... [--strict]`; `docs/mutation-testing.md` tells more.
 */
import { parseArgs } from "node:util"
import { examine } from "./mutation/examine.ts"
import { passes, print } from "./mutation/report.ts"
import { chosen } from "./mutation/targets.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Tries that many mutants, drawn at random, instead of all. */
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    /** Counts only the test files with this in their path: what would they catch alone? */
    tests: { type: "string", multiple: true, default: [] },
    /** Also fails for a survivor that nobody has explained, and for an explanation that nothing needs. */
    strict: { type: "boolean", default: false },
    workers: { type: "string", default: "2" }
  }
})

const report = await examine({
  files: chosen(positionals),
  sample: values.sample === undefined ? undefined : Number(values.sample),
  seed: Number(values.seed),
  tests: values.tests,
  workers: Number(values.workers)
})
print(report)
if (!passes(report, values.strict)) process.exitCode = 1
