/**
 * One scenario for every engine: an organization with fifty roles and many folders, each owned by two of the roles; may
 * somebody with two roles approve a change of a file that lies in one of them? Each engine is given it in the way that
 * its own documentation has it, and has to answer every question alike.
 */
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"

/** How many roles there are. */
export const roleCount = 50

/** The name of the role of a number. */
export const roleOf = (number: number): string => `role-${number % roleCount}`

/** The folder of a number: ten areas, a hundred topics in each, and folders in those. */
export const folderOf = (number: number): string =>
  `area-${number % 10}/topic-${Math.floor(number / 10) % 100}/folder-${number}`

/** The numbers of the two roles that own a folder. */
export const ownersOf = (number: number): ReadonlyArray<number> => [
  number % roleCount,
  (Math.floor(number / roleCount) + 7 * number + 3) % roleCount
]

/** A question: who, by the numbers of their roles, and which file. */
export interface Asked {
  /** The number of whoever asks. */
  readonly who: number
  readonly roles: readonly [number, number]
  readonly folder: number
  readonly path: string
  readonly allowed: boolean
}

/** Whoever has a number holds two roles. */
export const rolesOf = (who: number): readonly [number, number] => [who % roleCount, (who + 1) % roleCount]

/** The folders that are asked about: the same, however many others there are beside them. */
const askedFolders = 1000

/** As many questions as wanted, about half of them about folders that whoever asks owns. */
export const questions = (count: number): ReadonlyArray<Asked> =>
  Array.from({ length: count }, (_, index) => {
    const folder = (index * 7919) % askedFolders
    const owner = ownersOf(folder)[index % 2] ?? 0
    const who = index % 4 < 2 ? owner : (owner + 11 + index) % roleCount
    const roles = rolesOf(who)
    return {
      who,
      roles,
      folder,
      path: `${folderOf(folder)}/docs/page-${index % 7}.md`,
      allowed: ownersOf(folder).some((role) => roles.includes(role))
    }
  })

/** The folder policies, as we have them. */
export const policiesOf = (count: number) =>
  Array.from({ length: count }, (_, folder) =>
    folderPolicy(folderOf(folder), { owners: { roles: ownersOf(folder).map(roleOf) } })
  )
