/**
 * A report as HTML that common mail clients show: one document that needs nothing from elsewhere, laid out in tables, styled in place, everything in it escaped.
 *
 * Source: decisions.md §6 ("`html_preview` is self-contained, escaped HTML that common mail clients show").
 */
import type { AssetId } from "../asset/Asset.ts"
import type { Block, ImageSource, ImageVariant } from "./Block.ts"
import * as Html from "./Html.ts"
import * as MarkdownHtml from "./MarkdownHtml.ts"
import type { Report } from "./Report.ts"
import { imageStyle, style, width } from "./ReportStyle.ts"

/**
 * Where the bytes of an asset are for this document: a `data:` address, or the `cid:` of a part of the same mail;
 * nothing where the asset is not to be had, and then its description stands for it.
 */
export type AssetAddress = (id: AssetId) => string | undefined

/** The room that a picture has, in the document's width. */
const pictureWidth = width - 58
const besideWidth = 180

const row = (cellStyle: string, ...content: ReadonlyArray<Html.Html>): Html.Html =>
  Html.element("tr", {}, Html.element("td", { style: cellStyle }, ...content))

const frame = (tableStyle: string, ...rows: ReadonlyArray<Html.Html>): Html.Html =>
  Html.element(
    "table",
    { role: "presentation", cellpadding: "0", cellspacing: "0", border: "0", width: "100%", style: tableStyle },
    Html.element("tbody", {}, ...rows)
  )

const headed = (heading: string | undefined): Html.Html =>
  heading === undefined || heading === "" ? Html.none : Html.element("h2", { style: style.heading }, Html.text(heading))

const picture = (source: string | undefined, alt: string, variant: ImageVariant, room: number): Html.Html =>
  source === undefined
    ? Html.element("p", { style: style.note }, Html.text(alt))
    : Html.element("img", {
        src: source,
        alt,
        width: String(room),
        style: `display:block;width:100%;max-width:${room}px;height:auto;border:0;${imageStyle[variant]}`
      })

/** A picture of the web is a link: a document that fetched it would tell that place who reads it, and when. */
const image = (
  {
    alt,
    image: source,
    variant
  }: { readonly image: ImageSource; readonly alt: string; readonly variant: ImageVariant },
  room: number,
  addressOf: AssetAddress
): Html.Html =>
  source._tag === "Asset"
    ? picture(addressOf(source.assetId), alt, variant, room)
    : Html.element(
        "p",
        { style: style.paragraph },
        Html.element("a", { href: source.url, style: style.link }, Html.text(alt === "" ? source.url : alt))
      )

const content = (block: Block, addressOf: AssetAddress): Html.Html => {
  switch (block._tag) {
    case "Hero":
      return Html.all([
        Html.element("h1", { style: style.title }, Html.text(block.heading)),
        block.content === undefined
          ? Html.none
          : Html.element("p", { style: style.paragraph }, Html.text(block.content))
      ])
    case "Text":
      return Html.all([headed(block.heading), MarkdownHtml.render(block.content)])
    case "Image":
      return Html.all([headed(block.heading), image(block, pictureWidth, addressOf)])
    case "Chart":
      return Html.all([headed(block.heading), picture(addressOf(block.assetId), block.alt, "none", pictureWidth)])
    case "List":
      return Html.all([headed(block.heading), MarkdownHtml.list(false, block.items)])
    case "ImageText":
      return Html.all([
        headed(block.heading),
        frame(
          style.table,
          Html.element(
            "tr",
            {},
            Html.element("td", { width: String(besideWidth), valign: "top" }, image(block, besideWidth, addressOf)),
            Html.element("td", { valign: "top", style: style.beside }, MarkdownHtml.render(block.content))
          )
        )
      ])
    case "Divider":
      return Html.element("hr", { style: style.rule })
    case "Spacer":
      return Html.element("div", {
        style: `height:${block.height}px;line-height:${block.height}px;font-size:1px`
      })
    case "Table":
      return Html.all([
        headed(block.heading),
        MarkdownHtml.table(block.columns, block.rows),
        block.note === undefined ? Html.none : Html.element("p", { style: style.note }, Html.text(block.note))
      ])
    case "Metric":
      return Html.all([
        Html.element("p", { style: style.metricName }, Html.text(block.heading)),
        Html.element("p", { style: style.metricValue }, Html.text(block.content))
      ])
    case "Card":
      return frame(
        style.card,
        row(
          style.cardCell,
          headed(block.heading),
          block.content === undefined ? Html.none : MarkdownHtml.render(block.content),
          ...block.blocks.map((inner) => content(inner, addressOf))
        )
      )
  }
}

/** The document of a report, its pictures at the addresses that are given. */
export const render = (report: Pick<Report, "subject" | "summary" | "blocks">, addressOf: AssetAddress): string =>
  Html.documentOf(
    Html.element(
      "html",
      { lang: "en" },
      Html.element(
        "head",
        {},
        Html.element("meta", { charset: "utf-8" }),
        Html.element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
        Html.element("title", {}, Html.text(report.subject))
      ),
      Html.element(
        "body",
        { style: style.page },
        Html.element("div", { style: style.preview }, Html.text(report.summary)),
        frame(
          style.frame,
          Html.element(
            "tr",
            {},
            Html.element(
              "td",
              { align: "center", style: style.outer },
              frame(
                style.sheet,
                ...report.blocks.map((block) =>
                  row(block._tag === "Hero" ? style.hero : style.cell, content(block, addressOf))
                )
              )
            )
          )
        )
      )
    )
  )
