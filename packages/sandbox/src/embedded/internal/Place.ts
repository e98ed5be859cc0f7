/**
 * A child process of an embedded session with the files that it has: it follows the session's own, which the host keeps.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { DenoChild } from "./DenoChild.ts"
import type { Change, Copy, HostFiles } from "./HostFiles.ts"

/** A child with the files that it has. */
export interface Place {
  readonly child: DenoChild
  readonly scope: Scope.Closeable
  copy: Copy
}

/** How a child is started: it goes with the scope. */
export type Start = Effect.Effect<DenoChild, SandboxError, Scope.Scope>

/** Starts a child that goes when it is closed, or at the latest with the session's scope. It has no files yet. */
export const launch = Effect.fnUntraced(function* (start: Start, session: Scope.Scope) {
  const scope = yield* Scope.fork(session)
  const child = yield* Scope.provide(start, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
  const place: Place = { child, scope, copy: new Map() }
  return place
})

/** Ends a child, where there is one; completes when it is gone. */
export const close = (place: Place | undefined): Effect.Effect<void> =>
  place === undefined ? Effect.void : Scope.close(place.scope, Exit.void)

/** Gives a child the files that it lacks. */
export const follow = Effect.fnUntraced(function* (place: Place, files: HostFiles) {
  const { contents, edits } = files.editsFor(place.copy)
  if (edits.length === 0) return
  place.copy = files.copy
  yield* place.child.tell({ op: "files", edits }, contents)
})

/**
 * Notes that the session's files took over what a child had changed. What the host wrote in the meantime, the child has
 * not; what the child wrote, it has.
 */
export const noteChanges = (place: Place, files: HostFiles, changes: ReadonlyArray<Change>): void => {
  if (changes.length === 0) return
  const copy = new Map(place.copy)
  const now = files.copy
  for (const { path } of changes) {
    const entry = now.get(path)
    if (entry === undefined) copy.delete(path)
    else copy.set(path, entry)
  }
  place.copy = copy
}
