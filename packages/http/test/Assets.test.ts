import { Asset, type AssetFormat, AssetId } from "@castellan/core/asset/Asset"
import { type AssetBody, AssetStore } from "@castellan/core/asset/AssetStore"
import { CellId } from "@castellan/core/chat/Cell"
import { RunEvent } from "@castellan/core/run/RunEvent"
import * as AssetSignature from "@castellan/http/asset/AssetSignature"
import { CastellanHttp } from "@castellan/http/CastellanHttp"
import { HttpLimits } from "@castellan/http/HttpLimits"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Site from "./support/Site.ts"

const id = (digit: string) => `0197c0de-0000-7000-8000-${digit.repeat(12)}`
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47)

const bodies = [
  { format: "png", content: png },
  { format: "svg", content: svg },
  { format: "csv", content: "region,sales\nNorth,☃\n" },
  { format: "json", content: '{"mark":"bar"}' },
  { format: "txt", content: "<b>not bold</b>" }
] as const

/** A run with an asset, as its stream and its chat show it. */
const withAsset = Effect.fnUntraced(function* (
  given: {
    readonly id?: AssetId
    readonly name?: string
    readonly bodies?: ReadonlyArray<AssetBody>
  } = {}
) {
  const made = given.bodies ?? bodies
  const run = yield* Site.stalledRun
  const asset = new Asset({
    id: given.id ?? AssetId.make(id("a")),
    organizationId: run.organizationId,
    chatId: run.chatId,
    name: given.name ?? "Sales",
    kind: "chart",
    formats: made.map(({ format }) => format),
    cellId: CellId.make(id("b")),
    messageCellId: CellId.make(id("b")),
    createdAt: yield* DateTime.now
  })
  yield* AssetStore.use((store) => store.put(asset, made))
  yield* Site.tell(run, RunEvent.cases.Asset.make({ asset }), Site.done)
  const chat = JSON.parse((yield* Site.call(`/v2/chats/${run.chatId}`)).text)
  const formats: ReadonlyArray<{ readonly format: AssetFormat; readonly media_type: string; readonly url: string }> =
    chat.assets[0].formats
  const urlOf = (format: AssetFormat) => formats.find((one) => one.format === format)?.url ?? ""
  return { run, asset, urlOf }
})

