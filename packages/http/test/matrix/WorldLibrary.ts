/** The library of the matrix's world: a folder with owners, and a change in each of the ways that a change can be. */
import type { Principal } from "@castellan/core/access/Principal"
import { Changes } from "@castellan/core/change/Changes"
import { FolderPolicy } from "@castellan/core/folderpolicy/FolderPolicy"
import { FolderPolicyStore } from "@castellan/core/folderpolicy/FolderPolicyStore"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import * as TextBytes from "@castellan/core/library/TextBytes"
import { as } from "@castellan/testing/fixture/Acting"
import { DateTime, Effect } from "effect"
import type { People } from "./WorldPeople.ts"

/** What is in it. */
export type Library = Effect.Success<ReturnType<typeof make>>

/** Proposes a file of somebody's own. */
const propose = (by: Principal, path: string, more: { readonly draft?: boolean; readonly base?: string } = {}) =>
  Changes.use((changes) =>
    changes.propose({
      staged: [{ _tag: "Write", path, content: TextBytes.encode(`of ${by.memberId}\n`) }],
      title: "Say what sales are",
      description: "They are **net**.",
      draft: false,
      ...more
    })
  ).pipe(as(by), Effect.orDie)

/** Makes it: the folder is the maker's and the author's. */
export const make = Effect.fnUntraced(function* ({ author, authoring, maker, principal }: People) {
  const now = yield* DateTime.now
  const within = principal.organizationId
  const folder = LibraryPath.make("docs")
  yield* FolderPolicyStore.use((store) =>
    store.save(
      new FolderPolicy({
        organizationId: within,
        path: folder,
        owners: [maker.id, author.id].map((id) => ({ _tag: "Member" as const, id })),
        inheritOwners: true,
        requiredApprovals: 1,
        distinctApprovers: true,
        authorRoles: [],
        autoApprove: [],
        updatedAt: now
      })
    )
  )

  const open = yield* propose(authoring, "docs/open.md")
  const draft = yield* propose(principal, "docs/draft.md", { draft: true })
  const denied = yield* propose(authoring, "docs/denied.md")
  yield* Changes.use((changes) => changes.deny(denied.change.id, denied.change.gitRef)).pipe(
    as(authoring),
    Effect.orDie
  )
  const { id: base } = yield* Changes.use((changes) => changes.mount).pipe(as(principal), Effect.orDie)
  const merged = yield* propose(authoring, "docs/page.md")
  yield* Changes.use((changes) => changes.approve(merged.change.id, merged.change.gitRef)).pipe(
    as(principal),
    Effect.orDie
  )
  // On the version that had no such page: both made one.
  const reserved = yield* propose(principal, "docs/page.md", { base })
  return { denied, draft, folder, merged, open, reserved }
})
