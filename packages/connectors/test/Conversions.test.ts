/**
 * Text files as people have them: what their columns become.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { gzipSync } from "node:zlib"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"

interface Case {
  readonly name: string
  readonly file: string
  readonly content: string | Uint8Array
  /** Columns with the types of the engine. */
  readonly columns: ReadonlyArray<readonly [name: string, type: string]>
  readonly rows?: ReadonlyArray<ReadonlyArray<string | number | boolean | null>>
}

/** A CSV file of one column `v`, and the type it becomes. */
const column = (name: string, values: ReadonlyArray<string>, type: string, cells?: Case["rows"]): Case => ({
  name,
  file: "t.csv",
  content: `k,v\n${values.map((value, index) => `k${index},${/[,"\n]/.test(value) ? JSON.stringify(value) : value}\n`).join("")}`,
  columns: [
    ["k", "VARCHAR"],
    ["v", type]
  ],
  ...(cells === undefined ? {} : { rows: cells })
})

const csv = (name: string, content: string | Uint8Array, columns: Case["columns"], rows?: Case["rows"]): Case => ({
  name,
  file: "t.csv",
  content,
  columns,
  ...(rows === undefined ? {} : { rows })
})

const json = (name: string, content: string, columns: Case["columns"], rows?: Case["rows"]): Case => ({
  name,
  file: "t.json",
  content,
  columns,
  ...(rows === undefined ? {} : { rows })
})

const many = (count: number, row: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${row(n)}\n`).join("")

const cases: ReadonlyArray<Case> = [
  column("integers", ["1", "-2", "+3", "0"], "BIGINT"),
  column("codes with leading zeros stay text", ["00501", "10001"], "VARCHAR"),
  column("one code with a leading zero keeps the column text", ["501", "00501", "1"], "VARCHAR"),
  column("decimals", ["1.5", "-2", ".5", "3.", "1e3"], "DOUBLE"),
  column("amounts with separators", ["1,234.50", "$12", "-€1,000,000", "0"], "DOUBLE", [
    ["k0", 1234.5],
    ["k1", 12],
    ["k2", -1_000_000],
    ["k3", 0]
  ]),
  column("what only looks like an amount stays text", ["1,23", "4"], "VARCHAR"),
  column("percentages stay text", ["12%", "3%"], "VARCHAR"),
  column("identifiers of many digits stay text", ["12345678901234567890", "1"], "VARCHAR"),
  column("large integers", ["9223372036854775807", "-9223372036854775808"], "BIGINT"),
  column("hexadecimal stays text", ["0x10", "0x11"], "VARCHAR"),
  column("versions stay text", ["1.2.3", "1.10.0"], "VARCHAR"),
  column("numbers with underscores stay text", ["1_000", "2_000"], "VARCHAR"),
  column("truth", ["true", "FALSE", "True"], "BOOLEAN", [
    ["k0", true],
    ["k1", false],
    ["k2", true]
  ]),
  column("yes and no stay text", ["yes", "no"], "VARCHAR"),
  column("words for nothing among numbers", ["1", "NA", "", "n/a", "null", "-", "#N/A"], "BIGINT", [
    ["k0", 1],
    ["k1", null],
    ["k2", null],
    ["k3", null],
    ["k4", null],
    ["k5", null],
    ["k6", null]
  ]),
  column("words for nothing among text", ["NA", "DE", "FR"], "VARCHAR", [
    ["k0", "NA"],
    ["k1", "DE"],
    ["k2", "FR"]
  ]),
  column("only words for nothing", ["NA", "NA"], "VARCHAR"),
  column("nothing at all", ["", ""], "VARCHAR", [
    ["k0", null],
    ["k1", null]
  ]),
  column("dates", ["2024-01-31", "1999-12-01"], "DATE"),
  column("dates without zeros", ["2024-1-5", "2024/02/03"], "DATE"),
  column("no dates", ["2024-13-01", "2024-02-30"], "VARCHAR"),
  column("timestamps", ["2024-01-31 10:20:30", "2024-01-31T10:20:30.5", "2024-01-31"], "TIMESTAMP"),
  column(
    "moments",
    ["2024-01-31T10:20:30Z", "2024-01-31 10:20:30+02:00", "2024-01-31 10:20:30-0500"],
    "TIMESTAMP WITH TIME ZONE",
    [
      ["k0", "2024-01-31T10:20:30Z"],
      ["k1", "2024-01-31T08:20:30Z"],
      ["k2", "2024-01-31T15:20:30Z"]
    ]
  ),
  column("times", ["10:20", "23:59:59"], "TIME"),
  column("months in words", ["Jan 1 2000", "Feb 29 2000"], "DATE", [
    ["k0", "2000-01-01"],
    ["k1", "2000-02-29"]
  ]),
  column("months in full", ["January 1, 2000", "March 10, 2001"], "DATE"),
  column("days before months in words", ["1 Jan 2000", "29 February 2000"], "VARCHAR"),
  column("days before months", ["01-Jan-2000", "29-Feb-2000"], "DATE"),
  column("days with points", ["31.12.2020", "1.2.2021"], "DATE"),
  column("months first, where a day is above 12", ["12/31/2020", "01/02/2021"], "DATE", [
    ["k0", "2020-12-31"],
    ["k1", "2021-01-02"]
  ]),
  column("days first, where a day is above 12", ["31/12/2020", "01/02/2021"], "DATE", [
    ["k0", "2020-12-31"],
    ["k1", "2021-02-01"]
  ]),
  column("firsts of months, months first", ["1/1/2020", "2/1/2020", "3/1/2020"], "DATE", [
    ["k0", "2020-01-01"],
    ["k1", "2020-02-01"],
    ["k2", "2020-03-01"]
  ]),
  column("firsts of months, days first", ["01/01/2020", "01/02/2020", "01/03/2020"], "DATE", [
    ["k0", "2020-01-01"],
    ["k1", "2020-02-01"],
    ["k2", "2020-03-01"]
  ]),
  column("days that could be either stay text", ["01/02/2020", "03/04/2020"], "VARCHAR"),
  column("days in neither order stay text", ["13/01/2020", "01/13/2020"], "VARCHAR"),
  column("timestamps of half a day", ["12/31/2020 1:05 PM", "1/2/2021 12:00 AM"], "TIMESTAMP", [
    ["k0", "2020-12-31T13:05:00"],
    ["k1", "2021-01-02T00:00:00"]
  ]),
  csv("a byte order mark", "\uFEFFa,b\n1,2\n", [
    ["a", "BIGINT"],
    ["b", "BIGINT"]
  ]),
  csv(
    "semicolons and decimal commas",
    "a;b;c\n1,5;x;1.234,00\n2;y;7\n",
    [
      ["a", "DOUBLE"],
      ["b", "VARCHAR"],
      ["c", "DOUBLE"]
    ],
    [
      [1.5, "x", 1234],
      [2, "y", 7]
    ]
  ),
  csv("bars", "a|b\n1|x\n2|y\n", [
    ["a", "BIGINT"],
    ["b", "VARCHAR"]
  ]),
  csv(
    "carriage returns",
    "a,b\r\n1,x\r\n2,y\r\n",
    [
      ["a", "BIGINT"],
      ["b", "VARCHAR"]
    ],
    [
      [1, "x"],
      [2, "y"]
    ]
  ),
  csv(
    "quotes, delimiters and lines in quotes",
    'a,b\n1,"x ""y"", z"\n2,"p\nq"\n',
    [
      ["a", "BIGINT"],
      ["b", "VARCHAR"]
    ],
    [
      [1, 'x "y", z'],
      [2, "p\nq"]
    ]
  ),
  csv(
    "no last line end",
    "a,b\n1,2",
    [
      ["a", "BIGINT"],
      ["b", "BIGINT"]
    ],
    [[1, 2]]
  ),
  csv(
    "a header of text over text",
    "name,city\nann,rome\nbob,oslo\n",
    [
      ["name", "VARCHAR"],
      ["city", "VARCHAR"]
    ],
    [
      ["ann", "rome"],
      ["bob", "oslo"]
    ]
  ),
  csv(
    "only a header",
    "a,b\n",
    [
      ["a", "VARCHAR"],
      ["b", "VARCHAR"]
    ],
    []
  ),
  csv("one column", "v\n1\n2\n", [["v", "BIGINT"]], [[1], [2]]),
  csv("names with space, twice, and none", " a ,a,,A\n1,2,3,4\n", [
    ["a", "BIGINT"],
    ["a_1", "BIGINT"],
    ["column2", "BIGINT"],
    ["A_2", "BIGINT"]
  ]),
  csv(
    "notes above the table",
    "Report of things\nfor you\n\na,b\n1,2\n3,4\n5,6\n",
    [
      ["a", "BIGINT"],
      ["b", "BIGINT"]
    ],
    [
      [1, 2],
      [3, 4],
      [5, 6]
    ]
  ),
  csv(
    "comments above the table",
    "# one\n# two\na,b\n1,2\n",
    [
      ["a", "BIGINT"],
      ["b", "BIGINT"]
    ],
    [[1, 2]]
  ),
  csv(
    "rows that are too short and too long",
    "a,b\n1,2\n3\n4,5,6\n",
    [
      ["a", "BIGINT"],
      ["b", "BIGINT"],
      ["column2", "BIGINT"]
    ],
    [
      [1, 2, null],
      [3, null, null],
      [4, 5, 6]
    ]
  ),
  csv(
    "Latin-1",
    Buffer.from("café,b\nété,2\n", "latin1"),
    [
      ["café", "VARCHAR"],
      ["b", "BIGINT"]
    ],
    [["été", 2]]
  ),
  csv(
    "UTF-16",
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a,b\né,2\n", "utf16le")]),
    [
      ["a", "VARCHAR"],
      ["b", "BIGINT"]
    ],
    [["é", 2]]
  ),
  csv("a fraction after thousands of integers", `n,v\n${many(30_000, (n) => `${n},${n < 29_999 ? n : 0.5}`)}`, [
    ["n", "BIGINT"],
    ["v", "DOUBLE"]
  ]),
  csv("a word after thousands of numbers", `n,v\n${many(30_000, (n) => `${n},${n < 29_999 ? n : "x"}`)}`, [
    ["n", "BIGINT"],
    ["v", "VARCHAR"]
  ]),
  csv(
    "quotes after thousands of lines without",
    `n,v\n${many(30_000, (n) => `${n},${n < 29_999 ? "x" : '"a, ""b"""'}`)}`,
    [
      ["n", "BIGINT"],
      ["v", "VARCHAR"]
    ]
  ),
  csv(
    "a late day that tells the order",
    `n,d\n${many(5000, (n) => `${n},${n < 4999 ? "01/02/2020" : "31/12/2020"}`)}`,
    [
      ["n", "BIGINT"],
      ["d", "DATE"]
    ]
  ),
  {
    name: "a TSV file with commas",
    file: "t.tsv",
    content: "a\tb\n1,5\tx;y\n",
    columns: [
      ["a", "VARCHAR"],
      ["b", "VARCHAR"]
    ],
    rows: [["1,5", "x;y"]]
  },
  {
    name: "a gzipped CSV file",
    file: "t.csv.gz",
    content: gzipSync("a,b\n1,Jan 1 2000\n"),
    columns: [
      ["a", "BIGINT"],
      ["b", "DATE"]
    ],
    rows: [[1, "2000-01-01"]]
  },
  {
    name: "a gzipped NDJSON file",
    file: "t.ndjson.gz",
    content: gzipSync('{"a":1}\n{"a":2}\n'),
    columns: [["a", "BIGINT"]],
    rows: [[1], [2]]
  },
  json(
    "an array of objects",
    '[{"a":1,"b":"x"},{"a":2}]',
    [
      ["a", "BIGINT"],
      ["b", "VARCHAR"]
    ],
    [
      [1, "x"],
      [2, null]
    ]
  ),
  json("objects one after the other", '{"a":1}\n{"a":2}\n', [["a", "BIGINT"]], [[1], [2]]),
  json(
    "one object",
    '{"a":1,"b":{"c":[1,2]}}',
    [
      ["a", "BIGINT"],
      ["b", 'STRUCT("c" BIGINT[])']
    ],
    [[1, '{"c":[1,2]}']]
  ),
  json(
    "numbers and words are text",
    '[{"t":300},{"t":"Titanic"},{"t":null}]',
    [["t", "VARCHAR"]],
    [["300"], ["Titanic"], [null]]
  ),
  json("numbers and lists stay as they are", '[{"t":300},{"t":[1]}]', [["t", "JSON"]], [["300"], ["[1]"]]),
  json("digits in quotes stay text", '[{"t":"1"},{"t":"2"}]', [["t", "VARCHAR"]], [["1"], ["2"]]),
  json("dates", '[{"d":"2024-01-02"},{"d":"2024-02-03"}]', [["d", "DATE"]]),
  json(
    "dates in words",
    '[{"d":"Jun 12 1998"},{"d":"Aug 7 1998"},{"d":null}]',
    [["d", "DATE"]],
    [["1998-06-12"], ["1998-08-07"], [null]]
  ),
  json("negative and large numbers", '[{"n":-1},{"n":4000000000}]', [["n", "BIGINT"]], [[-1], [4_000_000_000]]),
  json(
    "numbers wider than 64 bits",
    '[{"n":-1},{"n":18446744073709551615}]',
    [["n", "HUGEINT"]],
    [["-1"], ["18446744073709551615"]]
  ),
  json("plain values", "[1,2,3]", [["json", "BIGINT"]], [[1], [2], [3]]),
  {
    name: "a key that comes late",
    file: "t.ndjson",
    content: many(30_000, (n) => (n < 29_999 ? `{"n":${n}}` : `{"n":${n},"late":"x"}`)),
    columns: [
      ["n", "BIGINT"],
      ["late", "VARCHAR"]
    ]
  }
]

layer(FilesDriver.layer(), { excludeTestServices: true })("a file of", (it) => {
  it.effect.each(cases)("$name", ({ columns, content, file, rows }) =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ [file]: content })
      const [table] = yield* Folder.tables(folder)
      assert.deepStrictEqual<ReadonlyArray<ReadonlyArray<string>> | undefined>(
        table?.columns.map((one) => [one.name, one.sourceType]),
        columns
      )
      if (rows === undefined) return
      const read = yield* Folder.query(folder, "select * from t")
      assert.deepStrictEqual(read.rows, rows)
      assert.strictEqual(table?.rowCount, rows.length)
    })
  )
})
