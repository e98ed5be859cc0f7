/**
 * The memory of the engine's vectors, as it is: cells one after another, little-endian on every platform that the
 * engine runs on, and one bit for each cell that says whether there is one. It is the engine's, and holds only as long
 * as its chunk: whoever wants to keep something copies it.
 */
import type { DuckDBDataChunk } from "@duckdb/node-api"
import bindings from "@duckdb/node-bindings"

/** Bytes of a boolean. */
export const booleanWidth = bindings.sizeof_bool

/** Bytes of a cell of text or binary: its length, and then all of it, or four bytes and where it is. */
export const textWidth = 16

/** Texts of so many bytes are in their cells. */
export const inlineText = 12

/** A vector: one column of a chunk. */
export interface VectorMemory {
  readonly cells: Uint8Array
  /** A set bit is a cell, from the lowest bit on; absent where all are. */
  readonly validity: Uint8Array | undefined
}

/** The memory of a column of a chunk of `count` rows, whose cells have `width` bytes. */
export const of = (chunk: DuckDBDataChunk, index: number, count: number, width: number): VectorMemory => {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
  const validity: Uint8Array | null = bindings.vector_get_validity(vector, Math.ceil(count / 64) * 8)
  return { cells: bindings.vector_get_data(vector, count * width), validity: validity ?? undefined }
}

/** The bytes that a text which is not in its cell begins with; as many may be read as lie there. */
export const pointedAt = (cells: Uint8Array, row: number, length: number): Uint8Array => {
  const { buffer, byteOffset } = cells
  if (!(buffer instanceof ArrayBuffer)) throw new TypeError("the memory of a vector is shared")
  return bindings.get_data_from_pointer(buffer, byteOffset + row * textWidth + 8, length)
}

/** Overwrites the cells of a column of a chunk, from the first on. */
export const write = (chunk: DuckDBDataChunk, index: number, cells: Uint8Array): void => {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
  bindings.copy_data_to_vector(vector, 0, bufferOf(cells), cells.byteOffset, cells.length)
}

/** Says which cells of a column of a chunk there are: bits as above, which are taken from `validity`. */
export const writeValidity = (chunk: DuckDBDataChunk, index: number, validity: Uint8Array): void => {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
  bindings.vector_ensure_validity_writable(vector)
  bindings.copy_data_to_vector_validity(vector, 0, bufferOf(validity), validity.byteOffset, validity.length)
}

/**
 * Has a column of text or binary keep bytes, more of them than are in a cell, for its cells to point at; answers where
 * they lie, as the low and the high half of the address. What the first cell was is lost.
 */
export const keep = (
  chunk: DuckDBDataChunk,
  index: number,
  bytes: Uint8Array
): { readonly low: number; readonly high: number } => {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
  bindings.vector_assign_string_element_len(vector, 0, bytes)
  const cell = bindings.vector_get_data(vector, textWidth)
  const words = new DataView(cell.buffer, cell.byteOffset, cell.length)
  return { low: words.getUint32(8, true), high: words.getUint32(12, true) }
}

const bufferOf = ({ buffer }: Uint8Array): ArrayBuffer => {
  if (!(buffer instanceof ArrayBuffer)) throw new TypeError("memory that is shared cannot be copied from")
  return buffer
}
