/** Changes: who owns a path, whose approvals count, and who may do what to a change. */
import { decideApproval, governs, type Reviewed, type Situation, standing } from "@castellan/core/change/ApprovalPolicy"
import type { Attribution } from "@castellan/core/change/Change"
import * as ChangePolicy from "@castellan/core/change/ChangePolicy"
import * as FolderPath from "@castellan/core/folderpolicy/FolderPath"
import type { FolderPolicyTerms } from "@castellan/core/folderpolicy/FolderPolicy"
import { decide as decideOwner, holderOf } from "@castellan/core/folderpolicy/OwnersPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Population from "@castellan/core/folderpolicy/Population"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { CommitId } from "@castellan/core/library/ObjectId"
import type { Permission } from "@castellan/core/role/Permission"
import * as Result from "effect/Result"
import { allows, type CedarValueJson, entity, type EntityJson, name, reference, references } from "./Cedar.ts"
import type { Draw } from "./Draw.ts"
import { type Question, verdict, yes } from "./Question.ts"
import * as World from "./World.ts"

/** The policy of a folder, as facts; the path of the library itself is empty. */
interface FolderFacts {
  readonly path: string
  readonly members: ReadonlyArray<World.MemberName>
  readonly roles: ReadonlyArray<World.RoleName>
  readonly inherits: boolean
  readonly required: number
  readonly distinct: boolean
  readonly scope: ReadonlyArray<World.RoleName>
}

/** Somebody who wrote or pushed a change, with the roles that they held then; undefined where nobody knows. */
interface Writer {
  readonly member: World.MemberName
  readonly had: ReadonlyArray<World.RoleName>
  /** The client metadata that they came with. */
  readonly client: World.ClientName
}

/** A member as they are now. */
interface LiveFacts {
  readonly member: World.MemberName
  readonly roles: ReadonlyArray<World.RoleName>
  readonly active: boolean
  readonly serviceAccount: boolean
  /** Who minted keys of theirs. */
  readonly minters: ReadonlyArray<World.MemberName>
}

interface LibraryFacts {
  readonly folders: ReadonlyArray<FolderFacts>
  readonly population: ReadonlyArray<LiveFacts>
}

interface ChangeFacts {
  readonly author: Writer | undefined
  readonly pusher: Writer | undefined
  readonly paths: ReadonlyArray<string>
  readonly approvals: ReadonlyArray<{ readonly member: World.MemberName; readonly latest: boolean }>
}

const folderPaths = ["", "docs", "docs/a", "docs/a/b", "docs-private"] as const
const filePaths = ["readme", "docs/x", "docs/a/x", "docs/a/b/x", "docs/a/bc", "docs-private/x"] as const

const drawFolder = (draw: Draw, path: string): FolderFacts => ({
  path,
  members: draw.some(World.members, 25),
  roles: draw.some(World.roles, 25),
  inherits: draw.chance(60),
  required: draw.pick([1, 1, 2, 3]),
  distinct: draw.chance(50),
  scope: draw.chance(35) ? [] : draw.some(["red", "green", "blue", ...(draw.chance(15) ? (["gone"] as const) : [])], 40)
})

const drawLive = (draw: Draw, member: World.MemberName): LiveFacts => {
  const serviceAccount = draw.chance(30)
  return {
    member,
    roles: World.drawRoles(draw),
    active: draw.chance(90),
    serviceAccount,
    minters: draw.some(World.members, serviceAccount ? 25 : 10)
  }
}

const drawLibrary = (draw: Draw): LibraryFacts => ({
  folders: folderPaths.filter((path) => path === "" || draw.chance(55)).map((path) => drawFolder(draw, path)),
  population: World.members.map((member) => drawLive(draw, member))
})

const drawWriter = (draw: Draw, likely: World.MemberName | undefined): Writer | undefined =>
  draw.chance(6)
    ? undefined
    : {
        member: likely !== undefined && draw.chance(25) ? likely : draw.pick(World.members),
        had: World.drawRoles(draw, 15),
        client: World.drawClient(draw)
      }

/** A change; `likely` is who wrote it more often than chance has it. */
const drawChange = (draw: Draw, likely?: World.MemberName): ChangeFacts => {
  const author = drawWriter(draw, likely)
  const paths = draw.some(filePaths, draw.pick([15, 15, 35]))
  return {
    author,
    pusher: draw.chance(70) ? author : drawWriter(draw, likely),
    paths: paths.length === 0 ? [draw.pick(filePaths)] : paths,
    approvals: Array.from({ length: draw.below(6) }, () => ({
      member: draw.pick(World.members),
      latest: draw.chance(80)
    }))
  }
}

