/**
 * One question and its answer, event by event.
 */
import type { ChatStreamEvent, Client } from "@castellan/api/client/Client"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Screen } from "./Screen.ts"

type Asset = Extract<ChatStreamEvent, { readonly type: "asset" }>["asset"]
type Cell = Extract<ChatStreamEvent, { readonly type: "cell" }>["cell"]

/** A name that every file system takes. */
const fileName = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 80) || "asset"

/** Gives every asset a name of its own, as assets come. */
export const fileNames = (): Output["nameOf"] => {
  const taken = new Map<string, number>()
  return (asset) => {
    const base = `${fileName(asset.name)}-${asset.type}`
    const count = (taken.get(base) ?? 0) + 1
    taken.set(base, count)
    return count === 1 ? base : `${base}-${count}`
  }
}

/** A chart's specification and a table's rows are both JSON, and may have one name. */
const extension = (asset: Asset, format: string): string =>
  asset.type === "chart" && format === "json" ? "vl.json" : format

const save = async (client: Client, asset: Asset, output: string, name: string): Promise<ReadonlyArray<string>> => {
  await mkdir(output, { recursive: true })
  return Promise.all(
    asset.formats.map(async ({ format, url }) => {
      const response = await client.assets.fetch(url)
      const path = join(output, `${name}.${extension(asset, format)}`)
      await writeFile(path, new Uint8Array(await response.arrayBuffer()))
      return path
    })
  )
}

const describe = (cell: Cell): string => {
  const what = [cell.tool_name ?? cell.type, cell.status, cell.title].filter((part) => part !== undefined).join(" · ")
  const time = cell.execution_time_ms === undefined ? "" : ` · ${cell.execution_time_ms} ms`
  return `${what}${time}${cell.error === undefined ? "" : ` · ${cell.error}`}`
}

/** Where assets are saved, and under which names. */
export interface Output {
  readonly folder: string
  readonly nameOf: (asset: Asset) => string
}

/** Asks a question and shows the answer as it comes; false when the run failed. */
export const ask = async (
  client: Client,
  question: string,
  output: Output,
  screen: Screen,
  signal: AbortSignal
): Promise<boolean> => {
  const assets: Array<Asset> = []
  const running = new Set<string>()
  let pieces = 0
  let answered = false
  for await (const event of client.chats.stream({ question }, { signal })) {
    switch (event.type) {
      case "metadata":
        screen.event("metadata", `chat ${event.chat_id} · ${event.model}`)
        break
      case "cell":
        // What a program has put out so far is told while it runs, too: it has begun once.
        if (event.cell.status !== "running" || !running.has(event.cell.id)) screen.event("cell", describe(event.cell))
        running.add(event.cell.id)
        break
      case "asset":
        assets.push(event.asset)
        screen.event("asset", `${event.asset.type} · ${event.asset.name}`)
        break
      case "text":
        if (pieces === 0) screen.event("text", "the answer, as it streams")
        pieces += 1
        screen.text(event.text)
        break
      case "done":
        answered = event.status === "completed"
        screen.event(
          "done",
          `${event.status} · ${pieces} pieces of text${event.error === undefined ? "" : ` · ${event.error}`}`
        )
        break
    }
    if (event.type === "metadata" || event.type === "cell") screen.progress("working")
  }
  const saved = await Promise.all(assets.map((asset) => save(client, asset, output.folder, output.nameOf(asset))))
  assets.forEach((asset, index) => {
    for (const path of saved[index] ?? []) screen.saved(asset.type, path)
  })
  return answered
}
