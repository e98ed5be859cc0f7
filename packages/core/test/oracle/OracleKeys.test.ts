import { assert, it } from "vitest"
import { objections } from "./Agreement.ts"

import { subjects } from "./Oracle.ts"

for (const question of subjects.keys) {
  it(`our rules agree with Cedar: ${question.action}`, () => {
    assert.deepStrictEqual(objections(question), [])
  })
}
