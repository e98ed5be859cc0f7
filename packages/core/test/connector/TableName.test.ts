import { isAllowed } from "@castellan/core/connector/HostFolders"
import * as TableName from "@castellan/core/connector/TableName"
import { assert, describe, it } from "@effect/vitest"

describe("names of tables", () => {
  const parts: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["orders", ["orders"]],
    ["Public.Orders", ["public", "orders"]],
    ['"my file.csv"', ["my file.csv"]],
    ['main."a.""b"""', ["main", 'a."b"']],
    ["`a`.`b.c`", ["a", "b.c"]],
    [' main . "x" ', ["main", "x"]]
  ]
  it.each(parts)("%s has its parts", (name, expected) => {
    assert.deepStrictEqual(TableName.parts(name), expected)
  })

  const pairs: ReadonlyArray<readonly [string, string, boolean]> = [
    ["orders", "orders", true],
    ["orders", "ORDERS", true],
    ["orders", '"Orders"', true],
    ["orders", "public.orders", true],
    ["db.public.orders", "public.orders", true],
    ["private.orders", "public.orders", false],
    ["orders", "orders_archive", false],
    ["orders", '"x.orders"', false],
    ["caf\u00e9", "cafe\u0301", true]
  ]
  it.each(pairs)("%s and %s: %s", (a, b, expected) => {
    assert.strictEqual(TableName.maySame(a, b), expected)
    assert.strictEqual(TableName.maySame(b, a), expected)
  })
})

describe("folders of the host", () => {
  const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>, boolean]> = [
    ["/data", [], false],
    ["/data", ["/data"], true],
    ["/data/sales/", ["/data"], true],
    ["/database", ["/data"], false],
    ["/data/../etc", ["/data"], false],
    ["/data/./x", ["/data"], false],
    ["data", ["/data"], false],
    ["/data\0/x", ["/data"], false],
    ["C:\\data\\x", ["C:\\data"], true],
    ["/anything", ["/"], true]
  ]
  it.each(rows)("%s below %s: %s", (folder, allowed, expected) => {
    assert.strictEqual(isAllowed(folder, allowed), expected)
  })
})
