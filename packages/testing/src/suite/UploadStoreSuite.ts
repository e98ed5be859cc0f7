/**
 * What every store of uploaded files keeps to.
 */
import { maxBytes, Upload, UploadId, pathOf } from "@castellan/core/chat/Upload"
import { UploadStore } from "@castellan/core/chat/UploadStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

/** Runs the contract of `UploadStore` against an adapter. */
export const suite = <E>(adapter: string, layer: Layer.Layer<UploadStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`UploadStore (${adapter})`, (it) => {
    const newChat = Effect.all({ organizationId: Sample.organizationId, chatId: Sample.chatId })

    /** A file, kept with its content. */
    const kept = Effect.fnUntraced(function* (
      chat: Effect.Success<typeof newChat>,
      name: string,
      content: Uint8Array = Uint8Array.of(1, 2, 3),
      createdAt: DateTime.Utc = at("2030-05-05T12:00:00.000Z")
    ) {
      const upload = new Upload({
        ...chat,
        id: UploadId.make(yield* Uuid.next),
        name,
        path: pathOf(name),
        mediaType: "text/csv",
        size: content.length,
        createdAt
      })
      yield* UploadStore.use((store) => store.save(upload, content))
      return upload
    })

    /** What is kept, in the same kind of array whatever the adapter answers with. */
    const contentOf = (upload: Upload, organizationId = upload.organizationId) =>
      UploadStore.use((store) =>
        Effect.map(
          store.content(organizationId, upload.id),
          Option.map((content) => Uint8Array.from(content))
        )
      )

    it.effect("gives back a file of the most bytes that one has", () =>
      Effect.gen(function* () {
        const bytes = new Uint8Array(maxBytes)
        for (let index = 0, state = 1; index < maxBytes; index++) {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
          bytes[index] = state >>> 16
        }
        const upload = yield* kept(yield* newChat, "most.csv", bytes)
        const content = Option.getOrThrow(
          yield* UploadStore.use((store) => store.content(upload.organizationId, upload.id))
        )
        assert.strictEqual(content.length, maxBytes)
        assert.strictEqual(Buffer.compare(content, bytes), 0, "byte for byte")
      })
    )

    it.effect("gives back each file, byte for byte, and lists them oldest first", () =>
      Effect.gen(function* () {
        const store = yield* UploadStore
        const chat = yield* newChat
        const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 256)
        const late = yield* kept(chat, "Umsätze 🚀.csv", bytes, at("2030-05-05T12:00:00.001Z"))
        const [first, second] = [yield* kept(chat, "b.csv", new Uint8Array()), yield* kept(chat, "a.csv")]
        assertSame(yield* store.list(chat.organizationId, chat.chatId), [first, second, late])
        assert.deepStrictEqual(yield* contentOf(late), Option.some(bytes))
        assert.deepStrictEqual(yield* contentOf(first), Option.some(new Uint8Array()))
      })
    )

    it.effect("a file of the same path takes the place of the earlier one, in its own chat alone", () =>
      Effect.gen(function* () {
        const store = yield* UploadStore
        const chat = yield* newChat
        const other = { ...(yield* newChat), organizationId: chat.organizationId }
        const [before, elsewhere] = [yield* kept(chat, "a.csv"), yield* kept(other, "a.csv")]
        const after = yield* kept(chat, "a.csv", Uint8Array.of(4), at("2030-05-06T12:00:00.000Z"))
        assertSame(yield* store.list(chat.organizationId, chat.chatId), [after])
        assert.deepStrictEqual(yield* contentOf(before), Option.none())
        assert.deepStrictEqual(yield* contentOf(after), Option.some(Uint8Array.of(4)))
        assertSame(yield* store.list(other.organizationId, other.chatId), [elsewhere])
        yield* Effect.forEach([1, 2, 3, 4, 5, 6], (byte) => kept(chat, "a.csv", Uint8Array.of(byte)), {
          concurrency: "unbounded"
        })
        assert.strictEqual((yield* store.list(chat.organizationId, chat.chatId)).length, 1)
      })
    )

    it.effect("has nothing of another organization, and removes the files of one chat alone", () =>
      Effect.gen(function* () {
        const store = yield* UploadStore
        const chat = yield* newChat
        const other = yield* newChat
        const [one, two] = [yield* kept(chat, "a.csv"), yield* kept(other, "a.csv")]
        assertSame(yield* store.list(other.organizationId, chat.chatId), [])
        assert.deepStrictEqual(yield* contentOf(one, other.organizationId), Option.none())
        yield* store.removeOf(other.organizationId, chat.chatId)
        assert.isTrue(Option.isSome(yield* contentOf(one)))
        yield* store.removeOf(chat.organizationId, chat.chatId)
        assert.isTrue(Option.isNone(yield* contentOf(one)))
        assert.isTrue(Option.isSome(yield* contentOf(two)))
      })
    )
  })
}
