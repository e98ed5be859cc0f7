/**
 * Changes in PostgreSQL.
 *
 * A reader who may see every change reads the newest of each kind by an index, and totals that are kept up to date:
 * a page costs the same wherever it is, and counting costs nothing. For anybody else, what they see is found by the
 * paths that they own and by their name: a list costs as much as there is for them to see.
 */
import type { Change } from "@castellan/core/change/Change"
import { ChangeNumber } from "@castellan/core/change/Change"
import type { ChangeReader } from "@castellan/core/change/ChangeReader"
import { ChangeMoved, ChangeStore, positionOf } from "@castellan/core/change/ChangeStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import type { Position } from "@castellan/core/page/Page"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { clientKey } from "../access/ClientKey.ts"
import * as Keyset from "../database/Keyset.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import * as ChangeRow from "./ChangeRow.ts"

type Member = Extract<ChangeReader, { readonly _tag: "Member" }>

/** How many changes there are of a kind. */
interface KindRow {
  readonly kind: ChangeRow.ChangeKind
  readonly count: number
}

/** Keeps changes in PostgreSQL. */
export const layer: Layer.Layer<ChangeStore, never, SqlClient | Transaction> = Layer.effect(
  ChangeStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const transaction = yield* Transaction

    /** The documents of the changes of `change`, a table or a page of one. */
    const selected = sql`change.document, (
      SELECT json_agg(changeset.document ORDER BY changeset.revision) FROM castellan.changesets AS changeset
      WHERE changeset.organization_id = change.organization_id AND changeset.change_id = change.id
    ) AS changesets`

    const one = (statement: Query.Statement<ChangeRow.ChangeRow>) =>
      Effect.flatMap(
        Query.row(statement),
        Option.match({ onNone: () => Effect.succeedNone, onSome: (row) => Effect.asSome(ChangeRow.decode(row)) })
      )

    const afterPosition = (after: Position | undefined): Fragment =>
      after === undefined ? sql`` : sql`AND ${Keyset.after(sql, "created_at", after)}`

    /** The ids of the changes that a member sees, as a part of a statement. */
    const seen = (organizationId: OrganizationId, { author, owned }: Member): Fragment => sql`
      SELECT touched.change_id AS id
      FROM unnest(${owned.map(({ from }) => from)}::text[], ${owned.map(({ before }) => before)}::text[])
        AS range (lower, beyond)
      JOIN castellan.change_paths AS touched ON touched.path >= range.lower AND touched.path < range.beyond
      WHERE ${within(sql, organizationId, "touched")}
      UNION
      SELECT id FROM castellan.changes
      WHERE ${within(sql, organizationId)} AND author_id = ${author.memberId}
        AND (NOT ${author.restricted} OR author_client IN ('', ${clientKey(author.clientMetadata)}))`

    /** The newest of every kind that is asked for, merged: as many rows are read for each as the page may have. */
    const newest = (
      organizationId: OrganizationId,
      kinds: ReadonlyArray<ChangeRow.ChangeKind>,
      after: Position | undefined,
      limit: number
    ): Fragment => sql`
      SELECT newest.* FROM unnest(${kinds}::text[]) AS wanted (kind)
      CROSS JOIN LATERAL (
        SELECT organization_id, id, created_at, document FROM castellan.changes
        WHERE ${within(sql, organizationId)} AND kind = wanted.kind ${afterPosition(after)}
        ORDER BY created_at DESC, id DESC LIMIT ${limit}
      ) AS newest`

    /**
     * The changes that a member sees. Each is looked up by its id: a server cannot know how few of them there are, and
     * would rather go through all that the organization has.
     */
    const allSeen = (
      organizationId: OrganizationId,
      reader: Member,
      kinds: ReadonlyArray<ChangeRow.ChangeKind>,
      after: Position | undefined
    ): Fragment => sql`
      SELECT found.* FROM (${seen(organizationId, reader)}) AS seen
      CROSS JOIN LATERAL (
        SELECT organization_id, id, kind, created_at, document FROM castellan.changes
        WHERE ${within(sql, organizationId)} AND id = seen.id AND kind = ANY (${kinds}::text[]) ${afterPosition(after)}
        LIMIT 1
      ) AS found`

    /** The organization's next number. Whoever else creates a change waits here until this transaction has ended. */
    const nextNumber = (organizationId: OrganizationId) =>
      Effect.flatMap(
        Query.row(sql<{ readonly last_number: number }>`
          INSERT INTO castellan.change_totals AS totals
            (organization_id, last_number, draft, open, reserved, approved, auto_approved, denied)
          SELECT ${organizationId}, 1, 0, 0, 0, 0, 0, 0 WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id) DO UPDATE SET last_number = totals.last_number + 1
          RETURNING last_number`),
        Option.match({
          onNone: () => Effect.die(new Error("a change has got no number")),
          onSome: ({ last_number }) => Effect.succeed(ChangeNumber.make(last_number))
        })
      )

    /** Counts a change as of one kind, and no longer of another. */
    const recount = (
      organizationId: OrganizationId,
      from: ChangeRow.ChangeKind | undefined,
      to: ChangeRow.ChangeKind
    ) =>
      Effect.when(
        Query.run(sql`
          UPDATE castellan.change_totals SET ${sql.csv(
            ChangeRow.kinds.map((kind) => {
              const column = sql.literal(kind)
              return sql`${column} = ${column} + ${Number(kind === to) - Number(kind === from)}`
            })
          )} WHERE ${within(sql, organizationId)}`),
        Effect.succeed(from !== to)
      )

    /** Writes revisions, numbered from one on. */
    const addRevisions = (change: Change, from: number) =>
      Query.run(sql`
        INSERT INTO castellan.changesets (organization_id, change_id, revision, document)
        SELECT ${change.organizationId}::uuid, ${change.id}::uuid, ${from} + ordinal - 1, document::json
        FROM unnest(${ChangeRow.encodeRevisions(change.changesets.slice(from - 1))}::text[])
          WITH ORDINALITY AS changeset (document, ordinal)
        WHERE ${entering(sql, change.organizationId)}`)

    const addPaths = (change: Change) =>
      Query.run(sql`
        INSERT INTO castellan.change_paths (organization_id, path, change_id)
        SELECT ${change.organizationId}::uuid, path, ${change.id}::uuid
        FROM unnest(${ChangeRow.keysOf(change)}::text[]) AS touched (path)
        WHERE ${entering(sql, change.organizationId)}`)

    const removePaths = (change: Change) =>
      Query.run(sql`
        DELETE FROM castellan.change_paths WHERE ${within(sql, change.organizationId)} AND change_id = ${change.id}`)

    return ChangeStore.of({
      get: (organizationId, id) =>
        one(sql<ChangeRow.ChangeRow>`
          SELECT ${selected} FROM castellan.changes AS change
          WHERE ${within(sql, organizationId, "change")} AND change.id = ${id}`),

      numbered: (organizationId, number) =>
        one(sql<ChangeRow.ChangeRow>`
          SELECT ${selected} FROM castellan.changes AS change
          WHERE ${within(sql, organizationId, "change")} AND change.number = ${number}`),

      add: (organizationId, make) =>
        Effect.gen(function* () {
          const change = make(yield* nextNumber(organizationId))
          const { approvals, author, client, gitRef, kind, revisions } = ChangeRow.columnsOf(change)
          yield* Query.run(sql`
            INSERT INTO castellan.changes (organization_id, id, number, kind, git_ref, approvals, revisions,
              author_id, author_client, created_at, document)
            SELECT ${organizationId}, ${change.id}, ${change.number}, ${kind}, ${gitRef}, ${approvals}, ${revisions},
              ${author}, ${client}, ${DateTime.toDateUtc(change.createdAt)}, ${ChangeRow.encode(change)}
            WHERE ${entering(sql, organizationId)}`)
          yield* addRevisions(change, 1)
          yield* addPaths(change)
          yield* recount(organizationId, undefined, kind)
          return change
        }).pipe(transaction.run),

      replace: (before, after) =>
        Effect.gen(function* () {
          const { organizationId } = before
          const [was, is] = [ChangeRow.columnsOf(before), ChangeRow.columnsOf(after)]
          const replaced = yield* Query.row(sql`
            UPDATE castellan.changes SET kind = ${is.kind}, git_ref = ${is.gitRef}, approvals = ${is.approvals},
              revisions = ${is.revisions}, document = ${ChangeRow.encode(after)}
            WHERE ${within(sql, organizationId)} AND id = ${before.id} AND kind = ${was.kind}
              AND git_ref = ${was.gitRef} AND approvals = ${was.approvals} AND revisions = ${was.revisions}
            RETURNING id`)
          if (Option.isNone(replaced)) return yield* new ChangeMoved({ id: before.id })
          if (is.revisions > was.revisions) {
            yield* addRevisions(after, was.revisions + 1)
            yield* removePaths(after)
            yield* addPaths(after)
          }
          yield* recount(organizationId, was.kind, is.kind)
        }).pipe(transaction.run),

      list: Effect.fnUntraced(function* (organizationId, query) {
        const { after, reader } = query
        const limit = Keyset.rowsFor(query)
        const kinds = ChangeRow.kindsOf(query)
        const rows = yield* Query.rows(sql<ChangeRow.ChangeRow>`
          SELECT ${selected} FROM (
            SELECT * FROM (${
              reader._tag === "Administrator"
                ? newest(organizationId, kinds, after, limit)
                : allSeen(organizationId, reader, kinds, after)
            }) AS found
            ORDER BY created_at DESC, id DESC LIMIT ${limit}
          ) AS change
          ORDER BY created_at DESC, id DESC`)
        return Keyset.slice(yield* Effect.forEach(rows, ChangeRow.decode), query, positionOf)
      }),

      counts: Effect.fnUntraced(function* (organizationId, selection) {
        const { includeAutoApproved, reader } = selection
        if (reader._tag === "Administrator") {
          const totals = yield* Query.row(sql<ChangeRow.KindCounts>`
            SELECT draft, open, reserved, approved, auto_approved, denied FROM castellan.change_totals
            WHERE ${within(sql, organizationId)}`)
          return ChangeRow.countsOf(
            Option.getOrElse(totals, () => ChangeRow.none),
            selection
          )
        }
        // Of every status, whatever a list beside it asks for.
        const kinds = ChangeRow.kindsOf({ includeAutoApproved })
        const rows = yield* Query.rows(sql<KindRow>`
          SELECT kind, count(*)::int AS count FROM (${allSeen(organizationId, reader, kinds, undefined)}) AS found
          GROUP BY kind`)
        const counts = Object.fromEntries(rows.map(({ count, kind }) => [kind, count]))
        return ChangeRow.countsOf({ ...ChangeRow.none, ...counts }, selection)
      })
    })
  })
)
