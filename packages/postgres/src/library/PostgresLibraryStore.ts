/**
 * Libraries in PostgreSQL. Contents, folders and versions stand under the ids that git gives them and are never
 * changed; the head is moved by a statement that names the version it expects.
 */
import { BlobContents, blobId } from "@castellan/core/library/Blob"
import { Commit, commitId } from "@castellan/core/library/Commit"
import { HeadMoved, LibraryStore } from "@castellan/core/library/LibraryStore"
import { BlobId, CommitId, type TreeId } from "@castellan/core/library/ObjectId"
import type { Tree } from "@castellan/core/library/Tree"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import * as FolderRow from "./FolderRow.ts"
import * as RecentTrees from "./RecentTrees.ts"

const document = Document.make(Commit)

interface BlobRow {
  readonly id: string
  readonly content: Uint8Array
}

/** How many rows, and how many bytes of contents, a statement reads or writes at most; one content may be larger. */
const batchRows = 500
const batchBytes = 4_194_304

/** Contents in the batches that statements write. */
function* batches(contents: ReadonlyMap<BlobId, Uint8Array>): Generator<ReadonlyArray<readonly [BlobId, Uint8Array]>> {
  let batch: Array<readonly [BlobId, Uint8Array]> = []
  let bytes = 0
  for (const entry of contents) {
    const [, content] = entry
    if (batch.length > 0 && (batch.length === batchRows || bytes + content.length > batchBytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(entry)
    bytes += content.length
  }
  if (batch.length > 0) yield batch
}

/** Keeps libraries in PostgreSQL. */
export const layer: Layer.Layer<LibraryStore, never, SqlClient | Transaction> = Layer.effect(
  LibraryStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const transaction = yield* Transaction
    const recent = RecentTrees.make()

    const head = (organizationId: OrganizationId): Effect.Effect<Option.Option<CommitId>> =>
      Effect.map(
        Query.row(
          sql<{
            readonly commit_id: string
          }>`SELECT commit_id FROM castellan.library_heads WHERE ${within(sql, organizationId)}`
        ),
        Option.map(({ commit_id }) => CommitId.make(commit_id, { disableChecks: true }))
      )

    const advanced = (organizationId: OrganizationId, expected: Option.Option<CommitId>, next: CommitId) =>
      Option.match(expected, {
        onNone: () => sql`
          INSERT INTO castellan.library_heads (organization_id, commit_id)
          SELECT ${organizationId}, ${next} WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id) DO NOTHING
          RETURNING commit_id`,
        onSome: (from) => sql`
          UPDATE castellan.library_heads SET commit_id = ${next}
          WHERE ${within(sql, organizationId)} AND commit_id = ${from}
          RETURNING commit_id`
      })

    /** Whether a tree that is known is this organization's too. */
    const keeps = (organizationId: OrganizationId, id: TreeId) =>
      Effect.map(
        Query.row(sql`SELECT FROM castellan.library_folders WHERE ${within(sql, organizationId)} AND id = ${id}`),
        Option.isSome
      )

    /** Every folder of a tree, itself among them. */
    const folders = (organizationId: OrganizationId, id: TreeId) =>
      Query.rows(sql<FolderRow.FolderRow>`
        WITH RECURSIVE reached (id, folders) AS (
          SELECT id, folders FROM castellan.library_folders WHERE organization_id = ${organizationId} AND id = ${id}
          UNION
          SELECT below.id, below.folders FROM reached JOIN castellan.library_folders AS below
            ON below.organization_id = ${organizationId} AND below.id = ANY (reached.folders)
        )
        SELECT folder.id, folder.object FROM reached JOIN castellan.library_folders AS folder ON folder.id = reached.id
        WHERE ${within(sql, organizationId, "folder")}`)

    /** Writes folders; answers with those that were not kept before. */
    const addFolders = (organizationId: OrganizationId, trees: ReadonlyArray<Tree>) =>
      Effect.map(
        Query.rows(sql<{ readonly id: string }>`
          INSERT INTO castellan.library_folders (organization_id, id, object, folders)
          SELECT ${organizationId}::uuid, id, object, string_to_array(folders, ' ')
          FROM unnest(
            ${trees.map(({ id }) => id)}::text[],
            ${trees.map(FolderRow.objectOf)}::bytea[],
            ${trees.map((tree) =>
              FolderRow.foldersIn(tree)
                .map(({ id }) => id)
                .join(" ")
            )}::text[]
          ) AS folder (id, object, folders)
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id, id) DO NOTHING
          RETURNING id`),
        (rows) => new Set(rows.map(({ id }) => id))
      )

    return LibraryStore.of({
      head,
      advance: Effect.fnUntraced(function* (organizationId, expected, next) {
        const moved = yield* Query.row(advanced(organizationId, expected, next))
        if (Option.isSome(moved)) return
        const found = yield* head(organizationId)
        return yield* new HeadMoved({
          ...(Option.isSome(expected) ? { expected: expected.value } : {}),
          ...(Option.isSome(found) ? { head: found.value } : {})
        })
      }),
      commit: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.library_commits WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      addCommit: (organizationId, commit) => {
        const id = commitId(commit)
        return Effect.as(
          Query.run(sql`
            INSERT INTO castellan.library_commits (organization_id, id, document)
            SELECT ${organizationId}, ${id}, ${document.encode(commit)} WHERE ${entering(sql, organizationId)}
            ON CONFLICT (organization_id, id) DO UPDATE SET document = excluded.document`),
          id
        )
      },
      tree: Effect.fnUntraced(function* (organizationId, id) {
        const known = recent.get(id)
        if (known !== undefined) return (yield* keeps(organizationId, id)) ? Option.some(known) : Option.none()
        const rows = yield* folders(organizationId, id)
        if (rows.length === 0) return Option.none()
        const tree = yield* FolderRow.assemble(id, rows)
        recent.add(tree)
        return Option.some(tree)
      }),
      addTree: (organizationId, tree) =>
        Effect.gen(function* () {
          // Where a folder is kept, everything in it is: only what is new is looked into, level by level.
          let level: ReadonlyArray<Tree> = [tree]
          while (level.length > 0) {
            const sorted = level.toSorted((a, b) => (a.id < b.id ? -1 : 1))
            const below = new Map<TreeId, Tree>()
            for (let from = 0; from < sorted.length; from += batchRows) {
              const batch = sorted.slice(from, from + batchRows)
              const added = yield* addFolders(organizationId, batch)
              for (const folder of batch) {
                if (added.has(folder.id)) for (const one of FolderRow.foldersIn(folder)) below.set(one.id, one)
              }
            }
            level = [...below.values()]
          }
          recent.add(tree)
          return tree.id
        }).pipe(transaction.run),
      blobs: Effect.fnUntraced(function* (organizationId, ids) {
        const wanted = [...new Set(ids)]
        const found: Array<readonly [BlobId, Uint8Array]> = []
        for (let from = 0; from < wanted.length; from += batchRows) {
          const rows = yield* Query.rows(sql<BlobRow>`
            SELECT id, content FROM castellan.library_blobs
            WHERE ${within(sql, organizationId)} AND id = ANY (${wanted.slice(from, from + batchRows)}::text[])`)
          for (const { content, id } of rows) found.push([BlobId.make(id, { disableChecks: true }), content])
        }
        return BlobContents.of(found)
      }),
      addBlobs: Effect.fnUntraced(function* (organizationId, contents) {
        const ids: Array<BlobId> = []
        const added = new Map<BlobId, Uint8Array>()
        for (const bytes of contents) {
          const id = blobId(bytes)
          ids.push(id)
          // A copy: whoever handed the bytes in may go on writing to them.
          if (!added.has(id)) added.set(id, bytes.slice())
        }
        for (const batch of batches(added)) {
          yield* Query.run(sql`
            INSERT INTO castellan.library_blobs (organization_id, id, content)
            SELECT ${organizationId}::uuid, id, content
            FROM unnest(${batch.map(([id]) => id)}::text[], ${batch.map(([, content]) => content)}::bytea[])
              AS blob (id, content)
            WHERE ${entering(sql, organizationId)}
            ORDER BY id
            ON CONFLICT (organization_id, id) DO NOTHING`)
        }
        return ids
      })
    })
  })
)
