/**
 * What every mailer keeps to. The adapter's test says where its mails arrive.
 */
import { DeliveryId } from "@castellan/core/delivery/Delivery"
import type { Mail } from "@castellan/core/delivery/Mail"
import { Mailer } from "@castellan/core/delivery/Mailer"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { EmailAddress } from "@castellan/core/member/EmailAddress"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerCrypto } from "../fixture/Deployment.ts"

/** What arrived in one mailbox, in order: what every mail service passes on as it was. */
export type ArrivedMail = Pick<Mail, "subject" | "html" | "text" | "images">

/** Runs the contract of `Mailer` against an adapter; `arrived` reads a mailbox. */
export const suite = <E, R>(
  name: string,
  layer: Layer.Layer<Mailer | R, E>,
  arrived: (address: EmailAddress) => Effect.Effect<ReadonlyArray<ArrivedMail>, never, R>
): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`Mailer (${name})`, (it) => {
    const newMail = Effect.gen(function* () {
      const key = yield* Uuid.next
      const mail: Mail = {
        idempotencyKey: DeliveryId.make(key),
        to: EmailAddress.make(`${key}@example.org`),
        subject: "Ünï 🚀: up 4 %",
        html: '<!DOCTYPE html>\n<html><body><p>Up <strong>4 %</strong> 🚀</p><img src="cid:chart" alt="" /></body></html>\n',
        text: "Up 4 % 🚀\n.\n. a line of one dot\n",
        images: [
          {
            contentId: "chart",
            mediaType: "image/png",
            content: Uint8Array.from({ length: 3000 }, (_, index) => (index * 31) % 256)
          }
        ]
      }
      return mail
    })

    const said = ({ html, images, subject, text }: ArrivedMail): ArrivedMail => ({
      subject,
      html,
      text,
      images: images.map(({ content, contentId, mediaType }) => ({
        contentId,
        mediaType,
        content: Uint8Array.from(content)
      }))
    })

    it.effect("sends a mail as it is: subject, both texts and pictures", () =>
      Effect.gen(function* () {
        const mailer = yield* Mailer
        const mail = yield* newMail
        yield* mailer.send(mail)
        assert.deepStrictEqual((yield* arrived(mail.to)).map(said), [said(mail)])
      })
    )

    it.effect("sends it to nobody else", () =>
      Effect.gen(function* () {
        const mailer = yield* Mailer
        const [one, other] = [yield* newMail, yield* newMail]
        yield* mailer.send(one)
        assert.deepStrictEqual(yield* arrived(other.to), [])
      })
    )

    it.effect("drops what it has sent before, where it says so", () =>
      Effect.gen(function* () {
        const mailer = yield* Mailer
        const mail = yield* newMail
        yield* mailer.send(mail)
        yield* mailer.send(mail)
        const count = (yield* arrived(mail.to)).length
        if (mailer.deduplicates) assert.strictEqual(count, 1)
        else assert.isAtLeast(count, 1)
      })
    )
  })
}
