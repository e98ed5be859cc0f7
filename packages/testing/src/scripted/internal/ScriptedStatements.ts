/**
 * As much of Python and of a shell as scripted sandboxes understand: what one statement comes to.
 */
import { type Dataframe, ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import type { Held, HeldFiles } from "./ScriptedFiles.ts"

/** A value that a variable may have. */
export type PythonValue = string | number

const utf8 = new TextEncoder()

/** What one statement comes to. */
export type Effected =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<ExecEvent> }
  | { readonly _tag: "Raised"; readonly name: string; readonly message: string }
  | { readonly _tag: "Exit"; readonly code: number }
  | { readonly _tag: "Crash" }
  | { readonly _tag: "Stuck" }

const events = (...all: ReadonlyArray<ExecEvent>): Effected => ({ _tag: "Events", events: all })
const raised = (name: string, message: string): Effected => ({ _tag: "Raised", name, message })
const stdout = (text: string) => events(ExecEvent.cases.Stdout.make({ text }))

/** What statements are run in, one after another. */
export interface Pass {
  readonly session: { readonly files: HeldFiles; readonly dataframes: ReadonlyMap<string, Dataframe> }
  readonly variables: Map<string, PythonValue>
  readonly environment: Readonly<Record<string, string>>
  /** The files that were written. */
  readonly touched: Set<string>
}

const unquoted = (text: string): string | undefined => /^(["'])(.*)\1$/su.exec(text)?.[2]?.replaceAll("\\n", "\n")

const valueOf = (pass: Pass, text: string): PythonValue | undefined => {
  const quoted = unquoted(text)
  if (quoted !== undefined) return quoted
  if (/^-?\d+$/u.test(text)) return Number(text)
  const repeated = /^(["'].*["']) \* (\d+)$/su.exec(text)
  if (repeated !== null) return (unquoted(repeated[1] ?? "") ?? "").repeat(Number(repeated[2]))
  const length = /^len\((\w+)\)$/u.exec(text)?.[1]
  if (length !== undefined) return pass.session.dataframes.get(length)?.rows
  const sum = /^(\w+) \+ (\d+)$/u.exec(text)
  const left = sum === null ? undefined : pass.variables.get(sum[1] ?? "")
  return typeof left === "number" ? left + Number(sum?.[2]) : pass.variables.get(text)
}

const write = (pass: Pass, path: string, content: Held): Effected => {
  pass.session.files.set(path, content)
  pass.touched.add(path)
  return events()
}

/** One statement of Python. */
export const python = (pass: Pass, line: string): Effected => {
  if (line === "") return events()
  if (line === "while True: pass") return { _tag: "Stuck" }
  if (line === "import os; os._exit(1)") return { _tag: "Crash" }
  const written = /^open\((["'].*?["']), ["']w["']\)\.write\((.*)\)$/su.exec(line)
  if (written !== null) {
    const content = String(valueOf(pass, written[2] ?? "") ?? "")
    return write(pass, unquoted(written[1] ?? "") ?? "", { _tag: "Bytes", content: utf8.encode(content) })
  }
  const linked = /^import os; os\.symlink\(["'].*?["'], (["'].*?["'])\)$/u.exec(line)?.[1]
  if (linked !== undefined) return write(pass, unquoted(linked) ?? "", { _tag: "Link" })
  const removed = /^import os; os\.remove\((["'].*?["'])\)$/u.exec(line)?.[1]
  if (removed !== undefined) {
    pass.session.files.delete(unquoted(removed) ?? "")
    return events()
  }
  const error = /^raise (\w+)\((["'].*["'])\)$/u.exec(line)
  if (error !== null) return raised(error[1] ?? "", unquoted(error[2] ?? "") ?? "")
  const printed = /^print\((.*)\)$/su.exec(line)?.[1]
  if (printed !== undefined) {
    const value = valueOf(pass, printed)
    return value === undefined ? raised("NameError", `name '${printed}' is not defined`) : stdout(`${value}\n`)
  }
  const assigned = /^([A-Za-z_]\w*) = (.*)$/su.exec(line)
  const value = assigned === null ? undefined : valueOf(pass, assigned[2] ?? "")
  if (assigned === null || value === undefined) return raised("SyntaxError", "invalid syntax")
  pass.variables.set(assigned[1] ?? "", value)
  return events()
}

/** One command of a shell. */
export const bash = (pass: Pass, line: string): Effected => {
  if (line === "") return events()
  if (line === "sleep infinity") return { _tag: "Stuck" }
  const exit = /^exit (\d+)$/u.exec(line)?.[1]
  if (exit !== undefined) return { _tag: "Exit", code: Number(exit) }
  const path = /^cat (\S+)$/u.exec(line)?.[1]
  if (path !== undefined) {
    const file = pass.session.files.get(path)
    return file?._tag === "Bytes"
      ? stdout(new TextDecoder().decode(file.content))
      : events(ExecEvent.cases.Stderr.make({ text: `cat: ${path}: No such file or directory\n` }))
  }
  const echo = /^echo (.*?)( >&2)?$/su.exec(line)
  if (echo === null) return events(ExecEvent.cases.Stderr.make({ text: `${line}: command not found\n` }))
  const text = `${(echo[1] ?? "").replaceAll(/\$(\w+)/gu, (_, name: string) => pass.environment[name] ?? "")}\n`
  return echo[2] === undefined ? stdout(text) : events(ExecEvent.cases.Stderr.make({ text }))
}
