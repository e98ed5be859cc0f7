import * as Stores from "@castellan/core/memory/Stores"
import * as CredentialFactsSuite from "@castellan/testing/suite/CredentialFactsSuite"

CredentialFactsSuite.suite("memory", Stores.layerMemory)
