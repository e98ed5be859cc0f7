import { stripTypeScriptTypes } from "node:module"
import { runInNewContext } from "node:vm"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { loadedBy, resolve, specifiersOf } from "../mutation/imports.ts"
import { instrument, switchName } from "../mutation/instrument.ts"
import { passes, score, stale, unexplained } from "../mutation/report.ts"
import type { Report, Verdict } from "../mutation/examine.ts"
import { bySeed } from "../mutation/seed.ts"
import { reachOf } from "../mutation/reach.ts"
import { isExplainedBy } from "../mutation/survivors.ts"
import { root } from "../packages.ts"
import { isTarget } from "../mutation/targets.ts"

const changes = (source: string): ReadonlyArray<string> =>
  instrument("a.ts", source).mutants.map(
    (one) => `${one.original.replaceAll(/\s+/g, " ")} -> ${one.replacement.replaceAll(/\s+/g, " ")}`
  )

/** What the program's `answer` is with one mutant on; none is number 0. */
const answer = (source: string, active: number): unknown => {
  const { text } = instrument("a.ts", source)
  const is = (id: number) => id === active
  let ticks = 0
  const tick = () => {
    if (++ticks > 1000) throw new Error("endless")
  }
  return runInNewContext(`${stripTypeScriptTypes(text)}; answer`, { [switchName]: { is, tick } })
}

/** The answers of the mutants with a replacement. */
const answersOf = (source: string, replacement: string): ReadonlyArray<unknown> =>
  instrument("a.ts", source)
    .mutants.filter((one) => one.replacement === replacement)
    .map((one) => answer(source, one.id))

describe("mutants", () => {
  const rows: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
    ["a comparison, at its boundary too", "f(a < b)", ["f(a < b) -> ;", "a < b -> a <= b", "a < b -> a >= b"]],
    ["equality", "const f = a === b", ["a === b -> a !== b"]],
    ["either side of a condition alone", "const f = a && b", ["a && b -> (a) || (b)", "a && b -> a", "a && b -> b"]],
    ["a fallback", "const f = a ?? b", ["a ?? b -> a", "a ?? b -> b"]],
    ["a negation", "const f = !a", ["!a -> a"]],
    ["a whole condition", "if (a) f()", ["a -> true", "a -> false"]],
    ["a branch", "const f = a ? b : c", ["a -> true", "a -> false"]],
    ["an answer", "const f = (a): boolean => g(a)", ["g(a) -> true", "g(a) -> false"]],
    ["a question of a list", "const f = a.some((b) => g(b))", ["some -> every", "g(b) -> true", "g(b) -> false"]],
    ["a filter", "const f = a.filter(g)", ["a.filter(g) -> a"]],
    ["the module's filter", "const f = Arr.filter(a, g)", ["Arr.filter(a, g) -> a"]],
    ["a moment's boundary", "const f = DateTime.isLessThan(a, b)", ["isLessThan -> isLessThanOrEqualTo"]],
    ["a number", "const f = 2", ["2 -> 3", "2 -> 1"]],
    ["arithmetic", "const f = a + b", ["a + b -> a - b"]],
    ["a code", 'const f = g("open")', ['"open" -> ""']],
    ["the ends of a pattern", "const f = /^a$/u", ["/^a$/u -> /a$/u", "/^a$/u -> /^a/u"]],
    ["a separator", "const f = `${a}/`", ["`${a}/` -> `${a}`"]],
    ["what is listed", "const f = [a, b]", ["[a, b] -> [b]", "[a, b] -> [a]"]],
    ["what is set beside what is kept", "const f = { ...a, b }", ["{ ...a, b } -> { b }", "{ ...a, b } -> { ...a }"]],
    ["a step", "f()", ["f() -> ;"]],
    ["a loop's list", "for (const a of b) f(a)", ["b -> []", "f(a) -> ;"]],
    ["a part of an optional chain", "const f = a?.b", ["a?.b -> a.b"]],
    ["the facts of a decision", "const f = deny(a, b, { c })", ["{ c } -> {}"]]
  ]
  for (const [name, source, expected] of rows) {
    it(`changes ${name}`, () => {
      assert.sameMembers([...changes(source)], [...expected])
    })
  }

  const alone: ReadonlyArray<readonly [string, string]> = [
    ["a sentence", 'const f = "not to be found"'],
    ["a sentence with values", "const f = `no ${a ? b : c} found`"],
    ["a type", "type F = true | 1 | 'a'"],
    ["an import", 'import { a } from "./b.ts"'],
    ["a schema's name", 'class F extends Schema.Class<F>("core/F")({ a: Schema.Literals(["b", "c"]) }) {}'],
    ["a key", 'const f = { "a": b }'],
    ["what every object has", "const f = a.toString()"],
    ["an error's message", "class F { get message(): string { return a ? b : c } }"]
  ]
  for (const [name, source] of alone) {
    it(`leaves ${name} alone`, () => {
      assert.deepStrictEqual(changes(source), [])
    })
  }

  it("counts equal changes of one declaration, and knows the line", () => {
    const { mutants } = instrument("a.ts", "const f = a === b\nconst g = [c === d,\n c === d]", 7)
    assert.deepStrictEqual(
      mutants.filter((one) => one.mutator === "comparison").map((one) => [one.within, one.line, one.occurrence]),
      [
        ["f", 1, 1],
        ["g", 2, 1],
        ["g", 3, 2]
      ]
    )
    assert.deepStrictEqual(
      mutants.map((one) => one.id),
      mutants.map((_, index) => index + 7)
    )
  })
})

