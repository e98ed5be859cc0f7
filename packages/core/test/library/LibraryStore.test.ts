import * as LibraryStore from "@castellan/core/library/LibraryStore"
import * as LibraryStoreSuite from "@castellan/testing/suite/LibraryStoreSuite"

LibraryStoreSuite.suite("memory", LibraryStore.layerMemory)
