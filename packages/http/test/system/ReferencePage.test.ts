/**
 * The page of the reference as people see it: in a real browser, with no network but the loopback interface.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Browser from "../support/Browser.ts"
import * as Site from "../support/Site.ts"

if (Browser.missing !== undefined) {
  process.stderr.write(`\nSKIPPED: the page of the reference is not looked at, because ${Browser.missing}\n\n`)
}

/** A program of the page that waits until a condition holds in it, however long the machine takes for that. */
const seen = (condition: string) => `new Promise((resolve) => {
  const look = () => { if (${condition}) { watch.disconnect(); resolve() } }
  const watch = new MutationObserver(look)
  watch.observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
  look()
})`

layer(Site.layer(), { excludeTestServices: true })("the page of the reference", (it) => {
  it.effect.skipIf(Browser.program === undefined)(
    "shows every group and an operation with its parameters, and asks nobody but its own server",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Site.Site
        const page = yield* Browser.open(`${url}/docs`)

        // A group's list of its operations is drawn last.
        yield* page.evaluate(seen(`document.body?.innerText.includes("/v2/chats/{id}/cells")`))
        const whole = String(yield* page.evaluate("document.body.innerText"))
        for (const group of ["Chat", "Connectors", "Playbooks", "Sandcastles", "API Keys"]) assert.include(whole, group)

        // A click leads to an operation, which is drawn once it is to be seen.
        yield* page.evaluate(
          `[...document.querySelectorAll("a, button")].find((one) => one.innerText.includes("List the cells of a chat")).click()`
        )
        const parts = ["Path Parameters", "Query Parameters", "offset", "Show Schema", "Authorization: Bearer"]
        yield* page.evaluate(
          seen(`[...document.querySelectorAll("section")].some(({ innerText }) =>
            innerText.startsWith("List the cells of a chat") &&
            ${JSON.stringify(parts)}.every((part) => innerText.includes(part)))`)
        )
        // Nothing invites to send the contract elsewhere.
        assert.notInclude(whole, "Generate SDKs")

        assert.deepStrictEqual(page.complaints, [])
        assert.isAbove(page.requests.length, 2)
        for (const address of page.requests)
          assert.isTrue(/^(?:data|blob):/.test(address) || address.startsWith(url), address)
      }),
    120_000
  )
})
