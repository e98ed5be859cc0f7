/**
 * Integers of which it is not known before the end how wide they are: of 64 bits where all of them fit, else decimals
 * of 38 digits, else text. The column begins narrow, and is written again, wider, when a cell comes that does not fit.
 */
import type * as Duck from "@duckdb/node-api"
import { DuckDBTypeId } from "@duckdb/node-api"
import * as Arrow from "@uwdata/flechette"
import { type ArrowColumn, columnOf, type Sealed } from "./ArrowColumn.ts"
import { FixedCells } from "./FixedColumn.ts"
import { eachNull } from "./GrowingValidity.ts"
import { offsetWidth, TextCells } from "./TextColumn.ts"
import * as VectorMemory from "./VectorMemory.ts"

type Cells = ReadonlyArray<bigint | null>

const beyondLong = 2n ** 63n
const beyondDecimal = 10n ** 38n

/** One way to keep the cells. */
interface Form {
  readonly cells: FixedCells | TextCells
  readonly type: Arrow.DataType
  readonly holds: (cell: bigint) => boolean
  /** Adds cells, and answers their size. */
  readonly add: (cells: Cells) => number
  /** The cells of a batch again. */
  readonly read: (batch: Sealed) => Cells
  readonly wider: () => Form
}

const isCell = ({ validity }: Sealed, row: number): boolean =>
  validity.length === 0 || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0

const fixed = (
  width: 8 | 16,
  type: Arrow.DataType,
  limits: Pick<Form, "holds" | "wider">
): Form & { readonly cells: FixedCells } => {
  const cells = new FixedCells(width)
  const longs = width / 8
  return {
    ...limits,
    cells,
    type,
    add: (values) => {
      const to = cells.extend(values.length)
      const view = new DataView(to.buffer, to.byteOffset, to.length)
      for (const [row, value] of values.entries()) {
        if (value === null) cells.remove(row, values.length)
        else {
          view.setBigInt64(row * width, BigInt.asIntN(64, value), true)
          if (longs === 2) view.setBigInt64(row * width + 8, value >> 64n, true)
        }
      }
      return to.length
    },
    read: (batch) => {
      const words = new BigInt64Array(batch.values.buffer, batch.values.byteOffset, batch.length * longs)
      return Array.from({ length: batch.length }, (_, row): bigint | null => {
        if (!isCell(batch, row)) return null
        const low = words[row * longs] ?? 0n
        return longs === 1 ? low : ((words[row * 2 + 1] ?? 0n) << 64n) | BigInt.asUintN(64, low)
      })
    }
  }
}

const longs = (): Form & { readonly cells: FixedCells } =>
  fixed(8, Arrow.int64(), { holds: (cell) => cell >= -beyondLong && cell < beyondLong, wider: decimals })

const decimals = (): Form =>
  fixed(16, Arrow.decimal(38, 0, 128), {
    holds: (cell) => cell > -beyondDecimal && cell < beyondDecimal,
    wider: texts
  })

const texts = (): Form => {
  const cells = new TextCells()
  return {
    cells,
    type: Arrow.utf8(),
    holds: () => true,
    add: (values) => {
      let size = 0
      for (const value of values) {
        const bytes = value === null ? null : Buffer.from(String(value))
        cells.push(bytes)
        size += offsetWidth + (bytes?.length ?? 0)
      }
      return size
    },
    // There is nothing wider to read them for.
    read: () => [],
    wider: texts
  }
}

/** The low halves of integers of 128 bits, where all that are there fit into 64. */
const lowHalves = (
  { cells, validity }: VectorMemory.VectorMemory,
  count: number,
  signed: boolean
): Int32Array | undefined => {
  const words = new Int32Array(Uint8Array.from(cells).buffer)
  eachNull(validity, count, (row) => words.fill(0, 4 * row, 4 * row + 4))
  const low = new Int32Array(2 * count)
  for (let row = 0; row < count; row++) {
    const sign = (words[4 * row + 1] ?? 0) >> 31
    if (words[4 * row + 2] !== sign || words[4 * row + 3] !== sign || (!signed && sign !== 0)) return undefined
    low[2 * row] = words[4 * row] ?? 0
    low[2 * row + 1] = words[4 * row + 1] ?? 0
  }
  return low
}

/** A column of HUGEINT, UHUGEINT or BIGNUM. */
export const make = (type: Duck.DuckDBType): ArrowColumn => {
  const narrow = longs()
  let form: Form = narrow
  let size = 0

  /** Writes all cells again, wider, in the same batches; stops once they are more than `most` bytes. */
  const widen = (most: number): void => {
    form.cells.seal()
    const wider = form.wider()
    size = 0
    for (const [index, batch] of form.cells.sealed.entries()) {
      // The last one had not ended.
      if (index > 0) wider.cells.seal()
      size += wider.add(form.read(batch))
      if (size > most) break
    }
    form = wider
  }

  /** Adds cells of 64 bits as they lie in memory; answers false where there are others. */
  const addLongs = (chunk: Duck.DuckDBDataChunk, index: number, count: number): boolean => {
    if (form !== narrow || type.typeId === DuckDBTypeId.BIGNUM) return false
    const memory = VectorMemory.of(chunk, index, count, 16)
    const low = lowHalves(memory, count, type.typeId === DuckDBTypeId.HUGEINT)
    if (low === undefined) return false
    const to = narrow.cells.extend(count)
    to.set(new Uint8Array(low.buffer))
    eachNull(memory.validity, count, (row) => narrow.cells.remove(row, count))
    size += to.length
    return true
  }

  return {
    add: (chunk, index, count, room) => {
      const before = size
      if (addLongs(chunk, index, count)) return size - before
      const vector = chunk.getColumnVector(index)
      const cells = Array.from({ length: count }, (_, row): bigint | null => {
        const value = vector.getItem(row)
        return typeof value === "bigint" ? value : null
      })
      while (cells.some((cell) => cell !== null && !form.holds(cell))) {
        widen(before + room)
        if (size > before + room) return size - before
      }
      size += form.add(cells)
      return size - before
    },
    seal: () => form.cells.seal(),
    finish: () => columnOf(form.cells.sealed, form.type)
  }
}
