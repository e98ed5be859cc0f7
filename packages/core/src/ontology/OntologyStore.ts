/**
 * The port that keeps the files of the library's `ontology/` folder.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { OntologyFile } from "./Ontology.ts"

/** Keeps ontology files. */
export class OntologyStore extends Context.Service<
  OntologyStore,
  {
    /** The organization's ontology files, in the order of their paths; empty when it has none. */
    readonly files: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<OntologyFile>>
    /** Replaces all of the organization's ontology files at once. */
    readonly replace: (organizationId: OrganizationId, files: ReadonlyArray<OntologyFile>) => Effect.Effect<void>
  }
>()("@castellan/core/ontology/OntologyStore") {}

/** Files in the order of their paths. */
export const inOrder = (files: ReadonlyArray<OntologyFile>): ReadonlyArray<OntologyFile> =>
  files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))

/** Keeps ontology files in memory. */
export const layerMemory: Layer.Layer<OntologyStore> = Layer.effect(
  OntologyStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<OrganizationId, ReadonlyArray<OntologyFile>>()
    return OntologyStore.of({
      files: (organizationId) => Effect.map(table.get(organizationId), (files) => Option.getOrElse(files, () => [])),
      replace: (organizationId, files) => table.set(organizationId, inOrder(files))
    })
  })
)
