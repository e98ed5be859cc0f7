/**
 * Names that git keeps for itself, in every spelling in which a file system would take them for these: other case,
 * HFS+'s ignored characters, NTFS's short names, trailing dots and spaces, and alternate streams. git refuses trees
 * with `.git` in them; `.gitmodules` would bring submodules, and `.gitattributes` decides what git does with a clone.
 *
 * Source: decisions.md §8; policy-cases O3, O7; git's `fsck` messages `hasDotgit`, `gitmodules…`, `gitattributes…`.
 */

// What HFS+ leaves out when it compares names.
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu

// NTFS takes a name up to its first colon, and drops dots and spaces at its end.
const tail = "[ .]*(?::.*)?"

// A short name keeps six characters of the name, or fewer of its hash where the number needs the room.
const shortName = (beginning: string, hashed: string): string =>
  [
    `${beginning}~[1-4]`,
    ...[6, 5, 4, 3, 2, 1, 0].map((kept) => `${hashed.slice(0, kept)}~[1-9][0-9]{${6 - kept}}`)
  ].join("|")

const reserved = new RegExp(
  `^(?:\\.git|git~1|\\.gitmodules|${shortName("gitmod", "gi7eba")}|\\.gitattributes|${shortName("gitatt", "gi7d29")})${tail}$`,
  "isu"
)

/** Whether a file system may take a name for one that git keeps for itself. */
export const isGitName = (name: string): boolean => reserved.test(name) || reserved.test(name.replace(ignoredByHfs, ""))
