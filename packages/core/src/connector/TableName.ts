/**
 * Names of tables as statements and policies write them: `orders`, `public.orders`, `"my file.csv"`.
 */

/**
 * The parts of a name, without their quotes, in one case: engines differ in which case tells names apart, and a policy
 * must not be escaped by another spelling.
 */
export const parts = (name: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let part = ""
  let quote: string | undefined
  for (let index = 0; index < name.length; index++) {
    const character = name.charAt(index)
    if (quote !== undefined) {
      if (character !== quote) part += character
      else if (name.charAt(index + 1) === quote) {
        part += character
        index++
      } else quote = undefined
    } else if (character === '"' || character === "`") quote = character
    else if (character === ".") {
      found.push(part)
      part = ""
    } else part += character
  }
  found.push(part)
  return found.map((one) => one.trim().normalize("NFC").toLowerCase())
}

/**
 * Whether two names may be of one table. A name without a schema may be of a table in any: where it is not certain
 * that they differ, they are the same.
 */
export const maySame = (a: string, b: string): boolean => {
  const left = parts(a).toReversed()
  const right = parts(b).toReversed()
  const [short, long] = left.length <= right.length ? [left, right] : [right, left]
  return short.every((part, index) => part === long[index])
}
