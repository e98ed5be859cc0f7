/**
 * What the host takes of an execution in a child process: which reports go on to the engine, which are the files that
 * changed, and which is the end.
 */
import type { ChildReport } from "./ChildReport.ts"
import type { Told } from "./DenoChild.ts"
import type { Change } from "./HostFiles.ts"

/** How a program said that it ended. */
export type Ending = Pick<
  Extract<ChildReport, { readonly event: "finished" }>,
  "changed" | "dataframes" | "dropped_bytes" | "exit_code" | "outcome"
>

const unknownEnding: Ending = { outcome: "failed", exit_code: 1, dataframes: [], changed: [], dropped_bytes: 0 }

/** Changes that one execution may tell: more than files that any session may have. */
const maximumChanges = 100_000

/** A file whose content comes in pieces. */
interface Filling {
  readonly content: Uint8Array
  filled: number
}

/** The reports of one execution, in their order. */
export class ExecutionIntake {
  readonly changes: Array<Change> = []
  ending: Ending = unknownEnding
  #left: number
  #room: number
  #file: Filling | undefined

  /**
   * `outputBytes`: what the child may pass on of the program's output; it counts the rest itself. `fileBytes`: what the
   * session's files may have together.
   */
  constructor(outputBytes: number, fileBytes: number) {
    this.#left = outputBytes
    this.#room = fileBytes
  }

  /** `pass`: the engine hears it. */
  take({ head, payload }: Told): "breach" | "last" | "more" | "pass" {
    // A file that was begun is told to its end first.
    if (this.#file !== undefined && head.event !== "more") return "breach"
    switch (head.event) {
      case "output":
        this.#left -= payload.length
        return this.#left < 0 ? "breach" : "pass"
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

  #changed(
    { kind, path, size, target }: Extract<ChildReport, { readonly event: "changed" }>,
    payload: Uint8Array
  ): "breach" | "more" {
    if (this.changes.length >= maximumChanges || payload.length > size) return "breach"
    switch (kind) {
      case "file": {
        if (size > this.#room) return "breach"
        this.#room -= size
        if (payload.length === size) {
          this.changes.push({ path, kind, content: payload })
          return "more"
        }
        const content = new Uint8Array(size)
        this.changes.push({ path, kind, content })
        this.#file = { content, filled: 0 }
        return this.#fill(this.#file, payload)
      }
      case "link":
        this.changes.push({ path, kind, target: target ?? "" })
        return "more"
      default:
        this.changes.push({ path, kind })
        return "more"
    }
  }

  #fill(file: Filling, payload: Uint8Array): "breach" | "more" {
    if (payload.length === 0 || file.filled + payload.length > file.content.length) return "breach"
    file.content.set(payload, file.filled)
    file.filled += payload.length
    if (file.filled === file.content.length) this.#file = undefined
    return "more"
  }
}
