/**
 * Arrays of ids as parameters: as text, so that PostgreSQL takes their type from the statement, also where there is no
 * id at all.
 */

/** Ids as the text of an array. An id has neither a comma nor a brace in it. */
export const uuidArray = (ids: Iterable<string>): string => `{${Array.from(ids).join(",")}}`
