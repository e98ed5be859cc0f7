/**
 * The operations of the system itself, for whoever runs it. They need no credential and tell nothing about the data.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** The process is up. */
export const HealthWire = Schema.Struct({
  status: Schema.Literal("ok").annotate({ description: "Always `ok`" })
}).annotate({ identifier: "Health", description: "The process is up" })
export type HealthWire = typeof HealthWire.Type

/** The process can answer requests. */
export const ReadinessWire = Schema.Struct({
  status: Schema.Literal("ready").annotate({ description: "Always `ready`" })
}).annotate({ identifier: "Readiness", description: "The process can answer requests" })
export type ReadinessWire = typeof ReadinessWire.Type

/** The process is up, and cannot answer requests now: it starts, stops, or waits for something that it needs. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", {}) {}

/** 503 of `/readyz`. */
export const NotReadyError = Schema.Struct({
  status: Schema.Literal("unavailable").annotate({ description: "Always `unavailable`" })
})
  .annotate({ identifier: "NotReady", description: "The process cannot answer requests now" })
  .pipe(
    Schema.decodeTo(
      Schema.toType(NotReady),
      SchemaTransformation.transform({
        decode: () => new NotReady(),
        encode: () => ({ status: "unavailable" as const })
      })
    ),
    HttpApiSchema.status(503)
  )

/** The operations of the system. */
export class SystemGroup extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/healthz", { success: HealthWire }).annotateMerge(
      OpenApi.annotations({
        identifier: "getHealth",
        summary: "Whether the process is up",
        description: "Answers as long as the process does. Restart it when this does not answer."
      })
    ),
    HttpApiEndpoint.get("readiness", "/readyz", { success: ReadinessWire, error: NotReadyError }).annotateMerge(
      OpenApi.annotations({
        identifier: "getReadiness",
        summary: "Whether requests can be answered",
        description: "Answers 503 while requests should go to another process."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "For whoever runs the service" })) {}
