/**
 * Names of a table's columns, for whoever tells columns apart by their names: a query may answer two of the same name.
 */

/** The names, each only once: a second `n` is `n_1`, or the next that is free. */
export const distinct = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let number = 1; seen.has(free) || (number > 1 && taken.has(free)); number++) free = `${name}_${number}`
    seen.add(free)
    return free
  })
}
