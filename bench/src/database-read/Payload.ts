/**
 * What every server answers with: a role as the contract shows it, about 300 bytes of JSON.
 */
/** Roles of the organization, which are read one after the other. */
export const roleCount = 1_000

/** Keys that are used: one for each connection. */
export const usedKeyCount = 100

/** The order that a server answers with the bearer values of the keys that are used, a line for each. */
export const bearersCommand = "bearers"

/** The order that a server answers with the ids of the roles, a line for each. */
export const idsCommand = "ids"

/** Where a role is read. */
export const pathOf = (id: string): string => `/v2/roles/${id}`

/** A role as the wire shows it; optional fields are absent from the one that is read. */
export interface WireRole {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly is_system: boolean
  readonly is_scim_managed: boolean
  readonly allow_model_choice: boolean
  readonly created_at: string
  readonly updated_at: string
}

const text = (value: unknown, key: string): string => {
  const found = typeof value === "object" && value !== null ? Object.entries(value).find(([name]) => name === key) : []
  if (typeof found?.[1] !== "string") throw new Error(`a role without ${key}`)
  return found[1]
}

/** The role that ours answered with, for the peer to keep and to answer with: the same but for nothing. */
export const roleOf = (json: string): WireRole => {
  const value: unknown = JSON.parse(json)
  return {
    id: text(value, "id"),
    name: text(value, "name"),
    description: text(value, "description"),
    is_system: false,
    is_scim_managed: false,
    allow_model_choice: true,
    created_at: text(value, "created_at"),
    updated_at: text(value, "updated_at")
  }
}

/** The role as it is under another id: they are alike. */
export const withId = (role: WireRole, id: string): WireRole => ({ ...role, id })
