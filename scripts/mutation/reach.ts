/**
 * Which tests reach which mutants, so that a mutant is tried on those alone.
 */
import { readFileSync } from "node:fs"
import type { Step } from "./tests.ts"

/** What is run for a mutant, with the milliseconds that it takes without one. */
export interface Touching extends Pick<Step, "path" | "names"> {
  readonly milliseconds: number
}

/** A test file, with what it reaches. */
export interface Reach {
  readonly path: string
  /** What is to be run of the file for a mutant; nothing where it does not reach it. */
  readonly of: (mutant: number) => Touching | undefined
}

/** What a test file noted while it ran. */
export interface Notes {
  readonly file: string
  /** The mutants that were reached outside of any test. */
  readonly outside: ReadonlyArray<number>
  readonly tests: ReadonlyArray<{ readonly name: string; readonly reached: ReadonlyArray<number> }>
}

/** Reads the notes of a test file. */
export const notesIn = (path: string): readonly [file: string, notes: Notes] => {
  const notes: Notes = JSON.parse(readFileSync(path, "utf8"))
  return [notes.file, notes]
}

/** What a test file reaches, by its notes and the milliseconds of its tests. */
export const reachOf = (path: string, notes: Notes | undefined, durations: ReadonlyMap<string, number>): Reach => {
  const outside = new Set(notes?.outside)
  const tests = (notes?.tests ?? []).map(({ name, reached }) => ({ name, reached: new Set(reached) }))
  const sum = (names: Iterable<string>) => [...names].reduce((total, name) => total + (durations.get(name) ?? 0), 0)
  const whole = { path, milliseconds: sum(durations.keys()) }
  return {
    path,
    of: (mutant) => {
      if (outside.has(mutant)) return whole
      const names = tests.filter(({ reached }) => reached.has(mutant)).map(({ name }) => name)
      return names.length === 0 ? undefined : { path, names, milliseconds: sum(names) }
    }
  }
}
