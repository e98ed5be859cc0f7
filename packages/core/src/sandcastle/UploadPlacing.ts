/**
 * The files of a chat in the sandcastle that serves it: there before anything runs in it, and when more come.
 *
 * Source: decisions.md §4 ("Multipart").
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { UploadId } from "../chat/Upload.ts"
import { UploadStore } from "../chat/UploadStore.ts"
import type { SandboxError, SandboxSession } from "./SandboxRuntime.ts"
import type { Sandcastle } from "./Sandcastle.ts"

/** What became of a file: it is there, or why it is not. */
type Placed = { readonly _tag: "There" } | { readonly _tag: "Missing"; readonly why: string }

/**
 * Puts those files of its chat into a session that it has not been given yet, the newest first, and answers which of all
 * are not there, a phrase each. What a program did to one that it was given stays. One that there is no room for, or no
 * place, is left out: the sandcastle of a chat with many files is of use without the oldest.
 */
export const make = Effect.gen(function* () {
  const uploads = yield* UploadStore
  const given = new WeakMap<SandboxSession, Map<UploadId, Placed>>()

  const missing = (path: string, { message, reason }: SandboxError): Effect.Effect<Placed> => {
    const why =
      reason === "exhausted" ? `there is no room for ${path} (${message})` : `${path} has no place: ${message}`
    return Effect.as(Effect.logWarning("a file of a chat is not in its sandcastle", why), { _tag: "Missing", why })
  }

  return Effect.fnUntraced(function* (session: SandboxSession, { chatId, organizationId }: Sandcastle) {
    if (chatId === undefined) return []
    const before = given.get(session) ?? new Map<UploadId, Placed>()
    given.set(session, before)
    const left: Array<string> = []
    for (const { id, path } of (yield* uploads.list(organizationId, chatId)).toReversed()) {
      let placed = before.get(id)
      if (placed === undefined) {
        const content = yield* uploads.content(organizationId, id)
        // Another of its name has taken its place meanwhile.
        if (Option.isNone(content)) continue
        placed = yield* session.upload(path, content.value).pipe(
          Effect.as<Placed>({ _tag: "There" }),
          Effect.catchIf(
            ({ reason }) => reason === "exhausted" || reason === "invalid",
            (error) => missing(path, error)
          )
        )
        before.set(id, placed)
      }
      if (placed._tag === "Missing") left.push(placed.why)
    }
    return left
  })
})
