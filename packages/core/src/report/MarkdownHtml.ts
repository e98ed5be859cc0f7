/**
 * Markdown as HTML for mail. It is read into a tree first, and only the tree is written: markup in the text stays text.
 */
import * as Html from "./Html.ts"
import * as Inline from "./Inline.ts"
import * as Markdown from "./Markdown.ts"
import { style } from "./ReportStyle.ts"
import type { TableColumn } from "./Block.ts"

const part = (inline: Inline.Inline): Html.Html => {
  switch (inline._tag) {
    case "Text":
      return Html.text(inline.text)
    case "Code":
      return Html.element("code", { style: style.code }, Html.text(inline.text))
    case "Strong":
      return Html.element("strong", {}, ...inline.parts.map(part))
    case "Emphasis":
      return Html.element("em", {}, ...inline.parts.map(part))
    case "Link":
      return Html.element("a", { href: inline.url, style: style.link }, ...inline.parts.map(part))
  }
}

/** One line, or a paragraph of several. */
export const inline = (source: string): Html.Html => Html.all(Inline.parse(source).map(part))

/** A table, its numbers to the right. */
export const table = (columns: ReadonlyArray<TableColumn>, rows: ReadonlyArray<ReadonlyArray<string>>): Html.Html => {
  const align = (column: TableColumn | undefined) => ({ align: column?.numeric === true ? "right" : "left" })
  return Html.element(
    "table",
    { role: "table", cellpadding: "0", cellspacing: "0", border: "0", width: "100%", style: style.table },
    Html.element(
      "thead",
      {},
      Html.element(
        "tr",
        {},
        ...columns.map((column) =>
          Html.element("th", { ...align(column), style: style.columnHead }, Html.text(column.name))
        )
      )
    ),
    Html.element(
      "tbody",
      {},
      ...rows.map((row) =>
        Html.element(
          "tr",
          {},
          ...row.map((value, index) =>
            Html.element("td", { ...align(columns[index]), style: style.field }, Html.text(value))
          )
        )
      )
    )
  )
}

/** The items of a list. */
export const list = (ordered: boolean, items: ReadonlyArray<string>): Html.Html =>
  Html.element(
    ordered ? "ol" : "ul",
    { style: style.list },
    ...items.map((item) => Html.element("li", {}, inline(item)))
  )

const block = (one: Markdown.MarkdownBlock): Html.Html => {
  switch (one._tag) {
    case "Heading":
      return Html.element("h3", { style: style.subheading }, inline(one.text))
    case "Paragraph":
      return Html.element("p", { style: style.paragraph }, inline(one.text))
    case "List":
      return list(one.ordered, one.items)
    case "Quote":
      return Html.element("blockquote", { style: style.quote }, inline(one.text))
    case "Code":
      return Html.element("pre", { style: style.codeBlock }, Html.text(one.text))
    case "Table":
      return table(one.columns, one.rows)
    case "Rule":
      return Html.element("hr", { style: style.rule })
    case "Picture":
      return Html.element("p", { style: style.paragraph }, Html.text(one.alt))
  }
}

/** A whole text. */
export const render = (markdown: string): Html.Html => Html.all(Markdown.parse(markdown).map(block))
