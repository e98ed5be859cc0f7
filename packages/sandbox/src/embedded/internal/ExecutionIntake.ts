/**
 * What the host takes of an execution in a child process: which reports go on to the engine, which are the files that
 * changed, and which is the end.
 */
import type { ChildReport } from "./ChildReport.ts"
import type { Told } from "./DenoChild.ts"
import type { FileRoom } from "./FileRoom.ts"
import { type Change, type FileLimits, type FileRefusal, nameLimit } from "./HostFiles.ts"

/** How a program said that it ended. */
export type Ending = Pick<
  Extract<ChildReport, { readonly event: "finished" }>,
  "changed" | "dataframes" | "dropped_bytes" | "exit_code" | "outcome"
>

const unknownEnding: Ending = { outcome: "failed", exit_code: 1, dataframes: [], changed: [], dropped_bytes: 0 }

/** Reports of one execution beside its output: more than any that is meant well has. Each costs the host time. */
const maximumReports = 200_000

/** A file whose content comes in pieces; of one that there is no room for, they are let go. */
interface Filling {
  readonly content: Uint8Array | undefined
  readonly size: number
  filled: number
}

/**
 * The reports of one execution, in their order.
 *
 * What changed is held until the end, when the session's files take it over or do not. So it is bounded as they are:
 * contents, names, and the room that all sessions have together. Beyond that nothing is kept, and the end tells so.
 */
export class ExecutionIntake {
  readonly changes: Array<Change> = []
  ending: Ending = unknownEnding
  /** Why not all changes were kept, where they were not. */
  refusal: FileRefusal | undefined
  readonly #limits: FileLimits
  readonly #room: FileRoom
  #left: number
  #bytes = 0
  #names = 0
  #reports = 0
  #file: Filling | undefined

  /** `outputBytes`: what the child may pass on of the program's output; it counts the rest itself. */
  constructor(outputBytes: number, limits: FileLimits, room: FileRoom) {
    this.#left = outputBytes
    this.#limits = limits
    this.#room = room
  }

  /** Gives the room back that the changes took; whoever keeps them takes it anew. */
  release(): void {
    this.#room.take(-this.#bytes)
    this.#bytes = 0
  }

  /** `pass`: the engine hears it. */
  take({ head, payload }: Told): "breach" | "last" | "more" | "pass" {
    // A file that was begun is told to its end first.
    if (this.#file !== undefined && head.event !== "more") return "breach"
    if (head.event === "output") {
      this.#left -= payload.length
      // One that says nothing is none, and could be said without end.
      return this.#left < 0 || payload.length === 0 ? "breach" : "pass"
    }
    this.#reports += 1
    if (this.#reports > maximumReports) return "breach"
    switch (head.event) {
      case "rich":
        return head.forms.reduce((sum, form) => sum + form.bytes, 0) === payload.length ? "pass" : "breach"
      case "error":
      case "data":
      case "call":
        return "pass"
      case "changed":
        return this.#changed(head, payload)
      case "more":
        return this.#file === undefined ? "breach" : this.#fill(this.#file, payload)
      case "finished":
        this.ending = head
        return "last"
      default:
        return "breach"
    }
  }

  #refuse(message: string): false {
    this.refusal ??= { reason: "exhausted", message }
    return false
  }

  /** Whether a change can be kept; what it needs is taken. */
  #holds(names: number, size: number): boolean {
    // What goes and what comes in its place: twice what there may be.
    if (this.changes.length >= 2 * this.#limits.count) return this.#refuse("the session has too many files")
    if (this.#names + names > 2 * nameLimit(this.#limits)) {
      return this.#refuse("the names of the session's files are too long together")
    }
    if (this.#bytes + size > this.#limits.bytes) return this.#refuse("the session's files are full")
    if (!this.#room.take(size)) return this.#refuse("the server has no room for more files of sandboxes")
    this.#names += names
    this.#bytes += size
    return true
  }

  #changed(
    { kind, path, size, target = "" }: Extract<ChildReport, { readonly event: "changed" }>,
    payload: Uint8Array
  ): "breach" | "more" {
    if (payload.length > size || (kind !== "file" && size > 0)) return "breach"
    const held = this.refusal === undefined && this.#holds(path.length + target.length, size)
    if (kind !== "file") {
      if (held) this.changes.push(kind === "link" ? { path, kind, target } : { path, kind })
      return "more"
    }
    const content = held ? (payload.length === size ? payload : new Uint8Array(size)) : undefined
    if (content !== undefined) this.changes.push({ path, kind, content })
    if (payload.length === size) return "more"
    this.#file = { content, size, filled: 0 }
    return this.#fill(this.#file, payload)
  }

  #fill(file: Filling, payload: Uint8Array): "breach" | "more" {
    if (payload.length === 0 || file.filled + payload.length > file.size) return "breach"
    file.content?.set(payload, file.filled)
    file.filled += payload.length
    if (file.filled === file.size) this.#file = undefined
    return "more"
  }
}
