import type { Asset } from "@castellan/core/asset/Asset"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { Chats } from "@castellan/core/chat/Chats"
import { ExecEvent, type RichBody } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { assets, newcomer } from "./Asking.ts"
import { asked, cells, json, python, results } from "./SandboxAsking.ts"

const bodyOf = (asset: Asset | undefined, format: Asset["formats"][number]) =>
  asset === undefined
    ? Effect.succeedNone
    : AssetStore.use((store) => store.body(asset.organizationId, asset.id, format))

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3)

const displays = (...all: ReadonlyArray<ReadonlyArray<RichBody>>) =>
  all.map((forms) => ExecEvent.cases.Rich.make({ forms }))

const vega = (specification: unknown): RichBody => ({
  mediaType: "application/vnd.vegalite.v5+json",
  body: JSON.stringify(specification)
})

/** A deployment whose sandbox displays these things whatever it is told to run. */
const displaying = (...all: ReadonlyArray<ReadonlyArray<RichBody>>) =>
  Deployment.layer({
    teaches: ({ code }) => (code === "show" ? displays(...all) : undefined),
    script: [python("show"), says("Look.")]
  })

describe("what a program displays or leaves", () => {
  it.effect("becomes assets of its cell, each as what it is", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline, run } = yield* asked(admin)
      assert.deepStrictEqual(outline.slice(2, -4), [
        "cell python running",
        "asset image Look closer",
        "asset chart Delay by hour",
        "asset table Look closer (2)",
        "asset html Look closer (3)",
        "asset image Look closer (4)",
        "cell python completed"
      ])
      const cell = cells(events).at(-1)
      assert.isDefined(cell)
      const made = assets(events)
      assert.deepStrictEqual(
        made.map(({ formats }) => formats),
        [["png"], ["png", "svg", "json"], ["csv"], ["html"], ["svg"]]
      )
      for (const asset of made) {
        assert.strictEqual(asset.cellId, cell.id)
        assert.strictEqual(asset.messageCellId, run.messageCellId)
      }
      assert.deepStrictEqual(
        cell.result.assets,
        made.map(({ id }) => id)
      )
      assert.deepStrictEqual(cell.result.output, ["<Figure>"])
      assert.strictEqual(cell.result.dataframePreview, "| a |\n| ---: |\n| 1 |")
      const [image, chart, table] = made
      assert.deepStrictEqual(yield* bodyOf(image, "png"), Option.some(png))
      const drawn = yield* bodyOf(chart, "json")
      assert.include(String(Option.getOrThrow(drawn)), '"data":{"values":[{"hour":7,"delay":3.5}]}')
      assert.strictEqual(table?.content, "| a |\n| ---: |\n| 1 |")
      const answer = yield* Chats.use((chats) => chats.answer(run))
      assert.deepStrictEqual(answer.assets, made)
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["assets"], [
        { name: "Look closer", kind: "image" },
        { name: "Delay by hour", kind: "chart" },
        { name: "Look closer (2)", kind: "table" },
        { name: "Look closer (3)", kind: "html" },
        { name: "Look closer (4)", kind: "image" }
      ])
    }).pipe(
      Effect.provide(
        displaying(
          [
            { mediaType: "image/png", body: png },
            { mediaType: "text/plain", body: "<Figure>" }
          ],
          [vega({ title: "Delay by hour", mark: "bar", data: { values: [{ hour: 7, delay: 3.5 }] } })],
          [
            { mediaType: "text/html", body: "<table></table>" },
            { mediaType: "text/csv", body: "a\n1\n" }
          ],
          [{ mediaType: "text/html", body: "<script>alert(1)</script>" }],
          [{ mediaType: "image/svg+xml", body: "<svg/>" }]
        )
      )
    )
  )

  it.effect("is no asset where it is not what it says, and the model is told of a chart that cannot be drawn", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.deepStrictEqual(assets(events), [])
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["notes"], [
        "a chart could not be drawn: mark: is missing",
        "a chart could not be drawn: it must be a Vega-Lite specification with its rows in `data.values`"
      ])
    }).pipe(
      Effect.provide(
        displaying(
          [{ mediaType: "image/png", body: new TextEncoder().encode("<script>") }],
          [{ mediaType: "image/png", body: "not bytes" }],
          [vega({ data: { values: [] } })],
          [vega({ mark: "bar", data: { url: "https://example.com/x.csv" } })],
          [{ mediaType: "application/x-python-pickle", body: png }]
        )
      )
    )
  )

  it.effect("has a bound in number, which the model is told of", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.strictEqual(assets(events).length, 20)
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["notes"], ["5 more things were displayed than can be shown"])
    }).pipe(
      Effect.provide(
        displaying(
          ...Array.from({ length: 25 }, (): ReadonlyArray<RichBody> => [{ mediaType: "image/png", body: png }])
        )
      )
    )
  )

  it.effect("are files, too, by what they are; a file that is no picture is a download", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const made = assets(events)
      assert.deepStrictEqual(
        made.map(({ formats, kind, name }) => [name, kind, formats]),
        [
          ["notes.md", "text", ["txt"]],
          ["page.html", "html", ["html"]],
          ["picture.png", "download", ["bin"]],
          ["report.csv", "table", ["csv"]]
        ]
      )
      const [notes, , , report] = made
      assert.strictEqual(notes?.content, "# Notes")
      assert.strictEqual(report?.content, "| region | amount |\n| --- | ---: |\n| north | 120 |")
      const cell = cells(events).at(-1)
      assert.isTrue(made.every(({ cellId }) => cellId === cell?.id))
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            python(
              [
                `open("outputs/report.csv", "w").write("region,amount\\nnorth,120\\n")`,
                `open("outputs/notes.md", "w").write("# Notes")`,
                `open("outputs/picture.png", "w").write("<script>")`,
                `open("outputs/page.html", "w").write("<b>bold</b>")`,
                `open("library/edit.md", "w").write("an edit of the library is none")`
              ].join("\n")
            ),
            says("Here.")
          ]
        })
      )
    )
  )

  it.effect("that are many are shown as far as an execution and a run may show files, and the rest is told of", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const made = assets(events)
      assert.strictEqual(made.length, 100)
      assert.strictEqual(made.filter(({ cellId }) => cellId === made[0]?.cellId).length, 20)
      const notes = (yield* results).map(({ content }) => json(content)["notes"])
      const more = "2 more files were made than are shown"
      const full = "this run has shown as much as it can: the rest is not shown"
      assert.deepStrictEqual(notes, [...Array.from({ length: 5 }, () => [more]), [more, full]])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            ...Array.from({ length: 6 }, (_, step) =>
              python(
                Array.from({ length: 22 }, (__, file) => `open("outputs/${step}-${file}.md", "w").write("x")`).join(
                  "\n"
                ),
                `${step}`
              )
            ),
            says("Many.")
          ]
        })
      )
    )
  )

  it.effect("that cannot be shown are told of, with the reason", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.deepStrictEqual(assets(events), [])
      const notes = json((yield* results)[0]?.content ?? "")["notes"]
      assert.deepStrictEqual(notes, [
        'the file "../etc/passwd" is not shown: its name must not have `.` or `..` segments',
        "the file outputs/link is not shown: there is no file outputs/link"
      ])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            python(`open("../etc/passwd", "w").write("x")\nimport os; os.symlink("/etc/passwd", "outputs/link")`),
            says("No.")
          ]
        })
      )
    )
  )
})
