import { merge, type MergeSides } from "@castellan/core/library/Merge"
import { headMarker, changeMarker, withMarkers } from "@castellan/core/library/ConflictView"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"
import * as Git from "./Git.ts"
import { Random, seed } from "./Random.ts"
import * as Texts from "./Texts.ts"

const lines = (text: string): string => text.split(" ").join("\n") + "\n"

const sides = (base: string, head: string, change: string): MergeSides => ({
  base: lines(base),
  head: lines(head),
  change: lines(change)
})

/** The merged text, or `conflict`. */
const outcome = (of: MergeSides): string => {
  const result = merge(of)
  return result._tag === "Clean" ? result.text : "conflict"
}

describe("Merge", () => {
  const rows: ReadonlyArray<readonly [name: string, sides: MergeSides, expected: string]> = [
    ["M1 an identical edit on both sides", sides("a b c", "a x c", "a x c"), lines("a x c")],
    ["M2 edits on adjacent lines", sides("a b c d", "a x c d", "a b y d"), "conflict"],
    ["edits with one line between them", sides("a b c d e", "a x c d e", "a b c y e"), lines("a x c y e")],
    ["edits of one line", sides("a b c", "a x c", "a y c"), "conflict"],
    [
      "M7 an edit beside lines that may as well have gone and come again",
      sides("a b c d b e b f g h i b", "a b c d k d b e b f g h i b", "i b a b b e c d b f h"),
      "conflict"
    ],
    [
      "M7 lines that could be matched in two ways",
      sides("L3 L3 L0 L1 L0", "L3 L0 L1 L0", "L4 L5 L3 L0 L0"),
      "conflict"
    ],
    [
      "M9 a text with markers in it",
      sides(
        "<<<<<<< a ======= b >>>>>>> c d e f",
        "<<<<<<< a ======= b >>>>>>> c d e x",
        "<<<<<<< y ======= b >>>>>>> c d e f"
      ),
      lines("<<<<<<< y ======= b >>>>>>> c d e x")
    ],
    [
      "M10 lines that are names of prototypes",
      sides(
        "__proto__ constructor a b c d e toString",
        "__proto__ x a b c d e toString",
        "__proto__ constructor a b c d e valueOf"
      ),
      lines("__proto__ x a b c d e valueOf")
    ],
    ["line breaks of both kinds", { base: "a\r\nb\nc\n", head: "a\r\nb\nx\n", change: "y\r\nb\nc\n" }, "y\r\nb\nx\n"],
    [
      "a line break at the end that only one side has",
      { base: "a\nb\nc", head: "x\nb\nc", change: "a\nb\nc\n" },
      "x\nb\nc\n"
    ],
    ["edits whose places only one side tells", sides("1", "1 0", "0 1"), "conflict"],
    ["nothing on one side", { base: "a\n", head: "", change: "a\nb\n" }, "conflict"]
  ]
  it.each(rows)("%s", (_, of, expected) => {
    assert.strictEqual(outcome(of), expected)
    assert.strictEqual(outcome({ ...of, head: of.change, change: of.head }), expected)
  })

  it("M8 markers stand on their own lines where there is no line break at the end", () => {
    const result = merge({ base: "a\nb", head: "a\nc", change: "a\nd" })
    if (result._tag === "Clean") return assert.fail("clean")
    const parted = [
      "a\n",
      headMarker,
      "c\n",
      "||||||| what the change started from\n",
      "b\n",
      "=======\n",
      "d\n",
      changeMarker
    ]
    assert.strictEqual(withMarkers(result.regions), parted.join(""))
  })

  it("L11 a side that did nothing leaves the other as it is", () => {
    const random = new Random(seed())
    for (let count = 0; count < 2000; count++) {
      const { base, head } = Texts.versions(random)
      const clean = { _tag: "Clean", text: head } as const
      assert.deepStrictEqual(merge({ base, head: base, change: head }), clean, `seed ${random.seed}`)
      assert.deepStrictEqual(merge({ base, head, change: base }), clean, `seed ${random.seed}`)
      assert.deepStrictEqual(merge({ base, head, change: head }), clean, `seed ${random.seed}`)
    }
  })

  it("comes to the same from either side", () => {
    const random = new Random(seed())
    for (let count = 0; count < 2000; count++) {
      const { base, change, head } = Texts.versions(random)
      const mirrored = { base, head: change, change: head }
      assert.strictEqual(outcome({ base, head, change }), outcome(mirrored), `seed ${random.seed}`)
    }
  })

  it("a conflict shows both sides whole", () => {
    const random = new Random(seed())
    for (let count = 0; count < 2000; count++) {
      const of = Texts.versions(random)
      const result = merge(of)
      if (result._tag === "Clean") continue
      for (const region of result.regions) {
        if (region._tag === "Settled") continue
        for (const side of ["base", "head", "change"] as const) {
          assert.include(of[side], region[side].join(""), `seed ${random.seed}`)
        }
      }
      assert.isTrue(
        result.regions.some(({ _tag }) => _tag === "Disputed"),
        `seed ${random.seed}`
      )
    }
  })

  it(
    "M7, M2 is never clean where git conflicts, and never another text than git's",
    () =>
      Git.inFolder(async (folder) => {
        const random = new Random(seed())
        const cases = Array.from({ length: 5000 }, (_, index) => Texts.versions(random, index % 4 === 0))
        Git.write(
          folder,
          cases.flatMap(({ base, change, head }, index) => [
            [`${index}.head`, head] as const,
            [`${index}.base`, base] as const,
            [`${index}.change`, change] as const
          ])
        )
        const script =
          "i=$from; while [ $i -lt $to ]; do " +
          "git merge-file -p -q $i.head $i.base $i.change >$i.out; echo $? >$i.code; i=$((i+1)); done"
        await Git.shell(folder, script, cases.length)
        const share = { document: { git: 0, here: 0 }, other: { git: 0, here: 0 } }
        for (const [index, versions] of cases.entries()) {
          const counts = index % 4 === 0 ? share.document : share.other
          const result = merge(versions)
          const isCleanInGit = Git.read(folder, `${index}.code`) === "0\n"
          if (isCleanInGit) counts.git++
          if (result._tag === "Conflict") continue
          counts.here++
          const told = `case ${index} of seed ${random.seed}: ${JSON.stringify(versions)}`
          assert.isTrue(isCleanInGit, `clean where git conflicts, ${told}`)
          assert.strictEqual(result.text, Git.read(folder, `${index}.out`), told)
        }
        // Where lines are nearly all alike, many a clean merge is a guess; those of documents must stay clean.
        const told = `${JSON.stringify(share)}, seed ${random.seed}`
        if (process.env["LIBRARY_SHARE"] !== undefined) process.stderr.write(`${told}\n`)
        assert.isAbove(share.document.here / share.document.git, 0.75, told)
        assert.isAbove(share.other.here / share.other.git, 0.4, told)
      }),
    600_000
  )

  it("edits that are far from each other in a long text are merged", () => {
    const long = Array.from({ length: 12_000 }, (_, line) => (line % 3 === 0 ? "" : `line-${line}`))
    const edited = (...places: ReadonlyArray<number>): string =>
      lines(long.map((line, at) => (places.includes(at) ? `${line}!` : line)).join(" "))
    const [base, head, change] = [edited(), edited(5_000, 7_001), edited(10, 6_001, 11_990)]
    assert.strictEqual(outcome({ base, head, change }), edited(10, 5_000, 6_001, 7_001, 11_990))
  })

  it("takes a bounded time on texts made to be slow", () => {
    const same = "\n".repeat(50_000)
    const two = Array.from({ length: 50_000 }, (_, index) => `${index % 2}\n`).join("")
    const took = ProcessorTime.start()
    for (const [base, head, change] of [
      [same, `${same}a\n`, `b\n${same}`],
      [two, `x\n${two}${two}`, `${two.slice(2)}y\n`],
      [same, two, `${two}\n`],
      [two, same, two.replaceAll("1", "2")]
    ] as const) {
      merge({ base, head, change })
    }
    assert.isBelow(took(), 20_000)
  })
})
