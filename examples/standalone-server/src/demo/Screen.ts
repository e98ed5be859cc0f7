/**
 * What the demo shows: in a terminal with colour and a line of progress that rewrites itself; piped, plain lines.
 */
import { styleText } from "node:util"
import { MarkdownText, plain } from "./MarkdownText.ts"

type Style = Parameters<typeof styleText>[0]

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

/** Where the demo writes. */
export class Screen {
  readonly #out: NodeJS.WriteStream
  readonly #isTerminal: boolean
  #progress: { readonly timer: NodeJS.Timeout; readonly label: string } | undefined
  #answer: MarkdownText | undefined
  /** The last progress that was told where lines cannot be rewritten: it is not told again. */
  #said: string | undefined

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
    this.#isTerminal = out.isTTY === true && process.env["NO_COLOR"] === undefined && process.env["TERM"] !== "dumb"
  }

  #style(style: Style, text: string): string {
    return this.#isTerminal ? styleText(style, text) : text
  }

  #line(text = ""): void {
    this.endProgress()
    this.endAnswer()
    this.#out.write(`${text}\n`)
  }

  /** The name of what is shown, and what it is about. */
  title(title: string, subtitle: string): void {
    this.#line()
    this.#line(`${this.#style(["bold", "cyan"], title)}  ${this.#style("dim", subtitle)}`)
  }

  /** A fact worth a line of its own. */
  note(text: string): void {
    this.#line(this.#style("dim", text))
  }

  /** A question, in its place among the others. */
  question(place: string, question: string): void {
    this.#line()
    this.#line(`${this.#style(["bold", "black", "bgCyan"], ` ${place} `)} ${this.#style("bold", question)}`)
    this.#line()
  }

  /** An event as it came, with what it tells. */
  event(type: string, detail: string): void {
    this.#line(`  ${this.#style("cyan", type.padEnd(9))}${this.#style("dim", detail)}`)
  }

  /** A piece of the answer. */
  text(piece: string): void {
    this.endProgress()
    if (this.#answer === undefined) {
      this.#out.write("\n")
      const strong = (text: string) => this.#style("bold", text)
      this.#answer = new MarkdownText(
        (text) => this.#out.write(text),
        this.#isTerminal ? { strong, heading: strong, light: (text) => this.#style("dim", text) } : plain
      )
    }
    this.#answer.push(piece)
  }

  /** Ends the answer that is being shown, if one is. */
  endAnswer(): void {
    if (this.#answer === undefined) return
    this.#answer.end()
    this.#answer = undefined
    this.#out.write("\n")
  }

  /** Shows that something is going on, and for how long. Piped, it is said once. */
  progress(label: string): void {
    if (this.#progress?.label === label) return
    this.endProgress()
    if (this.#answer !== undefined) return
    if (!this.#isTerminal) {
      if (label !== this.#said) this.#out.write(`  … ${label}\n`)
      this.#said = label
      return
    }
    const start = performance.now()
    const draw = (): void => {
      const seconds = (performance.now() - start) / 1000
      const frame = frames[Math.floor(seconds * 12) % frames.length] ?? ""
      this.#out.write(
        `\r\u001b[2K  ${this.#style("cyan", frame)} ${this.#style("dim", `${label} ${seconds.toFixed(1)} s`)}`
      )
    }
    draw()
    this.#progress = { timer: setInterval(draw, 80), label }
  }

  /** Takes the line of progress away. */
  endProgress(): void {
    if (this.#progress === undefined) return
    clearInterval(this.#progress.timer)
    this.#progress = undefined
    this.#out.write("\r\u001b[2K")
  }

  /** A file that was saved. */
  saved(kind: string, path: string): void {
    this.#line(`  ${this.#style("green", "saved")}    ${kind.padEnd(6)} ${path}`)
  }

  /** Something went wrong. */
  failure(message: string): void {
    this.#line(`  ${this.#style(["bold", "red"], "failed")}   ${message}`)
  }

  /** An empty line. */
  space(): void {
    this.#line()
  }
}
