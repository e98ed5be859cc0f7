import { layer } from "@castellan/sandbox/embedded"
import { suite } from "@castellan/testing/suite/SandboxRuntimeSuite"
import { vi } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { patience, patient } from "./support/Patience.ts"

vi.setConfig({ testTimeout: patience, hookTimeout: patience })

suite("embedded", layer().pipe(Layer.provide(patient)))
