/**
 * Names that a file system which knows no upper and lower case takes for one.
 *
 * Source: decisions.md §8 ("case-fold duplicates"); policy-cases O4.
 */

/**
 * A text in a form in which texts that differ only in case are equal. Down and up again, because some letters have
 * several lower forms (`σ`, `ς`) or an upper form of several letters (`ß`, `ẞ`).
 */
export const foldCase = (text: string): string => text.toLowerCase().toUpperCase().normalize("NFC")
