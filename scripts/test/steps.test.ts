import { assert, it } from "vitest"
import { command, runSteps } from "../steps.ts"

it("goes on after a failed step and names it", async () => {
  const lines: Array<string> = []
  const ran: Array<string> = []
  const failed = await runSteps(
    [
      { name: "first", run: () => void ran.push("first") },
      { name: "second", run: () => command(process.execPath, ["--eval", "process.exit(3)"]) },
      { name: "third", run: () => Promise.reject(new Error("no luck")) },
      { name: "fourth", run: async () => void ran.push("fourth") }
    ],
    (line) => void lines.push(line)
  )
  assert.deepStrictEqual(failed, ["second", "third"])
  assert.deepStrictEqual(ran, ["first", "fourth"])
  assert.include(lines, "no luck")
  assert.match(lines.at(-1) ?? "", /2 of 4 steps passed$/)
})
