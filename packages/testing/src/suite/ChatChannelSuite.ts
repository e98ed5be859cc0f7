/**
 * What every chat channel keeps to. The adapter's test says where its posts arrive, and what a reader sees of them.
 */
import { ChatChannel } from "@castellan/core/delivery/ChatChannel"
import type { ChatPost } from "@castellan/core/delivery/ChatPost"
import { ChatChannelId, ChatUserId, DeliveryId } from "@castellan/core/delivery/Delivery"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

/** Runs the contract of `ChatChannel` against an adapter; `arrived` reads the words of each post of a channel. */
export const suite = <E, R>(
  name: string,
  layer: Layer.Layer<ChatChannel | R, E>,
  arrived: (channelId: ChatChannelId) => Effect.Effect<ReadonlyArray<string>, never, R>
): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ChatChannel (${name})`, (it) => {
    const newPost = Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      const run = yield* AutomationSample.playbookRun(principal, yield* AutomationSample.playbook(principal))
      const report = yield* AutomationSample.report(run)
      const key = yield* Uuid.next
      const post: ChatPost = {
        idempotencyKey: DeliveryId.make(key),
        organizationId: principal.organizationId,
        channelId: ChatChannelId.make(`C${key}`),
        taggedUserIds: [ChatUserId.make("U1")],
        report,
        text: "Weekly sales\n\nSales: 1,200 €\n",
        images: []
      }
      return post
    })

    it.effect("posts a report to its channel, and to no other", () =>
      Effect.gen(function* () {
        const channel = yield* ChatChannel
        const [post, other] = [yield* newPost, yield* newPost]
        yield* channel.post(post)
        const [words, ...others] = yield* arrived(post.channelId)
        assert.deepStrictEqual(others, [])
        assert.include(words, "Weekly sales")
        assert.include(words, "1,200 €")
        assert.include(words, "U1")
        assert.deepStrictEqual(yield* arrived(other.channelId), [])
      })
    )

    it.effect("drops what it has posted before, where it says so", () =>
      Effect.gen(function* () {
        const channel = yield* ChatChannel
        const post = yield* newPost
        yield* channel.post(post)
        yield* channel.post(post)
        const count = (yield* arrived(post.channelId)).length
        if (channel.deduplicates) assert.strictEqual(count, 1)
        else assert.isAtLeast(count, 1)
      })
    )
  })
}
