/**
 * The numbers of the frames of a stream.
 *
 * A frame's number tells the run as well as the place in it, so that numbers grow within a chat, and a client that was
 * cut off during one run is sent the rest of that run, not the middle of the next. Whoever follows the first run of a
 * chat sees 1, 2, 3, …
 *
 * Source: api-v2.md "Stream Chat event stream"; decisions.md §4 ("every frame has an SSE `id:` that grows").
 */
import type { SignAsset } from "@castellan/api/asset/AssetWire"
import * as ChatStreamFrame from "@castellan/api/chat/ChatStreamFrame"
import type { RunLogEntry } from "@castellan/core/run/RunEvent"
import { Piece } from "./FrameBuffer.ts"

/** Events that a run can have at most: text is gathered, so that a run of hours has a fraction of it. */
const eventsOfRun = 1_000_000

/** A place in the streams of a chat: so many events of the run with this number (from 0) have been received. */
export interface StreamPosition {
  readonly run: number
  readonly received: number
}

/** The id of a frame. */
export const frameId = (run: number, sequence: number): number => run * eventsOfRun + sequence

/** The place after the frame of an id. */
export const positionAfter = (id: number): StreamPosition => ({
  run: Math.floor(id / eventsOfRun),
  received: id % eventsOfRun
})

/** Turns an entry of a run's log into a frame. `signed`: it holds addresses that expire. */
export type EncodeFrame = (entry: RunLogEntry, now: number) => { readonly frame: string; readonly signed: boolean }

/** Encodes the events of a run; its number is its place among the runs of its chat, from 0. */
export const encoder =
  (run: number, signer: (now: number) => SignAsset): EncodeFrame =>
  ({ event, sequence }, now) => ({
    frame: ChatStreamFrame.encode({ event, sequence: frameId(run, sequence) }, signer(now)),
    signed: event._tag === "Asset"
  })

/**
 * The frame that ends the stream of a run whose log cannot be followed any further. It has no id: a client that
 * resumes goes on after the last event that it has really seen.
 */
export const broken = new Piece(Buffer.from('data: {"type":"done","status":"failed","error":"internal"}\n\n'))

/** The comment that keeps a connection open, and carries the headers of a response whose first event is yet to come. */
export const comment = new Piece(Buffer.from(ChatStreamFrame.heartbeat))
