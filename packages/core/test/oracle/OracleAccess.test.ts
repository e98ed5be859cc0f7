import { assert, it } from "vitest"
import { objections } from "./Agreement.ts"
import { mistakes } from "./Cedar.ts"
import { subjects } from "./Oracle.ts"

it("the policies are sound by their schema", () => {
  assert.deepStrictEqual(mistakes(), [])
})

for (const question of subjects.access) {
  it(`our rules agree with Cedar: ${question.action}`, () => {
    assert.deepStrictEqual(objections(question), [])
  })
}