/** A caller whose roles are among those that the member holds now, as authentication makes it. */
const drawActor = (draw: Draw, library: LibraryFacts): World.Caller => {
  const caller = World.drawCaller(draw)
  const live = library.population.find((one) => one.member === caller.member)
  return { ...caller, roles: draw.some(live?.roles ?? [], caller.by === "key" ? 75 : 100) }
}

// Ours.

const termsOf = (folder: FolderFacts): FolderPolicyTerms => ({
  path: Result.getOrThrow(FolderPath.parse(folder.path)),
  owners: [
    ...folder.members.map((member) => ({ _tag: "Member", id: World.memberId(member) }) as const),
    ...folder.roles.map((role) => ({ _tag: "Role", id: World.roleId(role) }) as const)
  ],
  inheritOwners: folder.inherits,
  requiredApprovals: folder.required,
  distinctApprovers: folder.distinct,
  authorRoles: folder.scope.map(World.roleId),
  autoApprove: []
})

const situationOf = ({ folders, population }: LibraryFacts): Situation => ({
  tree: PolicyTree.make(folders.map(termsOf)),
  population: Population.make(
    population.map((one) => ({
      id: World.memberId(one.member),
      roles: one.roles.map(World.roleId),
      status: one.active ? { _tag: "Active" } : { _tag: "Deactivated", at: World.moment(0) },
      isServiceAccount: one.serviceAccount
    })),
    World.roles.map((role) => ({ id: World.roleId(role), isAdmin: role === "admin" })),
    new Map(population.map((one) => [World.memberId(one.member), one.minters.map(World.memberId)]))
  )
})

const attributionOf = (writer: Writer | undefined): Attribution =>
  writer === undefined
    ? { _tag: "Unattributed" }
    : {
        _tag: "Member",
        memberId: World.memberId(writer.member),
        roles: writer.had.map(World.roleId),
        ...World.clientField(writer.client)
      }

const latest = CommitId.make("1".repeat(40))
const earlier = CommitId.make("2".repeat(40))

const reviewedOf = (change: ChangeFacts): Reviewed => ({
  author: attributionOf(change.author),
  pusher: attributionOf(change.pusher),
  gitRef: latest,
  paths: change.paths.map((path) => LibraryPath.make(path)),
  approvals: change.approvals.map((one) => ({
    memberId: World.memberId(one.member),
    gitRef: one.latest ? latest : earlier
  }))
})

// Cedar's.

