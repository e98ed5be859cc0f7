/**
 * The port that keeps the files that came with questions, for as long as their chat is kept.
 *
 * Source: decisions.md §4 ("Multipart").
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { ChatId } from "./Chat.ts"
import type { Upload, UploadId } from "./Upload.ts"

/** Keeps uploaded files. No answer ever holds one of another organization. */
export class UploadStore extends Context.Service<
  UploadStore,
  {
    /** Keeps a file with its content, in place of the one that its chat has at the same path. */
    readonly save: (upload: Upload, content: Uint8Array) => Effect.Effect<void>
    /** The files of a chat, oldest first. */
    readonly list: (organizationId: OrganizationId, chatId: ChatId) => Effect.Effect<ReadonlyArray<Upload>>
    /** What a file holds, byte for byte; nothing where there is none, or another has taken its place. */
    readonly content: (organizationId: OrganizationId, id: UploadId) => Effect.Effect<Option.Option<Uint8Array>>
    /** Removes the files of a chat. */
    readonly removeOf: (organizationId: OrganizationId, chatId: ChatId) => Effect.Effect<void>
  }
>()("@castellan/core/chat/UploadStore") {}

interface KeptUpload {
  readonly upload: Upload
  readonly content: Uint8Array
}

const oldestFirst = (a: Upload, b: Upload): number =>
  DateTime.toEpochMillis(a.createdAt) - DateTime.toEpochMillis(b.createdAt) || (a.id < b.id ? -1 : 1)

/** Keeps uploaded files in memory. */
export const layerMemory: Layer.Layer<UploadStore> = Layer.effect(
  UploadStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<UploadId, KeptUpload>()
    const isOf =
      (organizationId: OrganizationId, chatId: ChatId) =>
      ({ upload }: KeptUpload) =>
        upload.organizationId === organizationId && upload.chatId === chatId
    return UploadStore.of({
      save: (upload, content) =>
        table.modify((rows) => {
          const isSame = isOf(upload.organizationId, upload.chatId)
          const replaced = [...rows.values()].filter((kept) => isSame(kept) && kept.upload.path === upload.path)
          return [
            undefined,
            [
              ...replaced.map((kept): readonly [UploadId, undefined] => [kept.upload.id, undefined]),
              [upload.id, { upload, content: content.slice() }]
            ]
          ]
        }),
      list: (organizationId, chatId) =>
        Effect.map(table.where(isOf(organizationId, chatId)), (found) =>
          found.map(({ upload }) => upload).toSorted(oldestFirst)
        ),
      content: (organizationId, id) =>
        Effect.map(table.get(id), (kept) =>
          Option.map(
            Option.filter(kept, ({ upload }) => upload.organizationId === organizationId),
            ({ content }) => content
          )
        ),
      removeOf: (organizationId, chatId) =>
        Effect.flatMap(table.where(isOf(organizationId, chatId)), (found) =>
          Effect.forEach(found, ({ upload }) => table.remove(upload.id), { discard: true })
        )
    })
  })
)