describe("the instrumented text", () => {
  const program = `
const older = (age: number): boolean => age > 18 && !(age === 42)
const found = [18, 19, 42].filter((age) => older(age))
const text = (of: { readonly a?: { readonly b: string } }): string => of.a?.b.toUpperCase() ?? "none"
let sum = 0
for (const age of found) {
  if (age < 0) continue
  sum += age
}
const answer = \`\${found.join()} \${sum} \${text({})} \${text({ a: { b: "x" } })}\``

  it("says what the file says while no mutant is on", () => {
    assert.strictEqual(answer(program, 0), "19 19 none X")
  })

  it("says something else with one on, and only there", () => {
    assert.deepStrictEqual(answersOf(program, "age >= 18"), ["18,19 37 none X"])
    assert.deepStrictEqual(answersOf(program, "age > 18"), ["19,42 61 none X"])
    assert.deepStrictEqual(answersOf(program, "toLowerCase"), ["19 19 none x"])
    assert.deepStrictEqual(answersOf(program, "sum -= age"), ["19 -19 none X"])
    assert.deepStrictEqual(answersOf(program, "of.a?.b.toUpperCase()"), ["19 19 undefined X"])
  })

  it("has an end to every loop", () => {
    const endless = "let answer = 0\nwhile (answer < 3) {\n  answer += 1\n}"
    assert.strictEqual(answer(endless, 0), 3)
    const backwards = instrument("a.ts", endless).mutants.find((one) => one.replacement === "answer -= 1")
    assert.throws(() => answer(endless, backwards?.id ?? 0), "endless")
  })
})

describe("targets", () => {
  const rows: ReadonlyArray<readonly [string, string, boolean]> = [
    ["chat/ChatPolicy.ts", "", true],
    ["run/RunState.ts", "", true],
    ["library/Merge.ts", "", true],
    ["access/EffectiveRoles.ts", "", true],
    ["change/ChangeStore.ts", 'import * as Context from "effect/Context"', false],
    ["change/Merging.ts", "export const make = Effect.gen(function* () {})", false],
    ["chat/Chats.ts", "", false]
  ]
  for (const [path, source, expected] of rows) {
    it(`${expected ? "take" : "leave"} ${path}`, () => {
      assert.strictEqual(isTarget(path, source), expected)
    })
  }
})

