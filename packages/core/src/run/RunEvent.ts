/**
 * What happens during a run, in the order in which everybody sees it.
 *
 * Source: api-v2.md "Stream Chat event stream"; decisions.md §4.
 */
import * as Schema from "effect/Schema"
import { Asset } from "../asset/Asset.ts"
import { Cell, CellId } from "../chat/Cell.ts"
import { ChatId } from "../chat/Chat.ts"
import { ModelId } from "../model/Model.ts"

/**
 * An event of a run. `Metadata` comes first, exactly one `Done` last. A `Cell` event comes once when the step starts
 * and once, with the same id, when it ends; of a program that takes long it comes in between, too, with what the program
 * has put out so far.
 */
export const RunEvent = Schema.TaggedUnion({
  Metadata: {
    /** The id of the answer: the cell that its words are in. */
    messageCellId: CellId,
    createdAt: Schema.DateTimeUtc,
    model: ModelId,
    chatId: ChatId,
    isContinuation: Schema.Boolean
  },
  /** A piece of the answer's text. */
  Text: { text: Schema.String },
  Cell: { cell: Cell },
  Asset: { asset: Asset },
  Done: {
    status: Schema.Literals(["completed", "failed"]),
    error: Schema.optionalKey(Schema.String)
  }
})
export type RunEvent = typeof RunEvent.Type

/** An event in its place: sequence numbers start at 1 and grow by one. */
export class RunLogEntry extends Schema.Class<RunLogEntry>("@castellan/core/run/RunLogEntry")({
  sequence: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  event: RunEvent
}) {}
