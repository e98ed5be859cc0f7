import * as MemberStoreSuite from "@castellan/testing/suite/MemberStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  MemberStoreSuite.suite(name, Layer.provide(PostgresMemberStore.layer, layer))
}
