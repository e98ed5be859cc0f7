import { AssetId } from "@castellan/core/asset/Asset"
import { Block, countOf, depthOf, ImageVariant, maximumDepth } from "@castellan/core/report/Block"
import * as ReportHtml from "@castellan/core/report/ReportHtml"
import * as ReportText from "@castellan/core/report/ReportText"
import { Report } from "@castellan/core/report/Report"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const elements =
  "a|blockquote|body|br|code|div|em|h1|h2|h3|head|hr|html|img|li|meta|ol|p|pre|span|strong|table|tbody|td|th|thead|title|tr|ul"
const attributes = "align|alt|border|cellpadding|cellspacing|charset|content|href|lang|name|role|src|style|valign|width"

/** The only tags that a report may have, with the only attributes. */
const tag = new RegExp(`^<(?:/(?:${elements})|(?:${elements})(?: (?:${attributes})="[^"<>]*")*(?: /)?)>$`, "u")

/**
 * Everything in a document that a browser would not take for a report's own markup: a reader of HTML written apart
 * from the writer, with a list of its own.
 */
const intrusions = (html: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const body = html.replace(/^<!DOCTYPE html>\n/, "")
  const text = body.replaceAll(/<[^>]*>/g, (one) => {
    if (!tag.test(one)) found.push(one)
    for (const [, name, value = ""] of one.matchAll(/ (href|src)="([^"]*)"/g)) {
      const safe = name === "href" ? /^(?:https?:\/\/|mailto:)/i : /^(?:data:image\/png;base64,|cid:)/
      if (!safe.test(value)) found.push(`${name}=${value}`)
    }
    for (const [, value = ""] of one.matchAll(/ style="([^"]*)"/g)) {
      if (/expression|url\(|javascript|@import/i.test(value)) found.push(`style=${value}`)
    }
    return ""
  })
  if (/[<>]/.test(text)) found.push(text)
  if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) found.push("an ampersand that stands alone")
  return found
}

const hostile = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "</td></tr></table><iframe src=//evil.example>",
  "[click](javascript:alert(1))",
  "[click](data:text/html,<script>alert(1)</script>)",
  '[click](https://ok.example/"onclick="alert(1))',
  "![x](https://evil.example/pixel.png)",
  "<https://evil.example/><b>",
  "&lt;script&gt; &amp;amp; &#x3c;",
  "| a | b |\n|---|---|\n| <i>x</i> | </td><script> |",
  "```html\n</pre><script>alert(1)</script>\n```",
  "# </h3><script>",
  "> </blockquote><script>",
  "- </li><script>\n1. </li>",
  "**</strong><script>** _</em>_ `</code><script>`",
  "\u0000\u0008<\u0000script>\ud800",
  "<!-- --> <![CDATA[ x ]]> <?php ?>",
  "]]><svg/onload=alert(1)>"
]

const assetId = AssetId.make("01890000-0000-7000-8000-000000000000")

/** A report whose every text is the same. */
const filled = (text: string): Pick<Report, "subject" | "summary" | "blocks"> => {
  const image = { _tag: "Asset", assetId } as const
  return {
    subject: text,
    summary: text,
    blocks: [
      { _tag: "Hero", heading: text, content: text },
      { _tag: "Text", heading: text, content: text },
      { _tag: "Image", heading: text, image, alt: text, variant: "rounded" },
      { _tag: "Image", image: { _tag: "Web", url: "https://example.org/a.png?b=1&c" }, alt: text, variant: "none" },
      { _tag: "List", heading: text, items: [text, text] },
      { _tag: "ImageText", heading: text, image, alt: text, variant: "circular", content: text },
      { _tag: "Divider" },
      { _tag: "Spacer", height: 20 },
      {
        _tag: "Table",
        heading: text,
        columns: [{ name: text, numeric: true }],
        rows: [[text], [text]],
        note: text
      },
      { _tag: "Chart", heading: text, assetId, alt: text },
      {
        _tag: "Card",
        heading: text,
        content: text,
        blocks: [{ _tag: "Metric", heading: text, content: text }]
      }
    ]
  }
}

const drawn = (report: ReturnType<typeof filled>) => ReportHtml.render(report, () => "data:image/png;base64,AAAA")

