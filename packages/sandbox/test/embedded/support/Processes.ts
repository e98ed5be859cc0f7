/**
 * Processes of the system, as `/proc` tells them.
 */
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"

/** Why what asks for processes is skipped here; empty where it is not. */
export const withoutProc = process.platform === "linux" ? "" : "there is no /proc"

const statOf = (pid: number): ReadonlyArray<string> => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  } catch {
    // It ended while it was looked at.
    return []
  }
}

/** Whether a process runs; one that only waits to be collected does not. */
export const runs = (pid: number): boolean => !["Z", "X", undefined].includes(statOf(pid)[0])

/** The processes that a process started and that run. */
export const childrenOf = (parent: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[1] === String(parent) && runs(pid))

/** Waits until something holds. Whoever waits for what never comes is ended by the test's own limit. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("50 millis"), until(holds))))
