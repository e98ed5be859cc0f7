/** Markdown on its way to a terminal looks the same however it was cut into pieces. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarkdownText, plain } from "../src/demo/MarkdownText.ts"

const emphasis = {
  strong: (text: string) => `<b>${text}</b>`,
  heading: (text: string) => `<h>${text}</h>`,
  light: (text: string) => `<i>${text}</i>`
}

const shown = (pieces: ReadonlyArray<string>, style = emphasis): string => {
  let out = ""
  const text = new MarkdownText((piece) => {
    out += piece
  }, style)
  for (const piece of pieces) text.push(piece)
  text.end()
  return out
}

const answer = `## Delay

The **average delay** is 12 minutes, 3 | 4.

| airport | delay |
|:---|---:|
| Chicago | 12 |
| Orlando \\| Sanford | 3.5 |

*Read as: delay **by** airport.*
*Read as: delay.* And more.
Nothing else.`

describe("MarkdownText", () => {
  it("shows headings, emphasis and aligned tables", () => {
    assert.strictEqual(
      shown([answer]),
      [
        "<h>Delay</h>",
        "",
        "The <b>average delay</b> is 12 minutes, 3 | 4.",
        "",
        "airport            delay",
        "─────────────────  ─────",
        "Chicago               12",
        "Orlando | Sanford    3.5",
        "",
        "<i>Read as: delay <b>by</b> airport.</i>",
        "<i>Read as: delay.</i> And more.",
        "Nothing else.",
        ""
      ].join("\n")
    )
  })

  it.prop(
    "is the same however it was cut",
    { cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: answer.length }))) },
    ({ cuts }) => {
      const places = [...new Set([0, ...cuts, answer.length])].toSorted((a, b) => a - b)
      const pieces = places.slice(1).map((end, index) => answer.slice(places[index], end))
      assert.strictEqual(shown(pieces), shown([answer]))
    }
  )

  it("shows words before their line has ended", () => {
    let out = ""
    const text = new MarkdownText((piece) => {
      out += piece
    }, plain)
    text.push("The average delay is **tw")
    assert.strictEqual(out, "The average delay is ")
  })
})
