/**
 * What every store of reports keeps to.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { AssetId } from "@castellan/core/asset/Asset"
import type { Report } from "@castellan/core/report/Report"
import { ReportStore } from "@castellan/core/report/ReportStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

const client = (region: string): ClientMetadata => ({ text: `{"region":"${region}"}`, attributes: { region } })

/** One of each kind of block. */
const everyBlock = (assetId: AssetId): Report["blocks"] => [
  { _tag: "Hero", heading: "Weekly", content: "Ünï 🚀" },
  { _tag: "Text", heading: "Prose", content: "**Up** \\ 'quoted'\n\nand on" },
  { _tag: "Image", image: { _tag: "Asset", assetId }, alt: "A", variant: "circular" },
  { _tag: "List", items: ["one", "two"] },
  {
    _tag: "ImageText",
    image: { _tag: "Web", url: "https://example.org/a.png?b=1&c" },
    alt: "B",
    variant: "pill",
    content: "c"
  },
  { _tag: "Divider" },
  { _tag: "Spacer", height: 12 },
  { _tag: "Table", columns: [{ name: "n", numeric: true }], rows: [["1"], [""]], note: "… and 3 more rows" },
  { _tag: "Chart", heading: "Sales", assetId, alt: "Sales" },
  {
    _tag: "Card",
    heading: "Outer",
    content: "text",
    blocks: [
      { _tag: "Card", blocks: [{ _tag: "Metric", heading: "Sales", content: "1,200 €" }] },
      { _tag: "Card", blocks: [] }
    ]
  }
]

/** Runs the contract of `ReportStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ReportStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ReportStore (${name})`, (it) => {
    it.effect("gives back a report as it was, block by block, to its organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ReportStore
        const principal = yield* Sample.principal(yield* Sample.organizationId, { clientMetadata: client("north") })
        const run = yield* AutomationSample.playbookRun(principal, yield* AutomationSample.playbook(principal))
        const report = yield* AutomationSample.report(run, {
          blocks: everyBlock(AssetId.make(yield* Sample.chatId)),
          createdAt: at("2030-01-01T00:00:00.001Z")
        })
        assert.isTrue(Option.isNone(yield* store.get(report.organizationId, report.id)))
        yield* store.add(report)
        assertSame(yield* store.get(report.organizationId, report.id), Option.some(report))
        assert.isTrue(Option.isNone(yield* store.get(yield* Sample.organizationId, report.id)))
      })
    )

    it.effect("lists a playbook's reports newest first, and pages without a gap or a repeat", () =>
      Effect.gen(function* () {
        const store = yield* ReportStore
        const reader = yield* Sample.principal(yield* Sample.organizationId)
        const playbook = yield* AutomationSample.playbook(reader)
        const run = yield* AutomationSample.playbookRun(reader, playbook)
        const made = yield* Effect.forEach([2, 1, 2, 3], (day) =>
          Effect.tap(AutomationSample.report(run, { createdAt: at(`2030-01-0${day}T00:00:00Z`) }), store.add)
        )
        const foreign = yield* AutomationSample.playbookRun(reader, yield* AutomationSample.playbook(reader))
        yield* Effect.flatMap(AutomationSample.report(foreign), store.add)
        const expected = made
          .toSorted((a, b) => DateTime.Order(b.createdAt, a.createdAt) || (a.id < b.id ? 1 : -1))
          .map((report) => report.id)
        const paged: Array<string> = []
        for (const offset of [0, 3]) {
          const page = yield* store.list({ reader, playbookId: playbook.id, limit: 3, offset })
          assert.strictEqual(page.totalCount, 4)
          paged.push(...page.items.map((report) => report.id))
        }
        assert.deepStrictEqual(paged, expected)
      })
    )

    it.effect("leaves out, and does not count, what was made for another end user", () =>
      Effect.gen(function* () {
        const store = yield* ReportStore
        const organizationId = yield* Sample.organizationId
        const [north, south, nobody] = yield* Effect.all([
          Sample.principal(organizationId, { clientMetadata: client("north") }),
          Sample.principal(organizationId, { clientMetadata: client("south") }),
          Sample.principal(organizationId)
        ])
        const playbook = yield* AutomationSample.playbook(nobody)
        const reportOf = (principal: typeof north) =>
          Effect.flatMap(AutomationSample.playbookRun(principal, playbook), (run) =>
            Effect.tap(AutomationSample.report(run), store.add)
          )
        const [ofNorth, ofNobody] = [yield* reportOf(north), yield* reportOf(nobody)]
        const seen = (reader: typeof north) =>
          Effect.map(store.list({ reader, playbookId: playbook.id, limit: 10, offset: 0 }), (found) => [
            found.totalCount,
            ...found.items.map((report) => report.id).toSorted()
          ])
        assert.deepStrictEqual(yield* seen(north), [1, ofNorth.id])
        assert.deepStrictEqual(yield* seen(south), [0])
        assert.deepStrictEqual(yield* seen(nobody), [1, ofNobody.id])
        const stranger = yield* Sample.principal(yield* Sample.organizationId)
        assert.deepStrictEqual(yield* seen(stranger), [0])
      })
    )
  })
}
