/**
 * The scenario in CASL's words: an ability for each person, with a rule for each of their roles over the folders that the
 * role owns. The folder of a file is worked out beforehand and handed in, which CASL has no words for.
 */
import { createMongoAbility, subject } from "@casl/ability"
import { Effect } from "effect"
import type { Engine } from "./Engine.ts"
import { folderOf, ownersOf, roleCount, rolesOf } from "./Scenario.ts"

/** The engine. */
export const casl: Engine = {
  name: "CASL",
  questions: (policies) => (policies > 10_000 ? 500 : 5_000),
  prepare: (policies) =>
    Effect.sync(() => {
      const owned = Array.from({ length: roleCount }, (): Array<string> => [])
      for (let folder = 0; folder < policies; folder += 1) {
        for (const role of ownersOf(folder)) owned[role]?.push(folderOf(folder))
      }
      const abilities = Array.from({ length: roleCount }, (_, who) =>
        createMongoAbility(
          rolesOf(who).map((role) => ({
            action: "approve",
            subject: "File",
            conditions: { folder: { $in: owned[role] ?? [] } }
          }))
        )
      )
      return {
        answer: ({ folder, path, who }) =>
          abilities[who % roleCount]?.can("approve", subject("File", { path, folder: folderOf(folder) })) === true
      }
    })
}
