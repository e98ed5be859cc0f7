/**
 * The `ontology/` folder of the library: what is merged there is the semantic model from that moment on, so it has to
 * compile first.
 *
 * Source: decisions.md §5 ("A change that does not compile is refused with file, line and column"), §8.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ConnectorStore } from "../connector/ConnectorStore.ts"
import { blobId } from "../library/Blob.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import type { LibraryStore } from "../library/LibraryStore.ts"
import * as TextBytes from "../library/TextBytes.ts"
import * as Tree from "../library/Tree.ts"
import { apply, put } from "../library/TreeEdit.ts"
import type { OntologyFile } from "../ontology/Ontology.ts"
import type { OntologyEngine, OntologyError } from "../ontology/OntologyEngine.ts"
import type { OntologyStore } from "../ontology/OntologyStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"

/** Where the ontology is in the library. */
export const folder = "ontology"

const within = `${folder}/`

/** Whether any of the paths is in the ontology's folder. */
export const touches = (paths: Iterable<string>): boolean => {
  for (const path of paths) if (path === folder || path.startsWith(within)) return true
  return false
}

/** The ontology's folder of trees. */
export interface OntologyFolder {
  /** Checks that what a tree holds compiles. */
  readonly check: (organizationId: OrganizationId, tree: Tree.Tree) => Effect.Effect<void, OntologyError>
  /** Makes what a tree holds the organization's ontology. */
  readonly publish: (organizationId: OrganizationId, tree: Tree.Tree) => Effect.Effect<void>
  /** A library of nothing but the ontology that the organization has. */
  readonly library: (
    organizationId: OrganizationId
  ) => Effect.Effect<{ readonly tree: Tree.Tree; readonly contents: ReadonlyArray<Uint8Array> }>
}

/** The folder as these stores and this compiler have it. */
export const make = (
  ontology: OntologyStore["Service"],
  engine: OntologyEngine["Service"],
  connectors: ConnectorStore["Service"],
  library: LibraryStore["Service"]
): OntologyFolder => {
  /** The texts of the folder; what is no text is nothing to a compiler. */
  const filesOf = Effect.fnUntraced(function* (organizationId: OrganizationId, tree: Tree.Tree) {
    const entry = tree.entries.get(folder)
    if (entry?._tag !== "Tree") return []
    const files = [...Tree.files(entry)]
    const contents = yield* library.blobs(
      organizationId,
      files.map(([, { blob }]) => blob)
    )
    return files.flatMap(([path, { blob }]): ReadonlyArray<OntologyFile> =>
      Option.match(TextBytes.decode(contents.get(blob)), {
        onNone: () => [],
        onSome: (content) => [{ path, content }]
      })
    )
  })

  return {
    check: Effect.fnUntraced(function* (organizationId, tree) {
      const files = yield* filesOf(organizationId, tree)
      const kept = yield* connectors.list(organizationId)
      yield* engine.describe({ files, connectors: kept.map(({ connector }) => connector) })
    }),
    publish: (organizationId, tree) =>
      Effect.flatMap(filesOf(organizationId, tree), (files) => ontology.replace(organizationId, files)),
    library: Effect.fnUntraced(function* (organizationId) {
      const files = yield* ontology.files(organizationId)
      const contents = []
      let tree = Tree.empty
      for (const { content, path } of files) {
        const bytes = TextBytes.encode(content)
        const added = Result.flatMap(LibraryPath.parse(`${within}${path}`), (at) =>
          apply(tree, [put(at, Tree.file(blobId(bytes)))])
        )
        if (Result.isFailure(added)) {
          // A name that no library could hold beside the others was put there by hand; the library begins without it.
          yield* Effect.logWarning(`the library begins without a file of the ontology: ${added.failure.message}`)
          continue
        }
        contents.push(bytes)
        tree = added.success
      }
      return { tree, contents }
    })
  }
}
