/**
 * What the analyst does in a turn: it calls tools, or it answers.
 */

/** A call that the analyst makes, before it has an id. */
export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What the analyst does in a turn. */
export type Move =
  | { readonly _tag: "Calls"; readonly calls: ReadonlyArray<Call> }
  | { readonly _tag: "Says"; readonly text: string }

/** It answers. */
export const says = (text: string): Move => ({ _tag: "Says", text })

/** It calls tools. */
export const calls = (...made: ReadonlyArray<Call>): Move => ({ _tag: "Calls", calls: made })

/** A text of a tool as a sentence of the answer. */
export const sentence = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 500)
  return /[.!?]$/.test(line) ? line : `${line}.`
}
