/**
 * The sandboxes of a deployment at E2B: found by the tag of their session, made where there is none, ended.
 *
 * A sandbox is tagged before it exists, so one that was made while the answer was lost is found and not made twice. It
 * lives by a lease that only an open session renews: what nobody knows of any more ends by itself.
 */
import type { SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import { Sandbox, type SandboxInfo } from "@e2b/code-interpreter"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type { Settings } from "./E2bOptions.ts"
import * as RemoteProvider from "./RemoteProvider.ts"
import { patiently, ProviderFailure } from "./RemoteProvider.ts"

const tags = {
  deployment: "castellan-deployment",
  organization: "castellan-organization",
  session: "castellan-session",
  attempt: "castellan-attempt"
} as const

/** Whose a sandbox is. */
export type Owner = Pick<SandboxSpec, "id" | "organizationId">

/** A sandbox as it is told, without a connection to it. */
export interface Listed {
  readonly id: string
  readonly session: string
  /** Empty where it was made without one. */
  readonly organization: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** The sandboxes of a deployment. */
export interface E2bSandboxes {
  /** The sandbox of a session: the one that is there, or a new one. `attempt` must be one that was never used. */
  readonly obtain: (owner: Owner, attempt: string) => Effect.Effect<Sandbox, ProviderFailure>
  /** A new sandbox for a session that never had one. Who is interrupted leaves none behind. */
  readonly make: (owner: Owner, attempt: string) => Effect.Effect<Sandbox, ProviderFailure>
  /** Keeps a sandbox alive for another lease. */
  readonly renew: (sandbox: Sandbox) => Effect.Effect<void, ProviderFailure>
  /** Ends a sandbox, which may be gone. */
  readonly end: (id: string) => Effect.Effect<void, ProviderFailure>
  /** All sandboxes of the deployment. */
  readonly list: Effect.Effect<ReadonlyArray<Listed>, ProviderFailure>
}

/** Speaks with E2B. */
export const make = (settings: Settings): E2bSandboxes => {
  const key = Redacted.value(settings.apiKey)
  const connection = {
    ...settings.place,
    apiKey: key,
    debug: false,
    // Whoever calls has a deadline, and knows what may be repeated.
    requestTimeoutMs: 0,
    retries: 0
  }
  const lease = Duration.toMillis(settings.lease)

  /** A call with the key, which no failure tells: who refuses to send one that is malformed quotes it. */
  const call: typeof RemoteProvider.call = (what, timeout, run) =>
    Effect.mapError(
      RemoteProvider.call(what, timeout, run),
      ({ detail, reason }) =>
        new ProviderFailure({ reason, detail: key === "" ? detail : detail.replaceAll(key, "<redacted>") })
    )

  const find = (metadata: Readonly<Record<string, string>>) =>
    patiently(
      call("list", settings.callTimeout, async (signal) => {
        const found: Array<SandboxInfo> = []
        const pages = Sandbox.list({ ...connection, query: { metadata, state: ["running", "paused"] } })
        while (pages.hasNext) {
          // A page names the next one.
          // oxlint-disable-next-line no-await-in-loop
          found.push(...(await pages.nextItems({ signal })))
        }
        // What the provider was asked for is not what it must have answered.
        return found
          .filter((info) => Object.entries(metadata).every(([name, value]) => info.metadata[name] === value))
          .toSorted((one, other) => one.startedAt.getTime() - other.startedAt.getTime())
      })
    )

  const end = (id: string) =>
    Effect.asVoid(
      patiently(call("kill", settings.callTimeout, (signal) => Sandbox.kill(id, { ...connection, signal })))
    )

  const connect = (id: string) =>
    patiently(
      call("connect", settings.callTimeout, (signal) =>
        Sandbox.connect(id, { ...connection, signal, timeoutMs: lease })
      )
    )

  const create = ({ id, organizationId }: Owner, attempt: string) =>
    call("create", settings.createTimeout, (signal) =>
      Sandbox.create(settings.template, {
        ...connection,
        signal,
        timeoutMs: lease,
        secure: true,
        allowInternetAccess: false,
        network: { denyOut: ["0.0.0.0/0"], allowPublicTraffic: false },
        lifecycle: { onTimeout: "kill" },
        metadata: {
          [tags.deployment]: settings.deployment,
          [tags.organization]: organizationId,
          [tags.session]: id,
          [tags.attempt]: attempt
        }
      })
    )

  /** Ends what an attempt made after all, whenever that comes to light within a minute. */
  const forget = (attempt: string) =>
    find({ [tags.deployment]: settings.deployment, [tags.attempt]: attempt }).pipe(
      Effect.flatMap((found) => Effect.forEach(found, ({ sandboxId }) => end(sandboxId), { discard: true })),
      // Each time anew: a provider that just failed is the one that may fail again.
      Effect.ignore({
        log: "Warn",
        message: "Whether a sandbox was made in vain cannot be told now; its lease will end it"
      }),
      Effect.repeat({ times: 3, schedule: Schedule.exponential("2 seconds", 3) })
    )

  /** Makes a sandbox. Where the answer is lost, the sandbox may be there all the same, and is then the one. */
  const made = (owner: Owner, attempt: string): Effect.Effect<Sandbox, ProviderFailure> =>
    create(owner, attempt).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "silent" || reason === "busy",
        (failure) =>
          find({ [tags.deployment]: settings.deployment, [tags.attempt]: attempt }).pipe(
            Effect.flatMap(([first]) => (first === undefined ? Effect.fail(failure) : connect(first.sandboxId))),
            Effect.tapError(() => Effect.forkDetach(forget(attempt)))
          )
      ),
      Effect.onInterrupt(() => Effect.forkDetach(forget(attempt)))
    )

  const obtain: E2bSandboxes["obtain"] = Effect.fnUntraced(function* (owner, attempt) {
    const [first, ...others] = yield* find({ [tags.deployment]: settings.deployment, [tags.session]: owner.id })
    // Two hosts made one each. The older one is the session, here and for the other host.
    for (const { sandboxId } of others) yield* end(sandboxId)
    if (first !== undefined) {
      const taken = yield* connect(first.sandboxId).pipe(
        // It ended between the list and the connection.
        Effect.catchIf(
          ({ reason }) => reason === "gone",
          () => Effect.undefined
        )
      )
      if (taken !== undefined) return taken
    }
    return yield* made(owner, attempt)
  })

  return {
    obtain,
    make: made,
    end,
    renew: (sandbox) =>
      patiently(call("renew", settings.callTimeout, (signal) => sandbox.setTimeout(lease, { signal }))),
    list: Effect.map(find({ [tags.deployment]: settings.deployment }), (found) =>
      found.map(({ metadata, sandboxId, startedAt }) => ({
        id: sandboxId,
        session: metadata[tags.session] ?? "",
        organization: metadata[tags.organization] ?? "",
        startedAt: startedAt.getTime()
      }))
    )
  }
}
