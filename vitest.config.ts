/**
 * One run for every test of the workspace: packages, examples, benchmarks, pages and scripts.
 *
 * Packages find each other through their `exports`, which point at the sources here, so that nothing has to be built.
 */
import { defineConfig } from "vitest/config"

const ci = process.env["CI"] !== undefined

/** Tests that need a real PostgreSQL, which is started for them. */
const withDatabase = ["packages/postgres/test/**/*.test.ts", "**/test/**/*.database.test.ts"]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "workspace",
          include: [
            "packages/*/test/**/*.test.ts",
            "examples/*/test/**/*.test.ts",
            "bench/test/**/*.test.ts",
            "docs/test/**/*.test.ts",
            "scripts/test/**/*.test.ts"
          ],
          exclude: ["**/node_modules/**", ...withDatabase]
        }
      },
      {
        extends: true,
        test: {
          name: "database",
          include: withDatabase,
          exclude: ["**/node_modules/**"],
          globalSetup: "packages/postgres/test/support/PostgresServer.ts"
        }
      }
    ],
    pool: "forks",
    maxWorkers: 2,
    // Only a hang takes so long, however busy the machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    allowOnly: !ci,
    // Continuous integration counts from the second report.
    reporters: ci ? ["default", ["json", { outputFile: "coverage/tests.json" }]] : ["default"]
  }
})