/** The folders whose policies are above a path, the nearest first. */
const above = (library: LibraryFacts, path: string): ReadonlyArray<FolderFacts> =>
  library.folders
    .filter((folder) => folder.path === "" || path.startsWith(`${folder.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)

const folderName = (folder: FolderFacts) => name("Folder", folder.path)

const folderEntity = (library: LibraryFacts, folder: FolderFacts): EntityJson => {
  const next = above(library, folder.path).find((one) => one !== folder)
  return entity(
    folderName(folder),
    { ownerMembers: references("Member", folder.members), ownerRoles: references("Role", folder.roles) },
    folder.inherits && next !== undefined ? [folderName(next)] : []
  )
}

const pathEntity = (library: LibraryFacts, path: string): EntityJson =>
  entity(name("Path", path), {}, above(library, path).slice(0, 1).map(folderName))

/** A library as Cedar sees it for one caller. */
const oracleOf = (library: LibraryFacts, caller: EntityJson) => {
  const folders = library.folders.map((folder) => folderEntity(library, folder))
  const named = references(
    "Folder",
    library.folders
      .filter((folder) =>
        allows({ principal: caller, action: "beNamedOwner", resource: folderEntity(library, folder) })
      )
      .map((folder) => folder.path)
  )
  return {
    named,
    owns: (path: string): boolean =>
      allows({
        principal: caller,
        action: "ownPath",
        resource: pathEntity(library, path),
        context: { named },
        others: folders
      }),
    ask: (
      action: "approvePath" | "countApproval",
      resource: EntityJson,
      context: Readonly<Record<string, CedarValueJson>>
    ): boolean =>
      allows({
        principal: caller,
        action,
        resource,
        context: { named, ...context },
        others: folders.filter((one) => one.uid !== resource.uid)
      })
  }
}

const liveOf = (library: LibraryFacts, member: string): LiveFacts | undefined =>
  library.population.find((one) => one.member === member && one.active)

const writersOf = (library: LibraryFacts, { author, pusher }: ChangeFacts): CedarValueJson => ({
  ...(author === undefined ? {} : { author: reference("Member", author.member) }),
  ...(pusher === undefined ? {} : { pusher: reference("Member", pusher.member) }),
  hands: references(
    "Member",
    [author, pusher].flatMap((one) => (one === undefined ? [] : controllersOf(library, one.member)))
  ),
  roles: references(
    "Role",
    [author, pusher].flatMap((one) =>
      one === undefined ? [] : [...one.had, ...(liveOf(library, one.member)?.roles ?? [])]
    )
  )
})

/** In whose hands a service account is: those who minted its keys, and those who minted theirs. */
const controllersOf = (library: LibraryFacts, member: World.MemberName): ReadonlyArray<World.MemberName> => {
  if (liveOf(library, member)?.serviceAccount !== true) return []
  const mintersOf = (of: World.MemberName) => library.population.find((one) => one.member === of)?.minters ?? []
  const found = new Set(mintersOf(member))
  // A set is walked on to what is added meanwhile.
  for (const one of found) for (const minter of mintersOf(one)) found.add(minter)
  return [...found].filter((one) => one !== member)
}

const changeEntity = (change: ChangeFacts): EntityJson =>
  entity(name("Change", "change"), {
    paths: references("Path", change.paths),
    authorClient: World.canonical(change.author?.client ?? ""),
    ...(change.author === undefined ? {} : { author: reference("Member", change.author.member) })
  })

const governedBy = (library: LibraryFacts, change: ChangeFacts, folder: FolderFacts): boolean =>
  allows({
    principal: changeEntity(change),
    action: "beGoverned",
    resource: folderEntity(library, folder),
    context: {
      rule: {
        distinct: folder.distinct,
        scope: references("Role", folder.scope),
        scopeIsBroken: folder.scope.includes("gone")
      },
      writers: writersOf(library, change)
    }
  })

const liveCaller = (live: LiveFacts): World.Caller => ({
  member: live.member,
  roles: live.roles,
  by: "session",
  keys: [],
  restricted: false,
  ceiling: false,
  client: "",
  superadmin: false
})

/** Whether the folder's rule asks for other approvers than the author in this change. */
const isDistinct = (library: LibraryFacts, change: ChangeFacts, folder: FolderFacts): boolean =>
  folder.distinct && governedBy(library, change, folder)

const ownPath: Question = {
  action: "own a path",
  ask: (draw) => {
    const library = drawLibrary(draw)
    const caller = drawActor(draw, library)
    const path = draw.pick(filePaths)
    const holder = holderOf(World.principalOf(caller, {}))
    return {
      ours: verdict(decideOwner(situationOf(library).tree, holder, path)),
      cedars: yes(oracleOf(library, World.callerEntity(caller)).owns(path)),
      facts: { library, caller, path }
    }
  }
}

const beGoverned: Question = {
  action: "be governed by a folder's rule",
  ask: (draw) => {
    const [library, change] = [drawLibrary(draw), drawChange(draw)]
    const path = draw.pick(filePaths)
    const [folder] = above(library, path)
    if (folder === undefined) throw new Error("the library itself has a policy")
    const { population, tree } = situationOf(library)
    return {
      ours: yes(governs(tree.governing(path), reviewedOf(change), population)),
      cedars: yes(governedBy(library, change, folder)),
      facts: { library, change, path }
    }
  }
}

const approvable = (library: LibraryFacts, change: ChangeFacts, caller: World.Caller): ReadonlyArray<string> => {
  const oracle = oracleOf(library, World.callerEntity(caller))
  return change.paths.filter((path) => {
    const [folder] = above(library, path)
    return (
      folder !== undefined &&
      oracle.ask("approvePath", pathEntity(library, path), {
        distinct: isDistinct(library, change, folder),
        writers: writersOf(library, change),
        controllers: references("Member", controllersOf(library, caller.member))
      })
    )
  })
}

const matter: ReadonlyArray<Permission> = ["library:read", "library:propose", "library:approve"]

const isAuthor = (caller: EntityJson, change: ChangeFacts): boolean =>
  allows({ principal: caller, action: "beAuthor", resource: changeEntity(change) })

const permissionsOf = (grants: World.Grants) => ({
  reading: World.granting(grants, "library:read"),
  proposing: World.granting(grants, "library:propose"),
  approving: World.granting(grants, "library:approve")
})

const approveChange: Question = {
  action: "approve a change",
  ask: (draw) => {
    const [library, change, grants] = [drawLibrary(draw), drawChange(draw), World.drawGrants(draw, matter)]
    const caller = drawActor(draw, library)
    const isActive = liveOf(library, caller.member) !== undefined
    return {
      ours: verdict(
        ChangePolicy.decideApprove(situationOf(library), World.principalOf(caller, grants), reviewedOf(change))
      ),
      // Whoever is not active authenticates nothing (K33).
      cedars: yes(
        isActive &&
          allows({
            principal: World.callerEntity(caller),
            action: "approveChange",
            resource: changeEntity(change),
            context: {
              ...permissionsOf(grants),
              isAuthor: isAuthor(World.callerEntity(caller), change),
              paths: references("Path", approvable(library, change, caller))
            }
          })
      ),
      facts: { library, change, caller, grants }
    }
  }
}

const approveSomePaths: Question = {
  action: "approve a change of one path, with every permission",
  ask: (draw) => {
    const library = drawLibrary(draw)
    const change = { ...drawChange(draw), paths: [draw.pick(filePaths)] }
    const caller = drawActor(draw, library)
    const isActive = liveOf(library, caller.member) !== undefined
    const holder = holderOf(World.principalOf(caller, {}))
    return {
      ours: verdict(decideApproval(reviewedOf(change), situationOf(library), holder)),
      cedars: yes(isActive && approvable(library, change, caller).length === 1),
      facts: { library, change, caller }
    }
  }
}

const mergeChange: Question = {
  action: "merge a change by its approvals",
  ask: (draw) => {
    const [library, change] = [drawLibrary(draw), drawChange(draw)]
    const folders = new Set(change.paths.flatMap((path) => above(library, path).slice(0, 1)))
    const standings = [...folders].map((folder) => {
      const governed = governedBy(library, change, folder)
      const approvers = World.members.filter((member) => {
        const live = liveOf(library, member)
        // Whoever gave no approval at all is not asked about.
        if (live === undefined || !change.approvals.some((one) => one.member === member)) return false
        return oracleOf(library, World.callerEntity(liveCaller(live))).ask(
          "countApproval",
          folderEntity(library, folder),
          {
            distinct: governed && folder.distinct,
            writers: writersOf(library, change),
            controllers: references("Member", controllersOf(library, member)),
            approvesThisRevision: change.approvals.some((one) => one.member === member && one.latest)
          }
        )
      })
      const satisfied = allows({
        principal: changeEntity(change),
        action: "satisfyFolder",
        resource: folderEntity(library, folder),
        context: { governed, required: folder.required, approvals: approvers.length }
      })
      return { folder: folder.path, approvals: approvers.length, satisfied }
    })
    const of = standing(reviewedOf(change), situationOf(library))
    const counts = (list: ReadonlyArray<readonly [string, number]>) =>
      list
        .map(([path, count]) => `${path}: ${count}`)
        .toSorted()
        .join(", ")
    const ours = counts(of.folders.map(({ approvers, folder }) => [folder.path, approvers.length]))
    const cedars = counts(standings.map(({ approvals, folder }) => [folder, approvals]))
    const said = ours === cedars
    return {
      ours: said ? yes(of.met) : ours,
      cedars: said ? yes(standings.every(({ satisfied }) => satisfied)) : cedars,
      facts: { library, change }
    }
  }
}

const verbs = {
  seeChange: (tree, principal, change) => yes(ChangePolicy.visible(tree, principal, change)),
  readChange: (tree, principal, change) => verdict(ChangePolicy.decideRead(tree, principal, change)),
  denyChange: (tree, principal, change) => verdict(ChangePolicy.decideDeny(tree, principal, change)),
  restoreChange: (tree, principal, change) => verdict(ChangePolicy.decideRestore(tree, principal, change)),
  reviseChange: (tree, principal, change) => verdict(ChangePolicy.decideRevise(tree, principal, change)),
  submitChange: (_, principal, change) => verdict(ChangePolicy.decideSubmit(principal, change))
} satisfies Record<
  string,
  (tree: PolicyTree.PolicyTree, principal: ReturnType<typeof World.principalOf>, change: Reviewed) => string
>

type Verb = keyof typeof verbs

const verbQuestion = (action: Verb): Question => ({
  action: action.replace("Change", " a change"),
  ask: (draw) => {
    const [library, grants] = [drawLibrary(draw), World.drawGrants(draw, matter)]
    const caller = drawActor(draw, library)
    const change = drawChange(draw, caller.member)
    const oracle = oracleOf(library, World.callerEntity(caller))
    const owned = change.paths.filter(oracle.owns)
    return {
      ours: verbs[action](situationOf(library).tree, World.principalOf(caller, grants), reviewedOf(change)),
      cedars: yes(
        allows({
          principal: World.callerEntity(caller),
          action,
          resource: changeEntity(change),
          context: {
            ...permissionsOf(grants),
            isAuthor: isAuthor(World.callerEntity(caller), change),
            paths: references("Path", owned)
          }
        })
      ),
      facts: { library, change, caller, grants }
    }
  }
})

/** The questions of this file. */
export const questions: ReadonlyArray<Question> = [
  ownPath,
  beGoverned,
  approveChange,
  approveSomePaths,
  mergeChange,
  ...(["seeChange", "readChange", "denyChange", "restoreChange", "reviseChange", "submitChange"] as const).map(
    verbQuestion
  )
]
