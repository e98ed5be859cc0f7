/**
 * Sandcastles on the wire.
 *
 * Source: api-v2.md "Sandcastles"; decisions.md §7.
 */
import { ChatId } from "@castellan/core/chat/Chat"
import { MemberId } from "@castellan/core/member/Member"
import type { Slice } from "@castellan/core/page/Page"
import type { Dataframe } from "@castellan/core/sandcastle/SandboxRuntime"
import { type Sandcastle, SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import type { SandcastleView } from "@castellan/core/sandcastle/SandcastleLife"
import * as Schema from "effect/Schema"
import { cursorFields, nextCursor, type SealPosition } from "../wire/PageWire.ts"
import { count, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"

const rule = "must be a sandcastle's id"

/** A sandcastle's id in a path or a body: opaque, and none that is malformed exists. */
export const sandcastleId = Schema.String.annotate({ message: rule })
  .check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u, { message: rule, description: "The sandcastle's id" }))
  .pipe(Schema.decodeTo(SandcastleId))

/** A sandcastle on a list. */
export const SandcastleWire = Schema.Struct({
  sandbox_id: SandcastleId.annotate({ description: "The sandcastle's id" }),
  status: Schema.Literals(["running", "stale", "unknown", "stopped"]).annotate({
    description:
      "How it is. `stale`: idle, and about to be stopped. `unknown`: it does not answer. `stopped`: its executions stay listed"
  }),
  member_id: Schema.optionalKey(uuid(MemberId, "The member that it belongs to")),
  chat_id: Schema.optionalKey(uuid(ChatId, "The chat that it serves")),
  started_at: timestamp("When it was started"),
  released_at: Schema.optionalKey(timestamp("When it was stopped"))
}).annotate({ identifier: "Sandcastle", description: "A Python sandbox that records what ran in it" })
export type SandcastleWire = typeof SandcastleWire.Type

/** A page of sandcastles. */
export const SandcastleListWire = Schema.Struct({
  sandboxes: Schema.Array(SandcastleWire).annotate({ description: "The sandcastles of this page, newest first" }),
  next_cursor: nextCursor
}).annotate({ identifier: "SandcastleList", description: "A page of sandcastles" })
export type SandcastleListWire = typeof SandcastleListWire.Type

/** A sandcastle was started. */
export const StartedSandcastleWire = Schema.Struct({
  sandbox_id: SandcastleId.annotate({ description: "The sandcastle's id" }),
  created_at: timestamp("When it was made")
}).annotate({ identifier: "StartedSandcastle", description: "A sandcastle was started" })
export type StartedSandcastleWire = typeof StartedSandcastleWire.Type

/** A dataframe of a sandcastle. */
export const DataframeWire = Schema.Struct({
  name: text("The name of its variable"),
  num_rows: count("How many rows it has"),
  num_cols: count("How many columns it has"),
  memory_usage: Schema.optionalKey(count("Bytes of memory that it takes, where that can be told"))
}).annotate({ identifier: "Dataframe", description: "A dataframe of the sandcastle's Python session" })
export type DataframeWire = typeof DataframeWire.Type

/** How a sandcastle is. */
export const SandcastleStatusWire = Schema.Struct({
  status: Schema.Literals(["running", "stopped"]).annotate({ description: "Whether it runs" }),
  memory_usage: Schema.optionalKey(count("Bytes of memory that it uses, where that can be told")),
  dataframes: Schema.optionalKey(
    Schema.Array(DataframeWire).annotate({ description: "The dataframes of its Python session, while it runs" })
  )
}).annotate({ identifier: "SandcastleStatus", description: "How a sandcastle is" })
export type SandcastleStatusWire = typeof SandcastleStatusWire.Type

/** Which sandcastle to start. */
export const StartSandcastleRequest = Schema.Struct({
  sandbox_id: Schema.optionalKey(
    sandcastleId.annotate({ description: "The sandcastle to start again; absent, a new one is made" })
  )
}).annotate({
  identifier: "StartSandcastleRequest",
  description: "Which sandcastle to start",
  message: "must be a JSON object"
})
export type StartSandcastleRequest = typeof StartSandcastleRequest.Type

/** Which sandcastles to list. */
export const ListSandcastlesQuery = Schema.Struct({
  ...cursorFields("sandcastles"),
  status: Schema.optionalKey(
    oneOf(["running", "stopped", "all"], "Only sandcastles that run, or only those that were stopped")
  ).annotateKey({ default: "running" })
})
export type ListSandcastlesQuery = typeof ListSandcastlesQuery.Type

const statuses = { Running: "running", Stale: "stale", Unknown: "unknown", Stopped: "stopped" } as const

/** A sandcastle as the wire shows it. */
export const ofSandcastle = ({ chatId, creator, id, status }: Sandcastle): SandcastleWire => ({
  sandbox_id: id,
  status: statuses[status._tag],
  member_id: creator.memberId,
  ...(chatId === undefined ? {} : { chat_id: chatId }),
  started_at: status.startedAt,
  ...(status._tag === "Stopped" ? { released_at: status.releasedAt } : {})
})

/** A page of sandcastles as the wire shows it. */
export const ofSandcastles = (slice: Slice<Sandcastle>, seal: SealPosition): SandcastleListWire => ({
  sandboxes: slice.items.map(ofSandcastle),
  ...(slice.next === undefined ? {} : { next_cursor: seal(slice.next) })
})

/** A sandcastle that was started, as the wire shows it. */
export const ofStarted = (sandcastle: Sandcastle): StartedSandcastleWire => ({
  sandbox_id: sandcastle.id,
  created_at: sandcastle.createdAt
})

/** A dataframe as the wire shows it. */
export const ofDataframe = (dataframe: Dataframe): DataframeWire => ({
  name: dataframe.name,
  num_rows: dataframe.rows,
  num_cols: dataframe.columns,
  ...(dataframe.memoryBytes === undefined ? {} : { memory_usage: dataframe.memoryBytes })
})

/** How a sandcastle is, as the wire shows it, with what it uses while it runs. */
export const ofStatus = ({ sandcastle, usage }: SandcastleView): SandcastleStatusWire => ({
  status: sandcastle.status._tag === "Stopped" ? "stopped" : "running",
  ...(usage?.memoryBytes === undefined ? {} : { memory_usage: usage.memoryBytes }),
  ...(usage === undefined ? {} : { dataframes: usage.dataframes.map(ofDataframe) })
})
