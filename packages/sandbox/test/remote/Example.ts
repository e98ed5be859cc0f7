/**
 * The example of `docs/sandbox-adapters.md` for E2B. It is type-checked, and not run: it would ask E2B itself.
 */
// #region remote
import * as Remote from "@castellan/sandbox/remote"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Sessions at E2B; their SQL is answered by this host. */
export const sandboxes = Layer.unwrap(
  Effect.map(Config.Redacted("E2B_API_KEY"), (apiKey) => Remote.layer({ apiKey, deployment: "production" }))
).pipe(Layer.provide(DuckDbSqlExecutor.layer()))
// #endregion
