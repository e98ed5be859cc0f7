/**
 * Sandboxes of Linux: real CPython and a real shell in namespaces of their own, behind a filter of system calls and hard
 * limits, started in milliseconds because everything was imported before. They share the machine's kernel.
 *
 * It needs Linux 5.14 or newer on x86-64 or ARM64, bubblewrap, Python 3.11 or newer, and namespaces for users who are
 * not root. Where something is missing, or a promise does not hold, the layer fails with `LinuxUnavailable`, which says
 * what and how to mend it: nothing weaker starts instead.
 *
 * Source: issue "Sandcastles"; decisions.md §7.
 */
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as LinuxTier from "./linux/internal/LinuxTier.ts"
import { defaultLimits, type LinuxLimits } from "./linux/LinuxLimits.ts"
import type { LinuxUnavailable } from "./linux/LinuxUnavailable.ts"
import * as KernelSession from "./session/KernelSession.ts"
import type { SandboxTier } from "./session/SandboxProcess.ts"

/** How the sandboxes of a host are made. */
export interface LinuxOptions {
  /** What a session may use, where it is not the default. */
  readonly limits?: Partial<LinuxLimits>
  /**
   * A folder that holds a Python and its commands, as `linux/PythonRoot` builds it. Absent: the host's own `/usr`,
   * read-only, without `/usr/local`.
   */
  readonly root?: string
  /** The Python, where there is no `root`. Absent: `/usr/bin/python3`. */
  readonly python?: string
  /** The path of bubblewrap, where it is at none of the usual places. */
  readonly bubblewrap?: string
  /** Who sandboxes run as where the host is root; absent: 65534, which is nobody. Never root. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /**
   * The path of a control group of version 2 that is delegated and empty. With it, the system itself bounds the memory
   * and the processors of a session; without, memory is watched, and what is above its limit is killed.
   */
  readonly controlGroup?: string
  /** The folder in which the host keeps its private one. Absent: the system's for temporary files. */
  readonly folder?: string
  /** Sessions after which the process that they are forked from is replaced, with the layout of its memory. */
  readonly sessionsPerServer?: number
}

/** The tier on its own: for an engine of sessions other than ours. Ends with its scope. */
export const tier = ({ limits, ...options }: LinuxOptions = {}): Effect.Effect<
  SandboxTier,
  LinuxUnavailable,
  Scope.Scope
> =>
  LinuxTier.make({
    root: undefined,
    python: undefined,
    bubblewrap: undefined,
    user: undefined,
    controlGroup: undefined,
    folder: undefined,
    sessionsPerServer: 500,
    ...options,
    limits: { ...defaultLimits, ...limits }
  })

/** The sandboxes of this host. Sessions, processes, mounts and folders are gone when the layer's scope closes. */
export const layer = (options?: LinuxOptions): Layer.Layer<SandboxRuntime, LinuxUnavailable> =>
  Layer.unwrap(Effect.map(tier(options), KernelSession.layer))
