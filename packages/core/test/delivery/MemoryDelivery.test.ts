import * as ChatChannel from "@castellan/core/delivery/ChatChannel"
import * as Mailer from "@castellan/core/delivery/Mailer"
import * as Outbox from "@castellan/core/delivery/Outbox"
import * as ChatChannelSuite from "@castellan/testing/suite/ChatChannelSuite"
import * as MailerSuite from "@castellan/testing/suite/MailerSuite"
import { Effect, Layer } from "effect"

MailerSuite.suite("memory", Mailer.layerMemory.pipe(Layer.provideMerge(Outbox.layerMemory)), (address) =>
  Outbox.Outbox.use((outbox) => Effect.map(outbox.mails, (mails) => mails.filter(({ to }) => to === address)))
)

ChatChannelSuite.suite("memory", ChatChannel.layerMemory.pipe(Layer.provideMerge(Outbox.layerMemory)), (channelId) =>
  Outbox.Outbox.use((outbox) =>
    Effect.map(outbox.posts, (posts) =>
      posts
        .filter((post) => post.channelId === channelId)
        .map(({ taggedUserIds, text }) => `${taggedUserIds.join(" ")} ${text}`)
    )
  )
)