layer(Site.layer(), { excludeTestServices: true })("assets", (it) => {
  it.effect("come by their signed address, without a credential, as what they are and able to do nothing", () =>
    Effect.gen(function* () {
      const { urlOf } = yield* withAsset()
      const types = {
        png: "image/png",
        svg: "image/svg+xml",
        csv: "text/csv; charset=utf-8",
        json: "application/json",
        txt: "text/plain; charset=utf-8"
      }
      for (const { content, format } of bodies) {
        const reply = yield* Site.call(urlOf(format), { key: "" })
        assert.strictEqual(reply.status, 200)
        assert.deepStrictEqual(reply.body, Buffer.from(content))
        assert.strictEqual(reply.headers["content-type"], types[format])
        assert.strictEqual(reply.headers["x-content-type-options"], "nosniff")
        assert.match(reply.headers["content-security-policy"] ?? "", /default-src 'none'.*sandbox/)
        assert.match(reply.headers["cache-control"] ?? "", /^private, max-age=(8[0-9][0-9]|900), immutable$/)
        const shown = format === "csv" ? "attachment" : "inline"
        assert.strictEqual(reply.headers["content-disposition"], `${shown}; filename="Sales.${format}"`)
        assert.match(reply.headers["x-request-id"] ?? "", /./)
        const head = yield* Site.call(urlOf(format), { key: "", method: "HEAD" })
        assert.deepStrictEqual(
          [head.status, head.text, head.headers["content-length"]],
          [200, "", String(Buffer.byteLength(content))]
        )
      }
    })
  )

  it.effect("are saved by the names that they were given, whatever those are", () =>
    Effect.gen(function* () {
      const names: ReadonlyArray<readonly [name: string, format: AssetFormat, disposition: string]> = [
        ["Sales by region", "csv", 'attachment; filename="Sales by region.csv"'],
        ["sales.CSV", "csv", 'attachment; filename="sales.CSV"'],
        ["photo.jpg", "jpeg", 'inline; filename="photo.jpg"'],
        ["Photo", "jpeg", 'inline; filename="Photo.jpg"'],
        ["notes.md", "txt", 'inline; filename="notes.md"'],
        ["Plan v1.2", "txt", 'inline; filename="Plan v1.2.txt"'],
        ["model.pkl", "bin", 'attachment; filename="model.pkl"'],
        [
          "Umsätze ☃ 2030",
          "pdf",
          `attachment; filename="Ums_tze _ 2030.pdf"; filename*=UTF-8''Ums%C3%A4tze%20%E2%98%83%202030.pdf`
        ],
        ["it's (50%)*", "zip", `attachment; filename="it's (50_)*.zip"; filename*=UTF-8''it%27s%20%2850%25%29%2a.zip`],
        [
          'a"; filename="b.exe',
          "csv",
          `attachment; filename="a_; filename=_b.exe.csv"; filename*=UTF-8''a%22%3B%20filename%3D%22b.exe.csv`
        ],
        ["a\r\nset-cookie: x=1\u0000", "csv", 'attachment; filename="a__set-cookie: x=1_.csv"'],
        ["../../etc\\passwd", "csv", 'attachment; filename=".._.._etc_passwd.csv"'],
        ["half \ud83d", "csv", `attachment; filename="half _.csv"; filename*=UTF-8''half%20%EF%BF%BD.csv`],
        ["gpj.\u202efdp", "png", 'inline; filename="gpj._fdp.png"'],
        ["x".repeat(500), "csv", `attachment; filename="${"x".repeat(196)}.csv"`]
      ]
      for (const [index, [name, format, disposition]] of names.entries()) {
        const asset = yield* Schema.decodeEffect(AssetId)(id("c").slice(0, -2) + String(index).padStart(2, "0"))
        const { urlOf } = yield* withAsset({ id: asset, name, bodies: [{ format, content: "kept" }] })
        const reply = yield* Site.call(urlOf(format), { key: "" })
        assert.strictEqual(reply.status, 200, reply.text)
        assert.strictEqual(reply.headers["content-disposition"], disposition)
        assert.isUndefined(reply.headers["set-cookie"])
      }
    })
  )

  it.effect("come whole, however long they are", () =>
    Effect.gen(function* () {
      const content = Uint8Array.from({ length: 20_000_000 }, (_, index) => (index * 31) % 251)
      const { urlOf } = yield* withAsset({
        id: AssetId.make(id("d")),
        name: "long.zip",
        bodies: [{ format: "zip", content }]
      })
      const reply = yield* Site.call(urlOf("zip"), { key: "" })
      assert.strictEqual(reply.headers["content-length"], String(content.length))
      assert.strictEqual(Buffer.compare(reply.body, content), 0)
    })
  )

  it.effect("are signed anew on every fetch, and carry nothing of the caller's", () =>
    Effect.gen(function* () {
      const { key, tenant } = yield* Site.Site
      const { run, urlOf } = yield* withAsset()
      for (const secret of [key, tenant.adminId, tenant.organizationId, run.chatId])
        assert.notInclude(urlOf("png"), secret)
      // Nor the organization in another way of writing: the address names it to the server alone.
      const signature = new URL(urlOf("png"), "http://x").searchParams.get("signature") ?? ""
      const organization = Buffer.from(tenant.organizationId.replaceAll("-", ""), "hex")
      assert.isFalse(Buffer.from(signature, "base64url").includes(organization))
      const stream = Site.framesOf((yield* Site.call(`/v2/chats/${run.chatId}/stream`)).text)
      const shown = JSON.stringify(stream.find((frame) => frame.data.type === "asset")?.data)
      assert.include(shown, "/v2/assets/")
    })
  )

  it.effect("are refused when any part of the address is altered", () =>
    Effect.gen(function* () {
      const { urlOf } = yield* withAsset()
      const other = new URL(urlOf("svg"), "http://x")
      const good = new URL(urlOf("png"), "http://x")
      const altered = (change: (url: URL) => void) => {
        const url = new URL(good)
        change(url)
        return url.pathname + url.search
      }
      const expires = Number(good.searchParams.get("expires"))
      const signature = good.searchParams.get("signature") ?? ""
      const addresses = [
        altered((url) => (url.pathname = url.pathname.replace(/a$/, "b"))),
        altered((url) => (url.pathname = url.pathname.replace("0197", "0198"))),
        altered((url) => url.searchParams.set("format", "svg")),
        altered((url) => url.searchParams.set("format", "exe")),
        altered((url) => url.searchParams.set("format", "PNG")),
        altered((url) => url.searchParams.set("format", "")),
        altered((url) => url.searchParams.delete("format")),
        altered((url) => url.searchParams.append("format", "png")),
        altered((url) => url.searchParams.set("expires", String(expires + 1))),
        altered((url) => url.searchParams.set("expires", String(expires - 1))),
        altered((url) => url.searchParams.set("expires", `0${expires}`)),
        altered((url) => url.searchParams.set("expires", "never")),
        altered((url) => url.searchParams.set("expires", "Infinity")),
        altered((url) => url.searchParams.delete("expires")),
        altered((url) => url.searchParams.set("signature", "")),
        altered((url) => url.searchParams.delete("signature")),
        altered((url) => url.searchParams.set("signature", `${signature}=`)),
        altered((url) => url.searchParams.set("signature", ` ${signature}`)),
        altered((url) => url.searchParams.set("signature", signature.slice(1))),
        altered((url) => url.searchParams.set("signature", other.searchParams.get("signature") ?? "")),
        ...Array.from({ length: signature.length }, (_, index) =>
          altered((url) =>
            url.searchParams.set(
              "signature",
              signature.slice(0, index) + (signature[index] === "A" ? "B" : "A") + signature.slice(index + 1)
            )
          )
        )
      ]
      for (const address of addresses) {
        const reply = yield* Site.call(address)
        // A repeated parameter is malformed, which is said before anything is looked at.
        assert.strictEqual(
          reply.status,
          address.includes("format=png&expires") && address.endsWith("format=png") ? 400 : 403,
          address
        )
        Site.envelopeOf(reply)
      }
      assert.strictEqual((yield* Site.call(good.pathname + good.search)).status, 200)
    })
  )

  it.effect("whose address is genuine and that are gone are 404", () =>
    Effect.gen(function* () {
      const { asset } = yield* withAsset()
      const signature = yield* AssetSignature.AssetSignature
      const gone = new Asset({ ...asset, id: AssetId.make(id("c")) })
      const url = signature.signer((yield* DateTime.now).epochMilliseconds)(gone, "png")
      const reply = yield* Site.call(url)
      assert.strictEqual(reply.status, 404)
      assert.strictEqual(Site.envelopeOf(reply).code, "not_found")
    }).pipe(Effect.provide(AssetSignature.layer({ secret: Site.assetSecret })))
  )
})

