// #region contract
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { describe } from "@effect/vitest"
import { python } from "../remote/support/Python.ts"
import { tier } from "./ChildProcessTier.ts"

describe.skipIf(python === undefined)("my sandboxes", () => {
  SandboxRuntimeSuite.suite("child processes", KernelSession.layer(tier(python ?? "python3")))
})
// #endregion
