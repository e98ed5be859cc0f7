import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { describe } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { python } from "./support/Python.ts"
import * as Remote from "./support/Remote.ts"

describe.skipIf(python === undefined)("E2B's client, a local server that speaks its protocol, and real Python", () => {
  SandboxRuntimeSuite.suite("E2B", Remote.adapter().pipe(Layer.provide(Remote.local)))
})
