import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { benchmarks } from "../src/Benchmarks.ts"
import { read, usage } from "../src/CommandLine.ts"

describe("CommandLine", () => {
  const names = (args: ReadonlyArray<string>) =>
    Result.map(read(args, benchmarks), (request) => request.benchmarks.map(({ name }) => name))

  it("without names every benchmark is meant, in its order", () => {
    assert.deepStrictEqual(names([]), Result.succeed(benchmarks.map(({ name }) => name)))
  })

  it("names are run in the order of the page", () => {
    assert.deepStrictEqual(names(["fan-out", "json-read"]), Result.succeed(["json-read", "fan-out"]))
  })

  it("reads the switches", () => {
    const quick = Result.getOrThrow(read(["--quick"], benchmarks))
    assert.isTrue(quick.quick)
    assert.isFalse(quick.write)
    assert.isTrue(Result.getOrThrow(read(["--write"], benchmarks)).write)
  })

  const refused: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
    [["nonsense"], /no benchmark nonsense/],
    [["--nonsense"], /nonsense/],
    [["--quick", "--write"], /exclude each other/]
  ]
  for (const [args, reason] of refused) {
    it(`refuses ${args.join(" ")}`, () => {
      const request = read(args, benchmarks)
      assert.isTrue(Result.isFailure(request))
      if (Result.isFailure(request)) assert.match(request.failure, reason)
    })
  }

  it("tells every benchmark", () => {
    for (const { name } of benchmarks) assert.include(usage(benchmarks), name)
  })
})
