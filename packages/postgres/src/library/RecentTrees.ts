/**
 * Trees that were read or written lately. A tree is what its id says, whoever keeps it, so none is ever stale; whether
 * an organization keeps one is asked of the database every time.
 */
import type { TreeId } from "@castellan/core/library/ObjectId"
import type { Tree } from "@castellan/core/library/Tree"

/** How many files the trees may have together: some tens of megabytes. */
const capacity = 100_000

/** Trees by id. */
export interface RecentTrees {
  readonly get: (id: TreeId) => Tree | undefined
  readonly add: (tree: Tree) => void
}

// A tree without files takes some room too.
const weight = (tree: Tree): number => tree.fileCount + 1

/** No trees yet. */
export const make = (): RecentTrees => {
  // In the order of their last use.
  const trees = new Map<TreeId, Tree>()
  let held = 0
  const forget = (tree: Tree): void => {
    if (trees.delete(tree.id)) held -= weight(tree)
  }
  const add = (tree: Tree): void => {
    forget(tree)
    trees.set(tree.id, tree)
    held += weight(tree)
    for (const oldest of trees.values()) {
      if (held <= capacity || trees.size === 1) return
      forget(oldest)
    }
  }
  return {
    add,
    get: (id) => {
      const found = trees.get(id)
      if (found !== undefined) add(found)
      return found
    }
  }
}