describe("ReportHtml", () => {
  it.each(hostile)("lets nothing of %j be markup", (text) => {
    assert.deepStrictEqual(intrusions(drawn(filled(text))), [])
    assert.deepStrictEqual(intrusions(ReportHtml.render(filled(text), () => undefined)), [])
  })

  it.prop("lets no text be markup", [AnyText, Schema.Literals(hostile), AnyText], ([before, evil, after]) => {
    assert.deepStrictEqual(intrusions(drawn(filled(before + evil + after))), [])
  })

  it.prop("draws any blocks, and nothing but them", { blocks: Schema.Array(Block) }, ({ blocks }) => {
    const html = ReportHtml.render({ subject: "s", summary: "", blocks }, (id) => `cid:${id}`)
    assert.deepStrictEqual(intrusions(html), [])
    assert.isString(ReportText.render({ blocks }))
  })

  it("shows what was meant", () => {
    const html = drawn({
      subject: "Sales & <costs>",
      summary: "Up 4 %",
      blocks: [
        { _tag: "Text", content: "**Up** [more](https://x.example/?a=1&b=2), `x < y`\n\n1. one\n2. two" },
        { _tag: "Table", columns: [{ name: "n", numeric: true }], rows: [["1,200"]] }
      ]
    })
    assert.include(html, "<title>Sales &amp; &lt;costs&gt;</title>")
    assert.match(html, /<strong>Up<\/strong> <a href="https:\/\/x\.example\/\?a=1&amp;b=2" style="[^"]*">more<\/a>, /)
    assert.match(html, /<code style="[^"]*">x &lt; y<\/code>/)
    assert.match(html, /<ol style="[^"]*"><li>one<\/li><li>two<\/li><\/ol>/)
    assert.match(html, /<td align="right" style="[^"]*">1,200<\/td>/)
  })

  it("cuts images to their variant, and describes those that are not to be had", () => {
    const radius = { circular: "50%", rounded: "12px", pill: "999px", none: "0" } as const
    for (const variant of ImageVariant.literals) {
      const blocks: Report["blocks"] = [{ _tag: "Image", image: { _tag: "Asset", assetId }, alt: "The chart", variant }]
      const report = { subject: "s", summary: "", blocks }
      assert.include(drawn(report), `border-radius:${radius[variant]}"`)
      const without = ReportHtml.render(report, () => undefined)
      assert.notInclude(without, "<img")
      assert.include(without, ">The chart<")
    }
  })

  it("fetches nothing from elsewhere", () => {
    const html = drawn(filled("![x](https://evil.example/p.png) plain"))
    for (const [, source = ""] of html.matchAll(/ src="([^"]*)"/g)) assert.match(source, /^data:/)
    assert.notMatch(html, /<link|<style|url\(/)
  })
})

describe("Blocks", () => {
  const nested = (depth: number): Block =>
    depth === 1 ? { _tag: "Divider" } : { _tag: "Card", blocks: [nested(depth - 1)] }
  const valid = Schema.is(Report.fields.blocks)

  it("lie in one another as deep as they may, and no deeper", () => {
    assert.strictEqual(depthOf([nested(3), { _tag: "Divider" }]), 3)
    assert.isTrue(valid([nested(maximumDepth)]))
    assert.isFalse(valid([nested(maximumDepth + 1)]))
  })

  it("are at most five hundred, those in cards among them", () => {
    const card: Block = { _tag: "Card", blocks: Array.from({ length: 99 }, () => ({ _tag: "Divider" as const })) }
    assert.strictEqual(countOf([card, card]), 200)
    assert.isTrue(valid([card, card, card, card, card]))
    assert.isFalse(valid([card, card, card, card, card, { _tag: "Divider" }]))
  })

  it("take pictures of the web over https only", () => {
    const image = (url: string) => valid([{ _tag: "Image", image: { _tag: "Web", url }, alt: "", variant: "none" }])
    assert.isTrue(image("https://example.org/a.png?b=1#c"))
    for (const url of ["http://example.org/a.png", "javascript:alert(1)", "data:image/png;base64,AA", "https://a b"]) {
      assert.isFalse(image(url), url)
    }
  })
})
