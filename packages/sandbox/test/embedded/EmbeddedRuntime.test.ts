import { suite } from "@castellan/testing/suite/SandboxRuntimeSuite"
import { layer } from "@castellan/sandbox/embedded"

suite("embedded", layer())
