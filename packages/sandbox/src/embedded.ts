/**
 * Sandboxes that need nothing but npm's packages, on every system that Deno has a program for: Pyodide and a shell, in
 * child processes that have no permission once they are loaded.
 *
 * A session is one process for its Python and, while it is used, one for its shell; a program in a fresh process is one
 * more. Its files are kept by the host, and each of them works on a copy: what an execution wrote is taken over when it
 * has ended. An execution that has to be killed loses what it wrote, and the session's Python its variables, which is
 * told.
 *
 * Without wheels Python has its standard library, SQLite, `castellan.sql` and light tables; `packages` names a folder of
 * Pyodide's wheels (numpy, pandas, matplotlib), which `castellan-sandbox-prefetch` fills once where there is a network.
 *
 * Source: decisions.md §7; issue "Sandcastles", "Embedded tier".
 */
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { EmbeddedOptions } from "./embedded/EmbeddedOptions.ts"
import type { EmbeddedUnavailable } from "./embedded/EmbeddedUnavailable.ts"
import * as EmbeddedTier from "./embedded/internal/EmbeddedTier.ts"
import * as KernelSession from "./session/KernelSession.ts"
import type { SandboxTier } from "./session/SandboxProcess.ts"

/**
 * The tier on its own: for an engine of sessions other than ours. Making it looks for what it needs, makes the memory
 * that interpreters start with where there is none yet (some seconds, once), and tries in a session everything that none
 * may do; it fails with the reason in words, and never starts anything weaker.
 */
export const tier = (options: EmbeddedOptions = {}): Effect.Effect<SandboxTier, EmbeddedUnavailable> =>
  EmbeddedTier.make(options)

/**
 * Sandboxes on this host. Where a `SqlExecutor` is provided to it, programs can ask for SQL (`castellan.sql`).
 */
export const layer = (options: EmbeddedOptions = {}): Layer.Layer<SandboxRuntime, EmbeddedUnavailable> =>
  Layer.unwrap(Effect.map(tier(options), KernelSession.layer))
