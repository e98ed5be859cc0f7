/**
 * The files of a chat in the sandcastle that serves it: there before anything runs in it, and when more come.
 *
 * Source: decisions.md §4 ("Multipart").
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { UploadId } from "../chat/Upload.ts"
import { UploadStore } from "../chat/UploadStore.ts"
import type { SandboxSession } from "./SandboxRuntime.ts"
import type { Sandcastle } from "./Sandcastle.ts"

/**
 * Puts those files of its chat into a session that it has not been given yet. What a program did to one that it was
 * given stays.
 */
export const make = Effect.gen(function* () {
  const uploads = yield* UploadStore
  const given = new WeakMap<SandboxSession, Set<UploadId>>()

  return Effect.fnUntraced(function* (session: SandboxSession, { chatId, organizationId }: Sandcastle) {
    if (chatId === undefined) return
    const there = given.get(session) ?? new Set<UploadId>()
    given.set(session, there)
    for (const { id, path } of yield* uploads.list(organizationId, chatId)) {
      if (there.has(id)) continue
      const content = yield* uploads.content(organizationId, id)
      if (Option.isSome(content)) yield* session.upload(path, content.value)
      there.add(id)
    }
  })
})
