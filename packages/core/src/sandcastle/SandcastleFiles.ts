/**
 * Files of sandcastles, and what was done to the library in them.
 *
 * Source: decisions.md §7 ("`GET …/{id}/files?path=`", "`GET …/{id}/library/diff`").
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { Changes } from "../change/Changes.ts"
import * as Proposing from "../change/Proposing.ts"
import { InvalidRequest } from "../error/Failure.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import { type UnifiedDiff, unifiedDiff } from "../library/UnifiedDiff.ts"
import * as LibraryStaging from "./LibraryStaging.ts"
import * as MediaType from "./MediaType.ts"
import type { SandcastleId } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import * as SandboxPath from "./SandboxPath.ts"
import * as SessionUse from "./SessionUse.ts"

/** A file to put into a session. */
export interface UploadRequest {
  /** The name of the file as it was sent. */
  readonly name: string
  /** Where it goes; one that ends in a slash is the folder that it goes into. Absent: `uploads/`. */
  readonly path?: string
  readonly content: Uint8Array
}

/** A file of a session. */
export interface DownloadedFile {
  readonly path: SandboxPath.SandboxPath
  readonly mediaType: string
  readonly content: Uint8Array
}

/** What was done to the library of a session, to show it. */
export interface LibraryDiff extends UnifiedDiff {
  readonly hasChanges: boolean
  /** What cannot be part of a change, and why. */
  readonly rejected: ReadonlyArray<LibraryStaging.RejectedEdit>
}

/** What is said of a change that is made of the edits in a session. */
export type LibraryProposal = Omit<Proposing.Proposal, "base" | "chatId" | "staged">

const parsed = (text: string, field?: string) => Effect.fromResult(SandboxPath.parse(text, field))

/** Where an upload goes. */
const destinationOf = ({ name, path }: UploadRequest): Result.Result<SandboxPath.SandboxPath, InvalidRequest> => {
  if (path !== undefined && !path.endsWith("/")) return SandboxPath.parse(path)
  const problem = name.includes("/") ? "must not have a slash" : SandboxPath.segmentProblem(name)
  if (problem !== undefined) return Result.fail(new InvalidRequest({ message: `file: the name ${problem}` }))
  return SandboxPath.parse(`${path ?? `${SandboxPath.uploads}/`}${name}`)
}

/** What goes into the library has a path of a library as well. */
const fitsLibrary = (path: SandboxPath.SandboxPath): Effect.Effect<void, InvalidRequest> => {
  const prefix = `${SandboxPath.library}/`
  if (!path.startsWith(prefix)) return Effect.void
  const within = LibraryPath.parse(path.slice(prefix.length))
  return Result.isSuccess(within)
    ? Effect.void
    : Effect.fail(new InvalidRequest({ message: `path: ${within.failure.message}` }))
}

/** Files over the sessions. */
export const make = Effect.gen(function* () {
  const sessions = yield* SessionUse.make
  const staging = yield* LibraryStaging.make
  const changes = yield* Changes
  const limits = yield* SandcastleLimits

  /** Whoever may not propose anything is told so before the session is used for it. */
  const filing: SessionUse.How = {
    action: "read",
    needs: "read",
    permit: (principal) => enforce(requires(principal, "library:propose"))
  }

  const recorded = (entry: AuditEntry) => () => Effect.succeed([entry])

  const staged = (id: SandcastleId, how: SessionUse.How = { action: "read", needs: "read" }) =>
    sessions.use(
      id,
      how,
      Effect.fnUntraced(function* (session, sandcastle) {
        const { before, contents, files } = yield* staging.mounted(sandcastle.organizationId, sandcastle.library)
        return {
          ...LibraryStaging.staged(sandcastle.library, before, contents, yield* session.diff(files)),
          chatId: sandcastle.chatId
        }
      })
    )

  return {
    /** The entries of a folder of the session; absent: of its root. */
    listFiles: Effect.fn("Sandcastles.listFiles")(function* (id: SandcastleId, path?: string) {
      const folder = path === undefined || path === "" ? undefined : yield* parsed(path.replace(/\/$/u, ""))
      return yield* sessions.use(id, { action: "list", needs: "read" }, (session) => session.list(folder))
    }),

    /** Puts a file into the session; answers where. */
    upload: Effect.fn("Sandcastles.upload")(function* (id: SandcastleId, file: UploadRequest) {
      const path = yield* Effect.fromResult(destinationOf(file))
      yield* fitsLibrary(path)
      if (file.content.length > limits.uploadBytes) {
        return yield* new InvalidRequest({ message: `file: must not be larger than ${limits.uploadBytes} bytes` })
      }
      yield* sessions.use(
        id,
        {
          action: "update",
          needs: "execute",
          record: recorded({
            action: "update",
            target: SessionUse.target(id),
            after: { uploaded: path, bytes: file.content.length }
          })
        },
        (session) => session.upload(path, file.content)
      )
      return path
    }),

    /** A file of the session. */
    download: Effect.fn("Sandcastles.download")(function* (id: SandcastleId, path: string) {
      const at = yield* parsed(path)
      const content = yield* sessions.use(id, { action: "read", needs: "read" }, (session) => session.download(at))
      const file: DownloadedFile = { path: at, mediaType: MediaType.ofName(at), content }
      return file
    }),

    /** Removes a file of the session. */
    removeFile: Effect.fn("Sandcastles.removeFile")(function* (id: SandcastleId, path: string) {
      const at = yield* parsed(path)
      yield* sessions.use(
        id,
        {
          action: "delete",
          needs: "execute",
          record: recorded({ action: "delete", target: SessionUse.target(id), before: { file: at } })
        },
        (session) => session.remove(at)
      )
    }),

    /** What was done to the library in the session since it was mounted: what a change of the library is made from. */
    stagedLibrary: Effect.fn("Sandcastles.stagedLibrary")((id: SandcastleId) => staged(id)),

    /** What was done to the library in the session, to show it. */
    libraryDiff: Effect.fn("Sandcastles.libraryDiff")(function* (id: SandcastleId) {
      const { changes: made, contents, rejected } = yield* staged(id)
      const diff: LibraryDiff = { hasChanges: made.length > 0, ...unifiedDiff(made, contents), rejected }
      return diff
    }),

    /**
     * Files what was done to the library in the session as a change, or as a further revision of one. Where there are
     * conflicts, the library of the session is made what is to be gone on from, with reject files.
     */
    proposeLibraryChange: Effect.fn("Sandcastles.proposeLibraryChange")(function* (
      id: SandcastleId,
      proposal: LibraryProposal
    ) {
      yield* Effect.fromResult(Proposing.shapeOf(proposal))
      const { mount, proposal: edits, chatId } = yield* staged(id, filing)
      const proposed = yield* changes.propose({
        ...proposal,
        ...(mount === undefined ? {} : { base: mount.commit }),
        ...(chatId === undefined ? {} : { chatId }),
        staged: edits
      })
      const { rejected } = proposed
      if (rejected !== undefined) {
        yield* sessions.use(
          id,
          { action: "update", needs: "execute" },
          Effect.fnUntraced(function* (session, sandcastle, principal) {
            const next = yield* staging.goingOn(principal, rejected)
            yield* session.mountLibrary(next.files)
            yield* sessions.remounted(sandcastle.id, next.mount)
          })
        )
      }
      return proposed
    })
  }
})