/** Answers a request under the clock of the test. */
const answer = (path: string) =>
  CastellanHttp.use(({ app }) =>
    Effect.scoped(
      Effect.provideService(
        app,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request(`http://localhost${path}`))
      )
    )
  ).pipe(Effect.map(HttpServerResponse.toWeb))

describe("time", () => {
  it.effect("an address works for 15 minutes and not a moment longer", () =>
    Effect.gen(function* () {
      const signature = yield* AssetSignature.AssetSignature
      const now = yield* DateTime.now
      const asset = new Asset({
        id: AssetId.make(id("a")),
        organizationId: Schema.decodeUnknownSync(Asset.fields.organizationId)(id("1")),
        chatId: Schema.decodeUnknownSync(Asset.fields.chatId)(id("2")),
        name: "Sales",
        kind: "chart",
        formats: ["txt"],
        cellId: CellId.make(id("b")),
        messageCellId: CellId.make(id("b")),
        createdAt: now
      })
      yield* AssetStore.use((store) => store.put(asset, [{ format: "txt", content: "42" }]))
      const url = signature.signer(now.epochMilliseconds)(asset, "txt")
      assert.strictEqual((yield* answer(url)).status, 200)
      yield* TestClock.adjust(15 * 60_000 - 1)
      const last = yield* answer(url)
      assert.deepStrictEqual([last.status, last.headers.get("cache-control")], [200, "private, max-age=0, immutable"])
      yield* TestClock.adjust(1)
      const expired = yield* answer(url)
      assert.strictEqual(expired.status, 403)
      assert.deepStrictEqual(yield* Effect.promise(() => expired.json()), {
        error: { code: "permission_denied", message: "the address of the asset has expired or was altered" }
      })
    }).pipe(Effect.provide(Layer.merge(Site.layerApp(), AssetSignature.layer({ secret: Site.assetSecret }))), (test) =>
      Effect.andThen(TestClock.setTime(Date.UTC(2030, 0, 1)), test)
    )
  )
})

describe("signatures", () => {
  const one = { id: AssetId.make(id("1")), format: "png" } as const
  const signed = (secret: string, life?: HttpLimits["assetLife"]) =>
    AssetSignature.AssetSignature.pipe(
      Effect.provide(AssetSignature.layer({ secret: Redacted.make(secret) })),
      life === undefined
        ? (self) => self
        : Effect.provideService(HttpLimits, { ...HttpLimits.defaultValue(), assetLife: life })
    )

  it.effect("of one secret are worth nothing under another", () =>
    Effect.gen(function* () {
      const mine = yield* signed("a".repeat(32))
      const theirs = yield* signed("b".repeat(32))
      const asset = new Asset({
        ...one,
        organizationId: Schema.decodeUnknownSync(Asset.fields.organizationId)(id("1")),
        chatId: Schema.decodeUnknownSync(Asset.fields.chatId)(id("2")),
        name: "Sales",
        kind: "chart",
        formats: ["png"],
        cellId: CellId.make(id("b")),
        messageCellId: CellId.make(id("b")),
        createdAt: yield* DateTime.now
      })
      const url = new URL(mine.signer(0)(asset, "png"), "http://x")
      const parts = { id: asset.id, ...Object.fromEntries(url.searchParams) }
      assert.isTrue(Option.isSome(mine.verify(parts, 0)))
      assert.isTrue(Option.isNone(theirs.verify(parts, 0)))
    })
  )

  it.effect("are not made with a secret that is too short to be one", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(signed("short"))
      assert.isTrue(Exit.isFailure(exit))
      assert.notInclude(JSON.stringify(exit), '"short"')
    })
  )
})
