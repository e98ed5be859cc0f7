import * as ChangeStore from "@castellan/core/change/ChangeStore"
import * as FolderPolicyStore from "@castellan/core/folderpolicy/FolderPolicyStore"
import * as ChangeStoreSuite from "@castellan/testing/suite/ChangeStoreSuite"
import * as FolderPolicyStoreSuite from "@castellan/testing/suite/FolderPolicyStoreSuite"

ChangeStoreSuite.suite("memory", ChangeStore.layerMemory)
FolderPolicyStoreSuite.suite("memory", FolderPolicyStore.layerMemory)
