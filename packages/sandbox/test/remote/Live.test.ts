/**
 * The contract against E2B itself. It costs money and needs a network, so it runs only where it is asked for:
 * `CASTELLAN_E2B_API_KEY=… vitest run packages/sandbox/test/remote/Live.test.ts`.
 */
import { layer } from "@castellan/sandbox/remote"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { describe } from "@effect/vitest"
import * as Redacted from "effect/Redacted"

const apiKey = process.env["CASTELLAN_E2B_API_KEY"]

if (apiKey === undefined) {
  process.stderr.write("SKIPPED: the contract against E2B itself, because CASTELLAN_E2B_API_KEY is not set\n")
}

describe.skipIf(apiKey === undefined)("E2B itself", () => {
  SandboxRuntimeSuite.suite("E2B, live", layer({ apiKey: Redacted.make(apiKey ?? ""), deployment: "castellan-tests" }))
})
