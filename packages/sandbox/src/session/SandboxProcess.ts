/**
 * What a tier gives to the engine of sessions: one supervisor, reached over a control channel, and the power to end it.
 *
 * The engine (`KernelSession.ts`) makes a `SandboxSession` of it: executions, nonces, limits, the interrupt that
 * becomes a kill after its grace, files and the library.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { SandboxCapabilities, SandboxError, SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Scope from "effect/Scope"

/** A session's processes, as a tier started them. */
export interface SandboxProcess {
  /**
   * True where these processes served the session before, with its variables and files: then the library is not
   * mounted anew, and the session says that it was resumed. Absent: false.
   */
  readonly resumed?: boolean
  /** Sends raw bytes of frames, in order; waits while the other side does not read. Fails as `lost` once it is gone. */
  readonly send: (bytes: Uint8Array) => Effect.Effect<void, SandboxError>
  /** The raw bytes that come out, until the session's processes are gone. Pulled: what is not read is held back. */
  readonly output: Stream.Stream<Uint8Array, SandboxError>
  /**
   * Takes the session's processes down from outside and puts others in their place, with the session's files as they
   * are: for a supervisor that does not answer `restart`, shares the interpreter's process, or ended with it. The new
   * process has its own `output`, whose first frame is `ready` with the nonce of the launch; the old one's is read no
   * more. It belongs to the scope of the launch. Fails as `lost` where it cannot be done; then the session is over.
   */
  readonly replaceInterpreter: Effect.Effect<SandboxProcess, SandboxError>
  /** Bytes of memory of all the session's processes, where the tier can tell; the supervisor is not asked. */
  readonly memoryBytes: Effect.Effect<number | undefined>
}

/** A tier: how it starts the processes of a session, and what it keeps. */
export interface SandboxTier {
  readonly capabilities: SandboxCapabilities
  /**
   * Starts a session's processes; closing the scope ends all of them. `nonce` is what the first `ready` frame must say.
   */
  readonly launch: (spec: SandboxSpec, nonce: string) => Effect.Effect<SandboxProcess, SandboxError, Scope.Scope>
}
