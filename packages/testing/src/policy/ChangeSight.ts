/**
 * What a property about the sight of changes draws: policies, readers and changes whose paths are easily mistaken for
 * each other.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { Principal } from "@castellan/core/access/Principal"
import { Attribution } from "@castellan/core/change/Change"
import type { FolderPolicyTerms } from "@castellan/core/folderpolicy/FolderPolicy"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import * as Schema from "effect/Schema"
import { folderPolicy } from "./FolderPolicy.ts"
import * as Name from "./Name.ts"
import * as PrincipalOf from "./Principal.ts"

/** Names that sort around a slash, that begin like each other, and whose order by bytes is not that by code units. */
const Segment = Schema.Literals(["a", "a!", "a0", "a-b", "ab", "B", "\u00e9", "\ua7ff", "\ufb00", "\u{1d54f}"])

const few = (atMost: number) => Schema.isMaxLength(atMost)

const Segments = Schema.NonEmptyArray(Segment).check(few(4))
const People = Schema.Array(Schema.Literals(["ana", "bob"])).check(few(2))
const Roles = Schema.Array(Schema.Literals(["writers", "finance"])).check(few(2))

/** What an end user's key says; `none`: there is no end user. */
const Client = Schema.Literals(["none", "empty", "one", "other", "other way round"])

const clients: { readonly [Key in typeof Client.Type]: ClientMetadata["attributes"] | undefined } = {
  none: undefined,
  empty: {},
  one: { user: "1" },
  other: { user: "2", team: 1 },
  "other way round": { team: 1, user: "2" }
}

const speaking = (client: typeof Client.Type): { readonly clientMetadata?: ClientMetadata } => {
  const attributes = clients[client]
  return attributes === undefined ? {} : { clientMetadata: { text: JSON.stringify(attributes), attributes } }
}

/** A folder's policy as it is drawn; no segments: the library itself. */
export const DrawnPolicy = Schema.Struct({
  folder: Schema.Array(Segment).check(few(3)),
  members: People,
  roles: Roles,
  inheritOwners: Schema.Boolean
})

/** The policy that was drawn. */
export const policyOf = ({ folder, inheritOwners, members, roles }: typeof DrawnPolicy.Type): FolderPolicyTerms =>
  folderPolicy(folder.length === 0 ? "/" : folder.join("/"), { owners: { members, roles }, inheritOwners })

/** A reader as it is drawn. */
export const DrawnReader = Schema.Struct({
  name: Schema.Literals(["ana", "bob", "cleo"]),
  roles: Roles,
  restricted: Schema.Boolean,
  client: Client,
  isAdmin: Schema.Boolean
})

/** The principal that was drawn. */
export const principalOf = ({ client, isAdmin, name, restricted, roles }: typeof DrawnReader.Type): Principal =>
  new Principal({
    ...PrincipalOf.principal(
      name,
      [...roles, ...(isAdmin ? ["admin"] : [])].map((role) => PrincipalOf.role(role))
    ),
    restricted,
    ...speaking(client)
  })

/** A change's author and paths as they are drawn; `nobody`: it is not attributed. */
export const DrawnChange = Schema.Struct({
  author: Schema.Literals(["ana", "bob", "nobody"]),
  client: Client,
  paths: Schema.NonEmptyArray(Segments).check(few(3))
})

/** Who wrote the change, and what it touches. */
export const concernedOf = ({ author, client, paths }: typeof DrawnChange.Type) => ({
  author:
    author === "nobody"
      ? Attribution.cases.Unattributed.make({})
      : Attribution.cases.Member.make({ memberId: Name.memberId(author), roles: [], ...speaking(client) }),
  paths: [...new Set(paths.map((segments) => LibraryPath.make(segments.join("/"))))].toSorted()
})
