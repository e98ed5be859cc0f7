/**
 * An identity provider of the loopback interface: keys of every kind that it signs tokens with, and the address where
 * it publishes them, which can be broken in the ways that such addresses break.
 */
import { createServer, type ServerResponse } from "node:http"
import { Effect } from "effect"
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose"

/** A pair of keys of the provider. */
export interface ProviderKey {
  readonly id: string
  readonly algorithm: string
  /** The public half, as it is published. */
  readonly published: JWK
  /** A token of some claims; `header` is added to the one that names the key. */
  readonly sign: (claims: JWTPayload, header?: Record<string, unknown>) => Effect.Effect<string>
}

/** Makes a pair of keys. */
export const key = (id: string, algorithm = "ES256"): Effect.Effect<ProviderKey> =>
  Effect.promise(async () => {
    const { privateKey, publicKey } = await generateKeyPair(algorithm)
    return {
      id,
      algorithm,
      published: { ...(await exportJWK(publicKey)), kid: id, alg: algorithm, use: "sig" },
      sign: (claims, header = {}) =>
        Effect.promise(() =>
          new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: id, ...header }).sign(privateKey)
        )
    }
  })

/** How the address answers. */
export type Answer = (response: ServerResponse) => void

/** Publishes keys. */
export const publishing =
  (keys: ReadonlyArray<ProviderKey | JWK>): Answer =>
  (response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ keys: keys.map((one) => ("published" in one ? one.published : one)) }))
  }

/** Answers with an error. */
export const broken: Answer = (response) => {
  response.statusCode = 500
  response.end()
}

/** Never answers. */
export const silent: Answer = () => {}

/** The address where the keys are. */
export interface KeyServer {
  readonly url: URL
  /** How often it was asked. */
  readonly asked: () => number
  /** Answers in this way from now on. */
  readonly answer: (how: Answer) => void
}

/** Serves keys at an address of its own until the scope closes. */
export const serve = (first: Answer) =>
  Effect.acquireRelease(
    Effect.callback<KeyServer & { readonly close: () => void }>((resume) => {
      let asked = 0
      let how = first
      const server = createServer((_request, response) => {
        asked += 1
        how(response)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(
          Effect.succeed({
            url: new URL(`http://127.0.0.1:${port}/jwks.json`),
            asked: () => asked,
            answer: (next) => {
              how = next
            },
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    (server) => Effect.sync(server.close)
  )

const pause = Effect.callback<void>((resume) => {
  setTimeout(() => resume(Effect.void), 2)
})

/** Waits, by the machine's clock, until something holds. */
export const until = Effect.fnUntraced(function* <R>(condition: Effect.Effect<boolean, never, R>) {
  for (let round = 0; round < 2_500; round++) {
    if (yield* condition) return
    yield* pause
  }
  return yield* Effect.die(new Error("it did not come about within five seconds"))
})

/** The member and the organization of the tokens of a test. */
export const subject = "0197c0de-0000-7000-8000-000000000001"
export const organization = "0197c0de-0000-7000-8000-000000000002"

/** Claims that are taken, with others in their place. */
export const claims = (other: JWTPayload = {}): JWTPayload => ({
  iss: "castellan",
  aud: "castellan",
  sub: subject,
  org: organization,
  exp: 1_000,
  ...other
})
