/**
 * A column of a result as it grows: the engine's chunks are added one after another, and batches made of them.
 */
import type { DuckDBDataChunk } from "@duckdb/node-api"
import * as Arrow from "@uwdata/flechette"

/** A column that grows. */
export interface ArrowColumn {
  /**
   * Adds a column of a chunk, and answers by how many bytes the column has grown. Where they are more than `room`, it
   * may have added less: then there is no result.
   */
  readonly add: (chunk: DuckDBDataChunk, index: number, count: number, room: number) => number
  /** Ends a batch. */
  readonly seal: () => void
  /** The column of all batches. */
  readonly finish: () => Arrow.Column<unknown>
}

/** A batch of cells, of which the type is not told yet. */
export interface Sealed {
  readonly length: number
  readonly nullCount: number
  readonly validity: Uint8Array
  readonly values: Uint8Array
  /** Where each cell begins and the last ends, for cells of different lengths. */
  readonly offsets?: Int32Array
}

/** A column of batches. */
export const columnOf = (batches: ReadonlyArray<Sealed>, type: Arrow.DataType): Arrow.Column<unknown> =>
  new Arrow.Column(
    batches.map((batch) => new Arrow.Batch({ ...batch, type })),
    type
  )
