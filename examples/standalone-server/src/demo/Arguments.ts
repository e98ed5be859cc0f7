/**
 * What the demo is asked for on its command line.
 */
import { parseArgs } from "node:util"

/** What the demo is asked for. */
export interface Arguments {
  /** A folder of the user's own to answer over, instead of the sample. */
  readonly files: string | undefined
  /** The questions to ask; empty: the demo's own. */
  readonly questions: ReadonlyArray<string>
  /** Where charts and tables are saved. */
  readonly output: string
}

/** How the demo is called. */
export const usage = `Usage: demo [--files DIR] [--ask "QUESTION"]... [--output DIR]

  --files DIR     answer over the CSV, JSON and Parquet files of this folder instead of the sample data
  --ask QUESTION  ask this instead of the demo's own questions; may be given more than once
  --output DIR    save charts and tables here (default: demo-output)`

/** Reads the command line. Throws with a sentence that says what is wrong with it. */
export const parse = (line: ReadonlyArray<string>): Arguments | "help" => {
  // A package manager may pass its own separator on.
  const args = line[0] === "--" ? line.slice(1) : [...line]
  const { values } = parseArgs({
    args,
    options: {
      files: { type: "string" },
      ask: { type: "string", multiple: true },
      output: { type: "string", default: "demo-output" },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  if (values.help) return "help"
  return { files: values.files, questions: values.ask ?? [], output: values.output }
}
