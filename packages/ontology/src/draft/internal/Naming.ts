/**
 * Names of the draft: bare where a query can then do without quotes, each used once, in any case of its letters.
 */
import { words } from "../../internal/Label.ts"
import * as MalloyName from "../../malloy/MalloyName.ts"
import { singular } from "./Grammar.ts"

/** A name in lower case with `_` between its words; undefined when its letters are not those of an identifier. */
export const identifier = (name: string): string | undefined => {
  const plain = words(name)
    .join("_")
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßẞ]/gu, "ss")
    .replaceAll("%", "percent")
    .toLowerCase()
  if (!/^[a-z0-9_]+$/.test(plain) || !/[a-z]/.test(plain)) return undefined
  return /^[0-9]/.test(plain) ? `n_${plain}` : plain
}

/** The names of one source, of which no two are the same, or differ only in case. */
export class Names {
  private readonly taken = new Set<string>()

  /** Takes a name that is there whether the draft likes it or not. */
  reserve(name: string): void {
    this.taken.add(name.toLowerCase())
  }

  /** Frees a name: its owner got another one. */
  release(name: string): void {
    this.taken.delete(name.toLowerCase())
  }

  /** The name, with a number where it is taken. It may have to be quoted. */
  claimAny(wish: string): string {
    let name = wish
    for (let number = 2; this.taken.has(name.toLowerCase()); number += 1) name = `${wish}_${number}`
    this.reserve(name)
    return name
  }

  /** True when nobody has the name, and a query may write it bare. */
  isFree(name: string): boolean {
    return !this.taken.has(name.toLowerCase()) && MalloyName.isBare(name)
  }

  /** The first of the wished names that is free; failing that, the last one with a number. */
  claim(...wishes: readonly [string, ...ReadonlyArray<string>]): string {
    const usable = wishes.find((wish) => this.isFree(wish))
    if (usable !== undefined) {
      this.reserve(usable)
      return usable
    }
    const base = wishes.at(-1) ?? wishes[0]
    return this.claimAny(MalloyName.isBare(base) ? base : `${base}_value`)
  }
}

/**
 * A better name for a column whose own would have to be quoted; undefined for one whose own is fine, or whose letters
 * no identifier has: that stays, in quotes.
 *
 * @param thing what a row of the source is, in the singular: a column `date` of flights becomes `flight_date`
 */
export const betterName = (column: string, thing: string, names: Names): string | undefined => {
  if (MalloyName.isBare(column)) return undefined
  const plain = identifier(column)
  if (plain === undefined) return undefined
  return MalloyName.isBare(plain)
    ? names.claim(plain, `${plain}_value`)
    : names.claim(`${thing}_${plain}`, `${plain}_value`)
}

/** Words at the end of a table's name that say nothing about what is in it: `flights_3m`, `sales_export_v2`. */
const uninformative = /_(?:\d+[kmb]|v\d+|data|dataset|export|table|file|raw|clean|cleaned|final|sample|csv|all|full)$/

/** Words after which a name only says more about what came before: `unemployment_across_industries`. */
const furtherWords = /_(?:across|by|of|per|in|for|from|with|over|between|and|vs)_.*$/

/** What a table holds, without words that only describe the file. */
export const contentOf = (table: string): string | undefined => {
  let name = identifier(table)
  while (name !== undefined && uninformative.test(name)) name = name.replace(uninformative, "")
  return name
}

/** What a row of a table is, as part of a name. */
export const thingOf = (table: string): string => singular((contentOf(table) ?? "row").replace(furtherWords, ""))
