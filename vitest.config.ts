/**
 * One run for every test of the workspace: packages, examples, benchmarks, pages and scripts.
 *
 * Packages find each other through their `exports`, which point at the sources here, so that nothing has to be built.
 */
import { defineConfig } from "vitest/config"

const ci = process.env["CI"] !== undefined

export default defineConfig({
  test: {
    include: [
      "packages/*/test/**/*.test.ts",
      "examples/*/test/**/*.test.ts",
      "bench/test/**/*.test.ts",
      "docs/test/**/*.test.ts",
      "scripts/test/**/*.test.ts"
    ],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: !ci,
    // Continuous integration counts from the second report.
    reporters: ci ? ["default", ["json", { outputFile: "coverage/tests.json" }]] : ["default"]
  }
})
