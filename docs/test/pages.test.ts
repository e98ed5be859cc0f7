/** The pages say what the code says: included code is as in the files, links lead somewhere. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { brokenLinks, pages, withIncludes } from "../../scripts/documents.ts"
import { root } from "../../scripts/packages.ts"

describe("pages", () => {
  for (const path of pages()) {
    const page = readFileSync(join(root, path), "utf8")
    it(`${path} includes the code as it is`, () => assert.strictEqual(page, withIncludes(page)))
    it(`${path} has no dead link`, () => assert.deepStrictEqual(brokenLinks(path, page), []))
  }

  it("tells a stale page and a dead link from good ones", () => {
    const stale = "<!-- include: docs/test/pages.test.ts#none -->\n```ts\nold\n```"
    assert.throws(() => withIncludes(stale), /no region none/)
    const page = "<!-- include: .node-version -->\n```text\nold\n```"
    assert.notStrictEqual(withIncludes(page), page)
    assert.deepStrictEqual(brokenLinks("docs/x.md", "[a](nowhere.md) [b](../README.md) [c](https://example.org)"), [
      "nowhere.md"
    ])
  })
})
