/**
 * Bounds what the file system in memory holds: bytes and nodes.
 *
 * Without it Python fills the machine's memory by writing files, which are no part of its heap. Code that reaches
 * JavaScript gets around it; the host's watchdog over the process's memory is what holds then.
 */
import { contentOf, type FileNode, type FileSystem, nodesIn } from "./Pyodide.ts"

/** No space left on device, as Emscripten counts errors. */
const noSpace = 51

/** The quota of one file system. */
export class DiskQuota {
  readonly #files: FileSystem
  readonly #maximumBytes: number
  readonly #maximumNodes: number
  #bytes = 0
  #nodes = 0
  #lifted = false

  constructor(files: FileSystem, maximumBytes: number, maximumNodes: number) {
    this.#files = files
    this.#maximumBytes = maximumBytes
    this.#maximumNodes = maximumNodes
  }

  /** Holds the quota from now on, and counts how often each file is changed. What is there does not count. */
  hold(): void {
    const { MEMFS } = this.#files.filesystems
    const table = MEMFS.ops_table.file
    const { write } = table.stream
    const counted: typeof write = (stream, buffer, offset, length, position, canOwn) => {
      this.#grow(Math.max(0, position + length - stream.node.usedBytes))
      stream.node.revision = (stream.node.revision ?? 0) + 1
      return write(stream, buffer, offset, length, position, canOwn)
    }
    table.stream.write = counted
    MEMFS.stream_ops.write = counted
    const { setattr } = table.node
    table.node.setattr = (node, attributes) => {
      if (attributes.size !== undefined) {
        this.#grow(Math.max(0, attributes.size - node.usedBytes))
        node.revision = (node.revision ?? 0) + 1
      }
      setattr(node, attributes)
    }
    const { createNode } = MEMFS
    MEMFS.createNode = (parent, name, mode, device) => {
      this.#addNode()
      return createNode(parent, name, mode, device)
    }
    const { bytes, nodes } = this.#count()
    this.#base = { bytes, nodes }
  }

  #base = { bytes: 0, nodes: 0 }

  /** Does what the host asked for, which keeps a quota of its own. */
  lifted<A>(work: () => A): A {
    this.#lifted = true
    try {
      return work()
    } finally {
      this.#lifted = false
    }
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    if (this.#lifted || this.#bytes <= this.#maximumBytes) return
    this.#recount()
    if (this.#bytes + bytes > this.#maximumBytes) throw new this.#files.ErrnoError(noSpace)
    this.#bytes += bytes
  }

  #addNode(): void {
    this.#nodes += 1
    if (this.#lifted || this.#nodes <= this.#maximumNodes) return
    this.#recount()
    if (this.#nodes + 1 > this.#maximumNodes) throw new this.#files.ErrnoError(noSpace)
    this.#nodes += 1
  }

  /** What was removed since the last count is free again. */
  #recount(): void {
    const { bytes, nodes } = this.#count()
    this.#bytes = bytes - this.#base.bytes
    this.#nodes = nodes - this.#base.nodes
  }

  #count(): { readonly bytes: number; readonly nodes: number } {
    let bytes = 0
    const seen = new Set<FileNode>()
    const pending: Array<FileNode> = [this.#files.root]
    // A file that was removed while it is open still takes its room.
    for (const stream of this.#files.streams) if (stream) pending.push(stream.node)
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (seen.has(node)) continue
      seen.add(node)
      bytes += contentOf(node)?.length ?? 0
      for (const below of Object.values(nodesIn(node))) pending.push(below)
    }
    return { bytes, nodes: seen.size }
  }
}
