/**
 * What a chat shows, read from the logs of its runs: messages, cells and assets are nowhere else.
 *
 * Source: architecture.md §3; api-v2.md "ChatMessage".
 */
import type { Asset } from "../asset/Asset.ts"
import type { RunLogEntry } from "../run/RunEvent.ts"
import { type Cell, type CellId, isEnded } from "./Cell.ts"
import { ChatMessage } from "./ChatMessage.ts"

/** Everything that the runs of a chat left behind, each in the order in which it first appeared. */
export interface Transcript {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly cells: ReadonlyArray<Cell>
  readonly assets: ReadonlyArray<Asset>
}

/** Reads the entries of one run, or of several runs one after another. */
export const ofEntries = (entries: Iterable<RunLogEntry>): Transcript => {
  const cells = new Map<CellId, Cell>()
  const assets: Array<Asset> = []
  /** Text that has come for a message whose cell has not ended yet. */
  const streamed = new Map<CellId, string>()
  let messageCellId: CellId | undefined
  for (const { event } of entries) {
    switch (event._tag) {
      case "Metadata":
        messageCellId = event.messageCellId
        break
      case "Text":
        if (messageCellId !== undefined) {
          streamed.set(messageCellId, (streamed.get(messageCellId) ?? "") + event.text)
        }
        break
      case "Cell":
        cells.set(event.cell.id, event.cell)
        break
      case "Asset":
        assets.push(event.asset)
        break
      case "Done":
        break
    }
  }
  const messages: Array<ChatMessage> = []
  for (const cell of cells.values()) {
    if (cell.content._tag !== "Markdown") continue
    messages.push(
      new ChatMessage({
        role: cell.content.role,
        content: isEnded(cell) ? cell.content.content : (streamed.get(cell.id) ?? cell.content.content),
        createdAt: cell.createdAt,
        cellId: cell.id,
        assets: assets.filter((asset) => asset.messageCellId === cell.id),
        ...(cell.content.files === undefined ? {} : { files: cell.content.files })
      })
    )
  }
  return { messages, cells: [...cells.values()], assets }
}
