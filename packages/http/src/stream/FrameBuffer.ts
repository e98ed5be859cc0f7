/**
 * The frames of one run as one stretch of bytes. A frame is written once; what a follower lacks is a view of the
 * stretch, however many frames that is, so followers share every byte and hold none themselves.
 *
 * Bytes that were written never change: the stretch grows by moving to a larger one, and views of the old one stay
 * good for as long as a socket holds them.
 */

/** Bytes that are sent as they are to everybody who lacks them. */
export class Piece {
  readonly bytes: Uint8Array
  private framed: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** The same as a chunk of HTTP/1.1's chunked encoding: made once, too, and one write on every socket. */
  get chunk(): Uint8Array {
    this.framed ??= Buffer.concat([Buffer.from(`${this.bytes.length.toString(16)}\r\n`), this.bytes, lineEnd])
    return this.framed
  }
}

const lineEnd = Buffer.from("\r\n")

/** Frames that a follower lacks. */
export interface Frames {
  readonly piece: Piece
  /** The number of the last of the frames. */
  readonly to: number
}

/** Bytes of the first stretch. Most runs fit into a few times as much. */
const initialSize = 4 * 1024

/**
 * Bytes of one piece at most, unless a single frame has more: what a follower that lags far behind has waiting in its
 * socket.
 */
const maximumPiece = 64 * 1024

/** The frames of one run. They are numbered from 1, like the entries of its log. */
export class FrameBuffer {
  private stretch: Buffer = Buffer.allocUnsafeSlow(initialSize)
  /** Where each frame ends; the frame of number n ends at `ends[n]`. */
  private readonly ends: Array<number> = [0]
  /** The last view: followers that are in step get the very same object. */
  private last: Frames & { readonly from: number } = { from: -1, to: -1, piece: new Piece(this.stretch) }

  /** How many frames there are. */
  get count(): number {
    return this.ends.length - 1
  }

  /** Bytes of memory that the frames take. */
  get size(): number {
    return this.stretch.length
  }

  /** Writes a frame behind the others. */
  append(frame: string): void {
    const start = this.reserve(Buffer.byteLength(frame))
    this.stretch.write(frame, start)
  }

  /** The same frames, but for some that are replaced, in a stretch of their own. */
  replacing(frames: ReadonlyMap<number, string>): FrameBuffer {
    const copy = new FrameBuffer()
    for (let number = 1; number <= this.count; number += 1) {
      const replaced = frames.get(number)
      if (replaced !== undefined) {
        copy.append(replaced)
        continue
      }
      const start = copy.reserve(this.end(number) - this.end(number - 1))
      this.stretch.copy(copy.stretch, start, this.end(number - 1), this.end(number))
    }
    return copy
  }

  /** The frames after a number; there must be some. */
  after(from: number): Frames {
    if (this.last.from === from && this.last.to === this.count) return this.last
    const start = this.end(from)
    let to = this.count
    if (this.end(to) - start > maximumPiece) {
      to = from + 1
      while (to < this.count && this.end(to + 1) - start <= maximumPiece) to += 1
    }
    this.last = { from, to, piece: new Piece(this.stretch.subarray(start, this.end(to))) }
    return this.last
  }

  private end(number: number): number {
    return this.ends[number] ?? 0
  }

  /** Makes room for one more frame, and says where it begins. */
  private reserve(length: number): number {
    const start = this.end(this.count)
    const end = start + length
    if (end > this.stretch.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.stretch.length * 2))
      this.stretch.copy(larger, 0, 0, start)
      this.stretch = larger
    }
    this.ends.push(end)
    return start
  }
}
