/**
 * A row policy: which rows of one table of a connector a principal may see, by a predicate that may read
 * `_svc.client_attributes_json.<field>`, a field of the principal's client metadata.
 *
 * A policy declares the type of every field that it reads. The declared type decides: a value of another type is not
 * converted, the policy then cannot be applied, and the query fails.
 *
 * Source: decisions.md §5 ("Row policies"); policy-cases R1 to R6.
 */
import * as Schema from "effect/Schema"
import { ConnectorId } from "../connector/Connector.ts"
import { Value } from "../connector/ResultTable.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** A row policy's id. */
export const RowPolicyId = Uuid.pipe(Schema.brand("RowPolicyId"))
export type RowPolicyId = typeof RowPolicyId.Type

/** The type that a policy declares for a field of the client metadata. */
export const AttributeType = Schema.Literals(["text", "integer", "number", "boolean"])
export type AttributeType = typeof AttributeType.Type

/** A field of the client metadata by its name: an identifier, so that it reads as `_svc.client_attributes_json.<field>`. */
export const AttributeName = Schema.String.check(
  Schema.isPattern(/^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$/, { title: "a field name" })
)

/** The fields that a policy reads, with the type of each. */
export const AttributeTypes = Schema.Record(AttributeName, AttributeType)
export type AttributeTypes = typeof AttributeTypes.Type

/** A column of the policy's table, by the name that it has there. */
export const ColumnName = Schema.NonEmptyString.check(Schema.isMaxLength(255))

/** How two values are compared. */
export const Comparison = Schema.Literals(["=", "<>", "<", "<=", ">", ">="])
export type Comparison = typeof Comparison.Type

/** What a column is compared with: a field of the client metadata, or a value that the policy states. */
export const Operand = Schema.TaggedUnion({
  Attribute: { field: AttributeName },
  Constant: { value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]) }
})
export type Operand = typeof Operand.Type

/**
 * A predicate over the columns of one table, generic in what columns are compared with. It is read with SQL's logic of
 * three values: a row is shown only where it is true, and never where it is unknown because of a null.
 */
export type Predicate<Compared> =
  | { readonly _tag: "Compare"; readonly column: string; readonly comparison: Comparison; readonly with: Compared }
  | { readonly _tag: "OneOf"; readonly column: string; readonly values: ReadonlyArray<Compared> }
  | { readonly _tag: "IsNull"; readonly column: string }
  | { readonly _tag: "Not"; readonly predicate: Predicate<Compared> }
  /** All of them; of none, true. */
  | { readonly _tag: "All"; readonly predicates: ReadonlyArray<Predicate<Compared>> }
  /** At least one of them; of none, false. */
  | { readonly _tag: "Any"; readonly predicates: ReadonlyArray<Predicate<Compared>> }

/** The predicate of a policy. */
export type RowPredicate = Predicate<Operand>
export const RowPredicate: Schema.Codec<RowPredicate> = Schema.suspend(() => AnyPredicate)

const AnyPredicate: Schema.Codec<RowPredicate> = Schema.TaggedUnion({
  Compare: { column: ColumnName, comparison: Comparison, with: Operand },
  OneOf: { column: ColumnName, values: Schema.Array(Operand) },
  IsNull: { column: ColumnName },
  Not: { predicate: RowPredicate },
  All: { predicates: Schema.Array(RowPredicate) },
  Any: { predicates: Schema.Array(RowPredicate) }
})

/** The table that a policy is about, as statements name it: `orders`, `public.orders`, `"my file.csv"`. */
export const PolicyTable = Schema.NonEmptyString.check(Schema.isMaxLength(512))

/** What a policy says. */
export const RowRule = Schema.Struct({
  table: PolicyTable,
  /** The fields of the client metadata that the predicate reads, each with its type. */
  attributes: AttributeTypes,
  predicate: RowPredicate,
  /** Holders of one of these roles see every row, as far as this policy goes. */
  exemptRoles: Schema.Array(RoleId)
})
export type RowRule = typeof RowRule.Type

/** A row policy of a connector. Where several are about one table, a row must satisfy each. */
export class RowPolicy extends Schema.Class<RowPolicy>("@castellan/core/rowpolicy/RowPolicy")({
  id: RowPolicyId,
  organizationId: OrganizationId,
  connectorId: ConnectorId,
  ...RowRule.fields,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}

/** A value that goes to the source beside the statement, never as part of its text, with the type that it is bound as. */
export const BoundValue = Schema.Struct({ type: AttributeType, value: Value })
export type BoundValue = typeof BoundValue.Type

/** A predicate whose every operand is a bound value: what a source applies. */
export type BoundPredicate = Predicate<BoundValue>

/** The rows of one table that a query may read. */
export interface RowFilter {
  /** The table as the query names it. */
  readonly table: string
  readonly predicate: BoundPredicate
}
