/**
 * Has V8 make the objects of a request where short-lived ones belong, so that its small collections are short.
 *
 * V8 watches what becomes of the objects that a place in the code makes. While a server starts, nearly everything stays:
 * schemas, routes, layers. So V8 takes the places that made them, most of them Effect's own, for places that make what
 * lives long, and from then on makes what comes from them among the old objects ("allocation-site pretenuring"). But the
 * same places make what every request needs for a millisecond. There it lies until the next full collection, and whatever
 * it refers to is copied by each small one until then: those take twice as long, and each is a pause for every request
 * that is under way (docs/benchmarks.md, "An authenticated read of one row on PostgreSQL").
 *
 * It is a setting of the whole process, so it is for the program that is the server to choose, and not for a library that
 * a program has among others.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { setFlagsFromString } from "node:v8"

/** Turns pretenuring off, for this process and as long as it lives: code that is compiled later does without it. */
export const layerOff: Layer.Layer<never> = Layer.effectDiscard(
  Effect.sync(() => setFlagsFromString("--no-allocation-site-pretenuring"))
)
