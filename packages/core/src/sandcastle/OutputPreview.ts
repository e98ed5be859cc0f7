/**
 * The beginning of what an execution put out, as it is kept.
 *
 * Source: decisions.md §7 ("`output_preview`: at most 16 KiB, a longer one ends with `…[truncated]`").
 */
import { utf8Length, utf8Prefix } from "../text/Utf8.ts"

/** Bytes of a preview at most, its marker among them. */
export const maxBytes = 16 * 1024

/** How a preview ends that is not the whole. */
export const truncated = "…[truncated]"

/** The preview of an output: the whole, or its beginning and the marker. A character is never broken. */
export const previewOf = (output: string): string =>
  utf8Length(output) <= maxBytes ? output : `${utf8Prefix(output, maxBytes - utf8Length(truncated))}${truncated}`
