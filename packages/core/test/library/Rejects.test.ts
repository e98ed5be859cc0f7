import { applyRejecting, hunksBetween, rejectFile } from "@castellan/core/library/Rejects"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as Git from "./Git.ts"
import { Random, seed } from "./Random.ts"
import * as Texts from "./Texts.ts"

const asPatch = (path: string, base: string, change: string): string => {
  const hunks = rejectFile(path, hunksBetween(base, change)).split("\n").slice(1).join("\n")
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunks}`
}

describe("Rejects", () => {
  it("has git's header and the rejected hunks alone", () => {
    const numbered = (from: number, to: number): Array<string> =>
      Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`)
    const base = numbered(0, 30)
    const head = base.with(3, "three\n")
    const change = base.with(3, "drei\n").with(20, "zwanzig\n")
    const edit = applyRejecting("docs/a b.md", { base: base.join(""), head: head.join(""), change: change.join("") })
    assert.strictEqual(edit.text, head.with(20, "zwanzig\n").join(""))
    assert.deepStrictEqual(
      edit.reject,
      Option.some(
        [
          "diff a/docs/a b.md b/docs/a b.md\t(rejected hunks)",
          "@@ -1,7 +1,7 @@",
          " line 0",
          " line 1",
          " line 2",
          "-line 3",
          "+drei",
          " line 4",
          " line 5",
          " line 6",
          ""
        ].join("\n")
      )
    )
  })

  it("has nothing to say where every hunk applies", () => {
    assert.deepStrictEqual(applyRejecting("a", { base: "a\nb\n", head: "a\nb\n", change: "a\nc\n" }), {
      text: "a\nc\n",
      reject: Option.none()
    })
  })

  // The outcome is that of `git apply --reject` on the same texts.
  it("rejects a hunk whose lines are found only where another one has been applied", () => {
    const text = (lines: string): string => [...lines].map((line) => `${line}\n`).join("")
    const sides = { base: text("000101011"), head: text("000101111"), change: text("10001010111") }
    assert.deepStrictEqual(applyRejecting("a", sides), {
      text: text("1000101111"),
      reject: Option.some("diff a/a b/a\t(rejected hunks)\n@@ -5,5 +6,6 @@\n 0\n 1\n 0\n+1\n 1\n 1\n")
    })
  })

  it("takes a bounded time on texts of many hunks, and on hunks of many lines", () => {
    const base = Array.from({ length: 60_000 }, (_, index) => `line ${index}\n`)
    const change = base.map((line, index) => (index % 20 === 10 ? `a line more\n${line}` : line))
    const head = [...base.slice(0, 30_000), ...Array.from({ length: 150_000 }, () => "new\n"), ...base.slice(30_000)]
    const took = ProcessorTime.start()
    const many = applyRejecting("a", { base: base.join(""), change: change.join(""), head: base.join("") })
    assert.deepStrictEqual(many, { text: change.join(""), reject: Option.none() })
    const long = applyRejecting("a", { base: base.join(""), change: head.join(""), head: ["top\n", ...base].join("") })
    assert.deepStrictEqual(long, { text: ["top\n", ...head].join(""), reject: Option.none() })
    assert.isBelow(took(), 10_000)
  })

  it(
    "is what git apply --reject writes, and leaves the text that git leaves",
    () =>
      Git.inFolder(async (folder) => {
        const random = new Random(seed())
        // git says of a file without contents that it is to be made, or is gone: that is no edit.
        const cases = Array.from({ length: 1500 }, () => Texts.versions(random))
          .filter(({ base, change, head }) => base !== change && base !== "" && change !== "" && head !== "")
          .slice(0, 800)
        Git.write(
          folder,
          cases.flatMap(({ base, change, head }, index) => [
            [`${index}/f`, head] as const,
            [`${index}/patch`, asPatch("f", base, change)] as const
          ])
        )
        // Each is a folder of its own outside of any repository, where git applies a patch to files alone.
        const script =
          "i=$from; while [ $i -lt $to ]; do " +
          "(cd $i && GIT_CEILING_DIRECTORIES=$PWD git apply --reject --whitespace=nowarn patch 2>log); echo $? >$i/code; i=$((i+1)); done"
        await Git.shell(folder, script, cases.length)
        let rejected = 0
        for (const [index, versions] of cases.entries()) {
          const edit = applyRejecting("f", versions)
          const log = Git.read(folder, `${index}/log`) ?? ""
          const told = `case ${index} of seed ${random.seed}: ${JSON.stringify(versions)} ${log}`
          if (Option.isSome(edit.reject)) rejected++
          assert.strictEqual(Option.getOrUndefined(edit.reject), Git.read(folder, `${index}/f.rej`), told)
          // Where the base's last line has no line break, git joins it with the line that follows it in the head.
          if (versions.base.endsWith("\n")) assert.strictEqual(edit.text, Git.read(folder, `${index}/f`), told)
        }
        assert.isAbove(cases.length, 500)
        assert.isAbove(rejected, 200)
        assert.isAbove(cases.length - rejected, 100)
      }),
    600_000
  )
})
