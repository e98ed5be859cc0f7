/**
 * The port that makes session tokens and reads them: JSON Web Tokens, signed by the deployment. What a token says is
 * believed when it is one of ours, unaltered; whether it still holds is decided by `SessionPolicy`.
 *
 * Source: decisions.md §3 ("mints a session token: a JWT").
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { Session } from "./Session.ts"

/** Signs and reads session tokens. */
export class SessionTokens extends Context.Service<
  SessionTokens,
  {
    /** The session's token, in the compact form of RFC 7519. */
    readonly sign: (session: Session) => Effect.Effect<Redacted.Redacted<string>>
    /**
     * What a token says; nothing where it is none of this deployment's, was altered in any part, or is signed by
     * another algorithm or not at all. Its expiry is not looked at.
     */
    readonly read: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<Session>>
  }
>()("@castellan/core/session/SessionTokens") {}
