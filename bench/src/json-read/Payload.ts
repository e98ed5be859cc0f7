/**
 * What every server answers with: the two models that ours serves, about 300 bytes of JSON.
 */

/** Where ours answers with it; the peers take the same path. */
export const path = "/v2/models"

/** A model as the wire shows it. */
export interface WireModel {
  readonly id: string
  readonly model_id: number
  readonly provider: string
  readonly name: string
  readonly supports_fast_mode: boolean
  readonly default: boolean
}

/** The models, for the peers to keep in memory. */
export const models: ReadonlyArray<WireModel> = [
  {
    id: "scripted/thorough-1",
    model_id: 1,
    provider: "scripted",
    name: "Scripted thorough model",
    supports_fast_mode: false,
    default: true
  },
  {
    id: "scripted/quick-1",
    model_id: 2,
    provider: "scripted",
    name: "Scripted quick model",
    supports_fast_mode: true,
    default: false
  }
]

/** The answer to a caller that no key speaks for. */
export const refused = { error: { code: "unauthenticated", message: "Authentication required" } } as const
