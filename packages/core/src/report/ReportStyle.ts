/**
 * How reports look. Styles stand in every element, because mail clients drop style sheets; sizes are in pixels and
 * colours in six digits, because some know nothing else.
 */
import type { ImageVariant } from "./Block.ts"

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const ink = "color:#1d2433"
const quiet = "color:#5b6475"
const line = "#e2e6ee"

/** The width of a report at most. */
export const width = 640

/** The styles, by what they are for. */
export const style = {
  page: `margin:0;padding:0;background-color:#f4f6fa;${font};${ink}`,
  /** Before the report: what a list of mails shows beside the subject, and the mail itself does not. */
  preview: "display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;color:#f4f6fa",
  frame: "background-color:#f4f6fa",
  outer: "padding:24px 12px",
  sheet: `width:100%;max-width:${width}px;background-color:#ffffff;border:1px solid ${line};border-radius:8px`,
  cell: "padding:12px 28px",
  hero: "padding:28px 28px 8px 28px",
  title: `margin:0;font-size:24px;line-height:32px;font-weight:700;${ink}`,
  heading: `margin:0 0 8px 0;font-size:17px;line-height:24px;font-weight:600;${ink}`,
  subheading: `margin:12px 0 4px 0;font-size:15px;line-height:22px;font-weight:600;${ink}`,
  paragraph: `margin:0 0 10px 0;font-size:15px;line-height:23px;${ink}`,
  list: `margin:0 0 10px 0;padding:0 0 0 22px;font-size:15px;line-height:23px;${ink}`,
  quote: `margin:0 0 10px 0;padding:0 0 0 12px;border-left:3px solid ${line};font-size:15px;line-height:23px;${quiet}`,
  code: "font-family:Consolas,Menlo,monospace;font-size:13px;background-color:#f4f6fa;padding:1px 4px",
  codeBlock:
    "margin:0 0 10px 0;padding:10px 12px;font-family:Consolas,Menlo,monospace;font-size:13px;line-height:19px;" +
    "background-color:#f4f6fa;white-space:pre-wrap;word-break:break-word",
  link: "color:#2257c9;text-decoration:underline",
  rule: `border:0;border-top:1px solid ${line};margin:0`,
  table: `width:100%;border-collapse:collapse;font-size:13px;line-height:19px;${ink}`,
  columnHead: `padding:6px 10px;border-bottom:2px solid ${line};font-weight:600;${quiet}`,
  field: `padding:6px 10px;border-bottom:1px solid ${line}`,
  note: `margin:6px 0 0 0;font-size:12px;line-height:18px;${quiet}`,
  card: `width:100%;border:1px solid ${line};border-radius:8px`,
  cardCell: "padding:14px 16px",
  metricName: `margin:0;font-size:12px;line-height:18px;${quiet}`,
  metricValue: `margin:0 0 8px 0;font-size:26px;line-height:34px;font-weight:700;${ink}`,
  beside: "padding:0 0 0 16px"
} as const

/** How an image of each variant is cut. */
export const imageStyle: { readonly [Variant in ImageVariant]: string } = {
  circular: "border-radius:50%",
  rounded: "border-radius:12px",
  pill: "border-radius:999px",
  none: "border-radius:0"
}
