/**
 * One run's frames and those who follow them, within this process.
 *
 * A follower is a number, that of the last frame it took, and a way to wake it. It takes what it lacks when its
 * connection has room, and waits when it lacks nothing; a connection that is not read takes nothing and holds up
 * nobody. All of this is synchronous: it runs within the callbacks of sockets, once for every follower and event.
 */
import type { RunLogEntry } from "@castellan/core/run/RunEvent"
import { comment, type EncodeFrame } from "./EventFrame.ts"
import { FrameBuffer, type Frames, type Piece } from "./FrameBuffer.ts"

/** What a connection reads from. */
export interface Follower {
  /** What is there and was not taken yet; nothing when there is nothing now. There may be more at once. */
  readonly take: () => Piece | undefined
  /** Whether everything was taken, and no more will come. */
  readonly isAtEnd: () => boolean
  /** Calls back once, when there is something to take or the end is reached. Asking again replaces the question. */
  readonly wait: (wake: () => void) => void
  /** Gives up following. */
  readonly leave: () => void
}

class Following implements Follower {
  private readonly feed: RunFeed
  position: number
  /** Whether a comment is due. The first flushes the headers, where no frame is there to do it. */
  commentDue = true
  private wake: (() => void) | undefined
  private isHere = false

  constructor(feed: RunFeed, position: number) {
    this.feed = feed
    this.position = position
  }

  readonly take = (): Piece | undefined => {
    // Counted from the first piece on: a response that is never sent, because its client left before, has no follower.
    if (!this.isHere) this.feed.arrive(this)
    this.isHere = true
    if (this.position < this.feed.count) {
      const { piece, to } = this.feed.after(this.position)
      this.position = to
      this.commentDue = false
      return piece
    }
    const epilogue = this.feed.epilogue
    if (epilogue !== undefined && this.position === this.feed.count) {
      this.position += 1
      return epilogue
    }
    if (!this.commentDue || this.feed.isClosed) return undefined
    this.commentDue = false
    return comment
  }

  readonly isAtEnd = (): boolean =>
    this.feed.isClosed && this.position >= this.feed.count + (this.feed.epilogue === undefined ? 0 : 1)

  readonly wait = (wake: () => void): void => {
    this.wake = wake
    this.feed.waiting.push(this)
  }

  readonly leave = (): void => {
    this.wake = undefined
    this.feed.leave(this)
  }

  /** Calls back whoever waits. */
  rouse(): void {
    const wake = this.wake
    this.wake = undefined
    wake?.()
  }
}

/** One run's frames and those who follow them. */
export class RunFeed {
  private readonly encode: EncodeFrame
  private frames = new FrameBuffer()
  private closed = false
  private readonly followers = new Set<Following>()
  /** Followers that have taken everything. One that has left stays until the next time they are woken. */
  waiting: Array<Following> = []
  /** Entries whose frames hold addresses that expire, and when the oldest of them was encoded. */
  private readonly signed: Array<RunLogEntry> = []
  private signedAt = Number.POSITIVE_INFINITY
  /** What ends the stream of a run whose log could not be followed to its end. */
  epilogue: Piece | undefined
  /** Who has asked for the feed and does not follow yet. */
  arriving = 0
  /** When the last follower left; a feed that nobody has followed yet was left when it was made. */
  leftAt: number

  constructor(encode: EncodeFrame, now: number) {
    this.encode = encode
    this.leftAt = now
  }

  /** How many frames there are. */
  get count(): number {
    return this.frames.count
  }

  /** Bytes of memory that the frames take. */
  get size(): number {
    return this.frames.size
  }

  /** Whether no more frames will come. */
  get isClosed(): boolean {
    return this.closed
  }

  /** Whether nobody follows, or is about to. */
  get isIdle(): boolean {
    return this.followers.size === 0 && this.arriving === 0
  }

  /** How many follow. */
  get followerCount(): number {
    return this.followers.size
  }

  /** The frames after a number; there must be some. */
  after(number: number): Frames {
    return this.frames.after(number)
  }

  /** Encodes entries of the run log and wakes whoever waits for them. Entries that are there already are left out. */
  append(entries: ReadonlyArray<RunLogEntry>, now: number): void {
    for (const entry of entries) {
      if (this.closed || entry.sequence <= this.count) continue
      const { frame, signed } = this.encode(entry, now)
      this.frames.append(frame)
      if (signed) {
        this.signed.push(entry)
        this.signedAt = Math.min(this.signedAt, now)
      }
      if (entry.event._tag === "Done") this.closed = true
    }
    this.rouse()
  }

  /** Encodes again what holds addresses that were made before a moment. */
  refresh(before: number, now: number): void {
    if (this.signedAt >= before) return
    this.frames = this.frames.replacing(
      new Map(this.signed.map((entry) => [entry.sequence, this.encode(entry, now).frame]))
    )
    this.signedAt = now
  }

  /** Ends every stream here, without an end of the run: the clients can resume. `epilogue` is sent last. */
  close(epilogue?: Piece): void {
    if (this.closed) return
    this.closed = true
    this.epilogue = epilogue
    this.rouse()
  }

  /** Someone who follows after the frame of a number. They are counted when they take their first piece. */
  follower(after: number, now: number): Follower {
    this.leftAt = now
    return new Following(this, after)
  }

  /** A follower is there. */
  arrive(follower: Following): void {
    this.followers.add(follower)
  }

  /** A follower has left. */
  leave(follower: Following): void {
    this.followers.delete(follower)
  }

  /** Sends a comment to everybody who waits. */
  heartbeat(): void {
    for (const follower of this.waiting) follower.commentDue = true
    this.rouse()
  }

  private rouse(): void {
    const waiting = this.waiting
    // Those who wait again on being woken wait for the next time.
    this.waiting = []
    for (const follower of waiting) follower.rouse()
  }
}
