/**
 * Every mutant of a file compiled into one text, behind switches that are read at run time: the file is transformed
 * and loaded the same for all of them, and no file of the working tree is ever written.
 */
import { isLeftAlone, mutators, type TextOf } from "./mutators.ts"
import { around, below, declarationOf, parse, type Place } from "./syntax.ts"

/** A change of one place of a file. */
export interface Mutant {
  readonly id: number
  /** The file, below the root of the workspace, with `/` between its parts. */
  readonly file: string
  readonly line: number
  readonly mutator: string
  /** The declaration at the top of the file that it is in. */
  readonly within: string
  readonly original: string
  readonly replacement: string
  /** Counts equal changes within one declaration, from 1. */
  readonly occurrence: number
}

/** A file with its mutants. */
export interface Instrumented {
  readonly file: string
  readonly mutants: ReadonlyArray<Mutant>
  /** The text that stands in for the file's. */
  readonly text: string
}

/** The name under which a worker's switch is found. */
export const switchName = "__castellanMutation"

type HostKind = "loop" | "statement" | "expression"

/** A stretch of the file that is rendered with switches around it. */
interface Host {
  readonly kind: HostKind
  readonly start: number
  readonly end: number
  readonly variants: Array<{ readonly id: number; readonly text: string }>
}

const order: Readonly<Record<HostKind, number>> = { loop: 0, statement: 1, expression: 2 }

const loops = new Set(["WhileStatement", "ForStatement", "DoWhileStatement", "ForOfStatement", "ForInStatement"])

/** A part of an optional chain cannot be wrapped by itself: the whole of the chain is. */
const wholeOf = (place: Place): Place => {
  let current = place
  for (const above of around(place)) {
    if (above.node.type === "ChainExpression") return above
    if (current.key !== "object" && current.key !== "callee" && current.key !== "expression") return place
    current = above
  }
  return place
}

const kindOf = (place: Place): HostKind => (place.node.type.endsWith("Statement") ? "statement" : "expression")

/** Finds a file's mutants, numbered from a first number on, and the text with all of them in it. */
export const instrument = (file: string, source: string, firstId = 1): Instrumented => {
  const textOf: TextOf = (node) => source.slice(node.start, node.end)
  const mutants: Array<Mutant> = []
  const hosts = new Map<string, Host>()
  const seen = new Set<string>()

  const hostAt = (kind: HostKind, start: number, end: number): Host => {
    const key = `${kind} ${start} ${end}`
    const host = hosts.get(key) ?? { kind, start, end, variants: [] }
    hosts.set(key, host)
    return host
  }

  const visit = (place: Place): void => {
    if (isLeftAlone(place)) return
    for (const { end, mutator, replacement, start } of mutators.flatMap((one) => one(place, textOf))) {
      const whole = wholeOf(place)
      const { node } = whole
      const text = `${source.slice(node.start, start)}${replacement}${source.slice(end, node.end)}`
      const key = `${node.start} ${node.end} ${text}`
      if (seen.has(key)) continue
      seen.add(key)
      const within = declarationOf(place)
      const original = source.slice(start, end)
      const twins = mutants.filter(
        (one) => one.within === within && one.original === original && one.replacement === replacement
      )
      const id = firstId + mutants.length
      mutants.push({
        id,
        file,
        line: source.slice(0, start).split("\n").length,
        mutator,
        within,
        original,
        replacement,
        occurrence: twins.length + 1
      })
      hostAt(kindOf(whole), node.start, node.end).variants.push({ id, text })
    }
    for (const one of below(place)) {
      if (one.key === "body" && loops.has(place.node.type)) hostAt("loop", one.node.start, one.node.end)
      visit(one)
    }
  }
  visit(parse(file, source))
  return { file, mutants, text: render(source, [...hosts.values()]) }
}

const render = (source: string, hosts: ReadonlyArray<Host>): string => {
  const sorted = hosts.toSorted((a, b) => a.start - b.start || b.end - a.end || order[a.kind] - order[b.kind])
  let next = 0
  const upTo = (from: number, end: number): string => {
    let text = ""
    let at = from
    for (let host = sorted[next]; host !== undefined && host.start < end; host = sorted[next]) {
      next++
      text += source.slice(at, host.start) + wrap(host, upTo(host.start, host.end))
      at = host.end
    }
    return text + source.slice(at, end)
  }
  return `const ${switchName} = globalThis.${switchName}; ${upTo(0, source.length)}`
}

const wrap = (host: Host, inner: string): string => {
  switch (host.kind) {
    case "loop":
      return `{ ${switchName}.tick(); ${inner}\n}`
    case "statement":
      return `{ if (!(${host.variants.map(({ id }) => `${switchName}.is(${id})`).join(" || ")})) { ${inner}\n} }`
    case "expression":
      return `(${host.variants.map(({ id, text }) => `${switchName}.is(${id}) ? (${text}) : `).join("")}(${inner}))`
  }
}
