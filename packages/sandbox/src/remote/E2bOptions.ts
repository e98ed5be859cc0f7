/**
 * How the adapter uses E2B.
 */
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"

/** What a host says. Everything but the key has a default. */
export interface Options {
  readonly apiKey: Redacted.Redacted
  /** The template that sandboxes are made of: E2B's own with Python 3.11 or later, pandas and matplotlib, by default. */
  readonly template?: string
  /** The packages that the template has, as sessions are told: numpy, pandas and matplotlib by default. */
  readonly packages?: ReadonlyArray<string>
  /** The program that runs Python in the template: `python3` by default. */
  readonly python?: string
  /** E2B's domain, where it is not the public one. */
  readonly domain?: string
  /** Address of the control plane, where it does not follow from the domain. */
  readonly apiUrl?: string
  /** Address through which sandboxes are reached, where it does not follow from the domain. */
  readonly sandboxUrl?: string
  /** Tells the sandboxes of one deployment from those of others in the same account: `castellan` by default. */
  readonly deployment?: string
  /**
   * How long a sandbox lives without a host: 5 minutes by default. A session that is open renews it. So it is also how
   * long a session can be taken up again after a crash of its host, and how long an orphan costs.
   */
  readonly lease?: Duration.Input
  /** How long E2B may take to make a sandbox: 1 minute by default. */
  readonly createTimeout?: Duration.Input
  /** How long E2B may take for any other call: 30 seconds by default. */
  readonly callTimeout?: Duration.Input
  /** Bytes of copies of files that are kept for each session: 64 MiB by default. 0: none are made. */
  readonly copiedBytes?: number
  /** Bytes of all copies: 512 MiB by default. */
  readonly allCopiedBytes?: number
}

/** Options with their defaults. */
export interface Settings {
  readonly apiKey: Redacted.Redacted
  readonly template: string
  readonly packages: ReadonlyArray<string>
  readonly python: string
  readonly deployment: string
  readonly lease: Duration.Duration
  readonly createTimeout: Duration.Duration
  readonly callTimeout: Duration.Duration
  readonly copiedBytes: number
  readonly allCopiedBytes: number
  /** Where E2B is, as its client takes it. */
  readonly place: { readonly domain?: string; readonly apiUrl?: string; readonly sandboxUrl?: string }
}

/** The settings that options mean. */
export const settings = (options: Options): Settings => ({
  apiKey: options.apiKey,
  template: options.template ?? "code-interpreter-v1",
  packages: options.packages ?? ["numpy", "pandas", "matplotlib"],
  python: options.python ?? "python3",
  deployment: options.deployment ?? "castellan",
  lease: Duration.fromInputUnsafe(options.lease ?? "5 minutes"),
  createTimeout: Duration.fromInputUnsafe(options.createTimeout ?? "1 minute"),
  callTimeout: Duration.fromInputUnsafe(options.callTimeout ?? "30 seconds"),
  copiedBytes: options.copiedBytes ?? 64 * 1024 * 1024,
  allCopiedBytes: options.allCopiedBytes ?? 512 * 1024 * 1024,
  place: {
    ...(options.domain === undefined ? {} : { domain: options.domain }),
    ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
    ...(options.sandboxUrl === undefined ? {} : { sandboxUrl: options.sandboxUrl })
  }
})