describe("a report", () => {
  const report = (verdicts: ReadonlyArray<Verdict>, whole = true): Report => ({
    trials: verdicts.map((verdict, id) => ({
      verdict,
      mutant: {
        id,
        file: "no/such/File.ts",
        line: 1,
        mutator: "number",
        within: "a",
        original: "1",
        replacement: "2",
        occurrence: id + 1
      }
    })),
    whole,
    files: ["no/such/File.ts"],
    seconds: 1
  })
  const of = (caught: number, survived: number) =>
    report([...Array<Verdict>(caught).fill("caught"), ...Array<Verdict>(survived).fill("survived")])

  it("passes from 90 % on, and a timeout is as good as a failed test", () => {
    assert.isTrue(passes(of(9, 1), false))
    assert.isFalse(passes(of(899, 101), false))
    assert.strictEqual(score(report(["timed out", "caught", "survived", "unreached"]).trials), 0.5)
  })

  it("is judged strictly by its unexplained survivors", () => {
    assert.isFalse(passes(of(99, 1), true))
    assert.isTrue(passes(of(99, 0), true))
    assert.lengthOf(unexplained(of(9, 3)), 3)
    assert.deepStrictEqual(stale(of(9, 3)), [])
  })

  it("knows an explained survivor by its text, whatever its white space", () => {
    const mutant = report(["survived"]).trials[0]?.mutant
    assert.isDefined(mutant)
    const explanation = { file: mutant.file, within: "a", original: " 1\n", replacement: "2", reason: "why" }
    assert.isTrue(isExplainedBy(mutant, explanation))
    assert.isFalse(isExplainedBy({ ...mutant, occurrence: 2 }, explanation))
    assert.isFalse(isExplainedBy({ ...mutant, within: "b" }, explanation))
    assert.isFalse(isExplainedBy({ ...mutant, replacement: "3" }, explanation))
  })
})

it("a mutant is tried on the tests that reach it, and on all of a file that reaches it as it loads", () => {
  const tests = [
    { name: "a > first", reached: [1, 2] },
    { name: "a > second", reached: [2] }
  ]
  const durations = new Map([
    ["a > first", 10],
    ["a > second", 5]
  ])
  const reach = reachOf("/a.test.ts", { file: "/a.test.ts", outside: [3], tests }, durations)
  assert.deepStrictEqual(reach.of(1), { path: "/a.test.ts", names: ["a > first"], milliseconds: 10 })
  assert.deepStrictEqual(reach.of(2), { path: "/a.test.ts", names: ["a > first", "a > second"], milliseconds: 15 })
  assert.deepStrictEqual(reach.of(3), { path: "/a.test.ts", milliseconds: 15 })
  assert.isUndefined(reach.of(4))
})

it("a file loads what it imports, but not for types alone, and what that loads", () => {
  const source = `
import type { A } from "./a.ts"
import { type B, c } from "./b.ts"
import { type D } from "./d.ts"
import "./e.ts"
export { f } from "./f.ts"
export type { G } from "./g.ts"
export * from "./h.ts"`
  assert.sameMembers([...specifiersOf(source)], ["./b.ts", "./e.ts", "./f.ts", "./h.ts"])
  assert.strictEqual(
    resolve("/x/test/a.test.ts", "@castellan/core/access/Access"),
    join(root, "packages/core/src/access/Access.ts")
  )
  assert.strictEqual(resolve("/x/test/a.test.ts", "../b.ts"), "/x/b.ts")
  assert.isUndefined(resolve("/x/test/a.test.ts", "effect/Effect"))
  const loaded = loadedBy(join(root, "packages/core/src/access/AccessPolicy.ts"))
  assert.isTrue(loaded.has(join(root, "packages/core/src/access/Decision.ts")))
  assert.isTrue(loaded.has(join(root, "packages/core/src/error/Failure.ts")))
  assert.isFalse(loaded.has(join(root, "packages/core/src/chat/Chats.ts")))
})

it("a seed decides a sample", () => {
  const list = Array.from({ length: 100 }, (_, index) => index)
  assert.deepStrictEqual(bySeed(list, 1), bySeed(list, 1))
  assert.notDeepEqual(bySeed(list, 1), bySeed(list, 2))
  assert.sameMembers([...bySeed(list, 3)], list)
})
