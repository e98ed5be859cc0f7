import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { describe } from "@effect/vitest"
import * as PlainPython from "../support/PlainPython.ts"

describe.skipIf(!PlainPython.isAvailable)("the engine over a plain Python", () => {
  SandboxRuntimeSuite.suite("plain Python", KernelSession.layer(PlainPython.tier()))
})
