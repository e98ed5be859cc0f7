/**
 * The token buckets of organizations in PostgreSQL: one row each, and one statement to take from it. The arithmetic is
 * that of `TokenBucket`; a contract test holds the two together.
 */
import { RateLimitStore } from "@castellan/core/ratelimit/RateLimitStore"
import type { Taken } from "@castellan/core/ratelimit/TokenBucket"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Query from "../database/Query.ts"
import { entering } from "../database/Tenancy.ts"

/** Keeps the buckets in PostgreSQL. */
export const layer: Layer.Layer<RateLimitStore, never, SqlClient> = Layer.effect(
  RateLimitStore,
  Effect.map(SqlClient, (sql) =>
    RateLimitStore.of({
      take: (organizationId, { burst, requestsPerMinute }, most, now) => {
        const asked = sql`${most}::float8`
        const full = sql`${burst}::float8`
        const moment = sql`${DateTime.toEpochMillis(now)}::float8`
        return Effect.flatMap(
          Query.row(sql<Taken>`
            INSERT INTO castellan.rate_limits AS bucket (organization_id, level, measured_at, granted)
            SELECT ${organizationId}, ${full} - least(${asked}, ${full}), ${moment}, least(${asked}, ${full})
            WHERE ${entering(sql, organizationId)}
            ON CONFLICT (organization_id) DO UPDATE SET (level, measured_at, granted) = (
              SELECT there - least(${asked}, floor(there)), greatest(bucket.measured_at, ${moment}),
                least(${asked}, floor(there))
              FROM (SELECT least(${full}, bucket.level
                + greatest(0, ${moment} - bucket.measured_at) * (${requestsPerMinute}::float8 / 60000)) AS there) AS refilled)
            RETURNING granted, level`),
          Option.match({
            onSome: Effect.succeed,
            onNone: () => Effect.die(new Error("a token bucket could not be written"))
          })
        )
      }
    })
  )
)
