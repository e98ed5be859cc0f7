/**
 * Copies of what sessions made, kept by the host: a provider may lose a sandbox, also one that it says it kept.
 *
 * After each execution, the files that it made or changed are copied out before the execution counts as finished;
 * what the host uploads is kept as well. A session that is opened under the same tag where its sandbox was lost finds
 * them again. Its variables are gone, so it does not count as resumed. A session that is closed has no use for them.
 *
 * Memory is bounded: a file that there is no room for is not copied, and the log says so.
 */
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import type {
  ExecEvent,
  SandboxEntry,
  SandboxError,
  SandboxRuntime,
  SandboxSession,
  SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import { parse, type SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How much is kept. */
export interface Bounds {
  /** Bytes of one session. */
  readonly session: number
  /** Bytes of all sessions. The session that was lost longest ago gives way. */
  readonly total: number
}

class Copies {
  readonly #bounds: Bounds
  /** In the order in which the sessions were last added to. */
  readonly #sessions = new Map<SandcastleId, Map<SandboxPath, Uint8Array>>()
  readonly #open = new Set<SandcastleId>()

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  of(id: SandcastleId): ReadonlyArray<readonly [SandboxPath, Uint8Array]> {
    return [...(this.#sessions.get(id) ?? [])]
  }

  opened(id: SandcastleId): void {
    this.#open.add(id)
  }

  /** The session is closed; `lost` where its sandbox was, so that it may come again. */
  closed(id: SandcastleId, lost: boolean): void {
    this.#open.delete(id)
    if (!lost) this.#sessions.delete(id)
  }

  /** Whether a file of that size may be kept. */
  fits(id: SandcastleId, path: SandboxPath, size: number): boolean {
    return sizeOf(this.#sessions.get(id), path) + size <= this.#bounds.session
  }

  /** Keeps a file; false where there is no room. */
  keep(id: SandcastleId, path: SandboxPath, content: Uint8Array): boolean {
    this.forget(id, path)
    if (!this.fits(id, path, content.length)) return false
    for (const [other] of this.#sessions) {
      if (this.#total() + content.length <= this.#bounds.total) break
      if (!this.#open.has(other)) this.#sessions.delete(other)
    }
    if (this.#total() + content.length > this.#bounds.total) return false
    const files = this.#sessions.get(id) ?? new Map<SandboxPath, Uint8Array>()
    files.set(path, content)
    this.#sessions.delete(id)
    this.#sessions.set(id, files)
    return true
  }

  forget(id: SandcastleId, path: SandboxPath): void {
    this.#sessions.get(id)?.delete(path)
  }

  #total(): number {
    return [...this.#sessions.values()].reduce((sum, files) => sum + sizeOf(files), 0)
  }
}

const sizeOf = (files: ReadonlyMap<SandboxPath, Uint8Array> | undefined, without?: SandboxPath): number => {
  let size = 0
  for (const [path, content] of files ?? []) if (path !== without) size += content.length
  return size
}

const mostFiles = 1000

/** The folder that a file is in; nothing where that is the root. */
const folderOf = (path: SandboxPath): SandboxPath | undefined =>
  path.includes("/") ? Option.getOrUndefined(Result.getSuccess(parse(path.slice(0, path.lastIndexOf("/"))))) : undefined

/** The runtime with copies. */
export const make = (runtime: SandboxRuntime["Service"], bounds: Bounds): SandboxRuntime["Service"] => {
  const copies = new Copies(bounds)

  const keep = (id: SandcastleId, path: SandboxPath, content: Uint8Array): Effect.Effect<void> =>
    copies.keep(id, path, content)
      ? Effect.void
      : Effect.logWarning("There is no room for a copy of a file of a session", id, path, content.length)

  /** Copies one file out, if it is small enough. */
  const copy = Effect.fnUntraced(function* (
    session: SandboxSession,
    id: SandcastleId,
    path: SandboxPath,
    entries: ReadonlyArray<SandboxEntry>
  ) {
    const entry = entries.find((one) => one.path === path && one.kind === "file")
    if (entry === undefined) return
    if (!copies.fits(id, path, entry.size)) {
      yield* Effect.logWarning("There is no room for a copy of a file of a session", id, path, entry.size)
      return
    }
    yield* keep(id, path, yield* session.download(path))
  })

  const copyMade = Effect.fnUntraced(function* (session: SandboxSession, id: SandcastleId, event: ExecEvent) {
    if (event._tag !== "Finished") return
    const paths = event.files.slice(0, mostFiles).flatMap((text) => Option.toArray(Result.getSuccess(parse(text))))
    // Each folder is asked once: what is far away answers late.
    for (const [folder, made] of Map.groupBy(paths, folderOf)) {
      // The execution has ended as it has, whatever becomes of a copy. That the sandbox is gone will be seen.
      const entries = yield* Effect.catchTag(session.list(folder), "SandboxError", (error) =>
        Effect.as(Effect.logWarning("A folder of a session could not be copied", id, folder, error.message), [])
      )
      for (const path of made) {
        yield* Effect.catchTag(copy(session, id, path, entries), "SandboxError", (error) =>
          Effect.logWarning("A file of a session could not be copied", id, path, error.message)
        )
      }
    }
  })

  const open = Effect.fnUntraced(function* (
    spec: SandboxSpec
  ): Effect.fn.Return<SandboxSession, SandboxError, Scope.Scope> {
    const { id } = spec
    const session = yield* runtime.open(spec)
    let lost = false
    const notice = ({ reason }: SandboxError): Effect.Effect<void> =>
      Effect.sync(() => {
        lost ||= reason === "lost"
      })
    const noticing = <A>(effect: Effect.Effect<A, SandboxError>) => Effect.tapError(effect, notice)
    yield* Effect.acquireRelease(
      Effect.sync(() => copies.opened(id)),
      () => Effect.sync(() => copies.closed(id, lost))
    )
    if (!session.resumed) {
      for (const [path, content] of copies.of(id)) yield* noticing(session.upload(path, content))
    }
    return {
      resumed: session.resumed,
      exec: (request) =>
        session.exec(request).pipe(
          Stream.tap((event) => copyMade(session, id, event)),
          Stream.tapError(notice)
        ),
      interrupt: noticing(session.interrupt),
      bindDataframe: (name, table) => noticing(session.bindDataframe(name, table)),
      upload: (path, content) =>
        noticing(
          Effect.andThen(
            session.upload(path, content),
            Effect.suspend(() => keep(id, path, content))
          )
        ),
      download: (path) => noticing(session.download(path)),
      list: (path) => noticing(session.list(path)),
      remove: (path) =>
        noticing(
          Effect.andThen(
            session.remove(path),
            Effect.sync(() => copies.forget(id, path))
          )
        ),
      mountLibrary: (files) => noticing(session.mountLibrary(files)),
      diff: (base) => noticing(session.diff(base)),
      usage: noticing(session.usage)
    }
  })

  return { ...runtime, open }
}
