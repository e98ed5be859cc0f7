/** The Linux tier keeps to what every sandbox keeps to. */
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { describe } from "@effect/vitest"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("the contract of sandboxes on Linux")

describe.skipIf(missing !== undefined)("Linux", () => {
  SandboxRuntimeSuite.suite("linux", layerLinux())
})
