/** What a test and the process that is killed tell each other. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { Schema } from "effect"

/** By what the database knows the process. */
export const applicationName = "killed"

/** Where a use case stops, by its place among all of them. */
export const Stop = Schema.Struct({
  useCase: Schema.Int,
  statement: Schema.Int,
  when: Schema.Literals(["before", "after"])
})
export type Stop = typeof Stop.Type

/** Where those of one process do. */
export const Stops = Schema.fromJsonString(Schema.Array(Stop))

/** What the process says, of a stop by its place. */
export const Said = Schema.fromJsonString(
  Schema.toCodecJson(
    Schema.TaggedUnion({
      Ready: { index: Schema.Int, organizationId: OrganizationId, prepared: Schema.String },
      Acknowledged: { index: Schema.Int },
      Failed: { index: Schema.Int, cause: Schema.String }
    })
  )
)
