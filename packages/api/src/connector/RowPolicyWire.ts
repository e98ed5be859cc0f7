/**
 * Row policies on the wire.
 *
 * Source: decisions.md §5 ("Row policies, per connector and table").
 */
import { RoleId } from "@castellan/core/role/Role"
import {
  AttributeName,
  AttributeType,
  Comparison,
  Operand,
  type RowPolicy,
  RowPolicyId,
  type RowPredicate,
  type RowRule
} from "@castellan/core/rowpolicy/RowPolicy"
import * as Schema from "effect/Schema"
import { boundedText, listOf, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"

const fieldRule = "must be a field's name: a letter or an underscore, and up to 62 letters, digits and underscores"

const attributeName = Schema.String.annotate({ message: fieldRule }).check(
  Schema.isPattern(/^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$/u, { message: fieldRule })
)

const operandRule = "must have either attribute or value"

/** What a column is compared with. */
export const OperandWire = Schema.Union([
  Schema.Struct({
    attribute: attributeName.annotate({
      description: "A field of the caller's client metadata, `_svc.client_attributes_json.<field>`"
    })
  }),
  Schema.Struct({
    value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]).annotate({
      message: "must be a string, a number or a boolean",
      description: "A value"
    })
  })
]).annotate({
  identifier: "RowOperand",
  description: "What a column is compared with: a field of the caller's client metadata, or a value",
  message: operandRule
})
export type OperandWire = typeof OperandWire.Type

/** Which rows are shown. */
export type PredicateWire =
  | {
      readonly type: "compare"
      readonly column: string
      readonly comparison: typeof Comparison.Type
      readonly with: OperandWire
    }
  | { readonly type: "one_of"; readonly column: string; readonly values: ReadonlyArray<OperandWire> }
  | { readonly type: "is_null"; readonly column: string }
  | { readonly type: "not"; readonly predicate: PredicateWire }
  | { readonly type: "all"; readonly predicates: ReadonlyArray<PredicateWire> }
  | { readonly type: "any"; readonly predicates: ReadonlyArray<PredicateWire> }

const columnRule = "must be a column's name, of at most 255 characters"
const column = Schema.String.annotate({ message: columnRule }).check(
  Schema.isMinLength(1, { message: columnRule }),
  Schema.isMaxLength(255, { message: columnRule, description: "A column of the table" })
)
const type = <const Type extends string>(name: Type) =>
  Schema.Literal(name).annotate({ description: "Which kind of predicate it is" })

const nested: Schema.Codec<PredicateWire> = Schema.suspend((): Schema.Codec<PredicateWire> => PredicateWire)
const several = Schema.Array(nested)
  .annotate({ message: "must be an array of predicates" })
  .check(
    Schema.isMaxLength(100, {
      message: "must be an array of at most 100 predicates",
      description: "The predicates"
    })
  )

/** Which rows are shown: those for which it is true, by SQL's logic of three values. */
export const PredicateWire: Schema.Codec<PredicateWire> = Schema.Union([
  Schema.Struct({
    type: type("compare"),
    column,
    comparison: oneOf(Comparison.literals, "How the column is compared"),
    with: OperandWire
  }).annotate({ identifier: "ComparePredicate", description: "A column compares in a way" }),
  Schema.Struct({
    type: type("one_of"),
    column,
    values: listOf(OperandWire, { maximum: 1_000 }, "values", "What the column may be")
  }).annotate({ identifier: "OneOfPredicate", description: "A column is one of several values" }),
  Schema.Struct({ type: type("is_null"), column }).annotate({
    identifier: "IsNullPredicate",
    description: "A column is null"
  }),
  Schema.Struct({ type: type("not"), predicate: nested }).annotate({
    identifier: "NotPredicate",
    description: "A predicate is false"
  }),
  Schema.Struct({ type: type("all"), predicates: several }).annotate({
    identifier: "AllPredicate",
    description: "Every predicate is true"
  }),
  Schema.Struct({ type: type("any"), predicates: several }).annotate({
    identifier: "AnyPredicate",
    description: "At least one predicate is true"
  })
]).annotate({
  identifier: "RowPredicate",
  description: "Which rows are shown: those for which it is true, by SQL's logic of three values",
  message: "must have a type, one of compare, one_of, is_null, not, all, any"
})

const table = boundedText({ minimum: 1, maximum: 512 }, "The table, as statements name it, such as `public.orders`")
const isAttributeName = Schema.is(attributeName)

// The names are checked as a whole: a record leaves out, and does not refuse, what its key schema does not take.
const attributes = Schema.Record(
  Schema.String,
  oneOf(AttributeType.literals, "The type that the field must have")
).pipe(
  Schema.annotate({
    message: "must be a JSON object of field names and types",
    description: "The fields of the client metadata that the predicate reads, with the type of each"
  }),
  Schema.check(
    Schema.makeFilter(
      (types: { readonly [name: string]: AttributeType }) => Object.keys(types).every(isAttributeName),
      {
        message: `each name ${fieldRule}`
      }
    )
  )
)
const exemptRoleIds = listOf(
  uuid(RoleId, "A role's id"),
  { maximum: 100 },
  "role ids",
  "Roles whose holders see every row, as far as this policy goes"
)

/** A row policy. */
export const RowPolicyWire = Schema.Struct({
  id: uuid(RowPolicyId, "The policy's id"),
  table: text("The table, as statements name it"),
  attributes: Schema.Record(AttributeName, AttributeType).annotate({
    description: "The fields of the client metadata that the predicate reads, with the type of each"
  }),
  predicate: PredicateWire,
  exempt_role_ids: Schema.Array(uuid(RoleId, "A role's id")).annotate({
    description: "Roles whose holders see every row, as far as this policy goes"
  }),
  created_at: timestamp("When the policy was made"),
  updated_at: timestamp("When the policy was last changed")
}).annotate({ identifier: "RowPolicy", description: "Which rows of one table of a connector a caller sees" })
export type RowPolicyWire = typeof RowPolicyWire.Type

/** The row policies of a connector. */
export const RowPolicyListWire = Schema.Struct({
  row_policies: Schema.Array(RowPolicyWire).annotate({
    description: "The policies; where several are about one table, a row must satisfy each"
  })
}).annotate({ identifier: "RowPolicyList", description: "The row policies of a connector" })
export type RowPolicyListWire = typeof RowPolicyListWire.Type

/** A row policy as it shall be. */
export const RowPolicyRequest = Schema.Struct({
  id: Schema.optionalKey(uuid(RowPolicyId, "The policy to keep or to change; absent, a new one is made")),
  table,
  attributes: Schema.optionalKey(attributes),
  predicate: PredicateWire,
  exempt_role_ids: Schema.optionalKey(exemptRoleIds)
}).annotate({
  identifier: "RowPolicyRequest",
  description: "A row policy as it shall be",
  message: "must be a JSON object"
})
export type RowPolicyRequest = typeof RowPolicyRequest.Type

/** Every row policy that a connector shall have. */
export const ReplaceRowPoliciesRequest = Schema.Struct({
  row_policies: listOf(
    RowPolicyRequest,
    { maximum: 1_000 },
    "row policies",
    "Every row policy that the connector shall have"
  )
}).annotate({
  identifier: "ReplaceRowPoliciesRequest",
  description: "Every row policy that the connector shall have; one that is not named is removed",
  message: "must be a JSON object"
})
export type ReplaceRowPoliciesRequest = typeof ReplaceRowPoliciesRequest.Type

const toOperand = (operand: OperandWire): Operand =>
  "attribute" in operand
    ? Operand.cases.Attribute.make({ field: operand.attribute })
    : Operand.cases.Constant.make({ value: operand.value })

/** The predicate of a request, in the domain's terms. */
export const toPredicate = (predicate: PredicateWire): RowPredicate => {
  switch (predicate.type) {
    case "compare":
      return {
        _tag: "Compare",
        column: predicate.column,
        comparison: predicate.comparison,
        with: toOperand(predicate.with)
      }
    case "one_of":
      return { _tag: "OneOf", column: predicate.column, values: predicate.values.map(toOperand) }
    case "is_null":
      return { _tag: "IsNull", column: predicate.column }
    case "not":
      return { _tag: "Not", predicate: toPredicate(predicate.predicate) }
    case "all":
      return { _tag: "All", predicates: predicate.predicates.map(toPredicate) }
    case "any":
      return { _tag: "Any", predicates: predicate.predicates.map(toPredicate) }
  }
}

/** What a policy of a request says, in the domain's terms. */
export const toRowRule = (request: RowPolicyRequest): RowRule => ({
  table: request.table,
  attributes: request.attributes ?? {},
  predicate: toPredicate(request.predicate),
  exemptRoles: request.exempt_role_ids ?? []
})

const ofOperand = (operand: Operand): OperandWire =>
  operand._tag === "Attribute" ? { attribute: operand.field } : { value: operand.value }

/** A predicate as the wire shows it. */
export const ofPredicate = (predicate: RowPredicate): PredicateWire => {
  switch (predicate._tag) {
    case "Compare":
      return {
        type: "compare",
        column: predicate.column,
        comparison: predicate.comparison,
        with: ofOperand(predicate.with)
      }
    case "OneOf":
      return { type: "one_of", column: predicate.column, values: predicate.values.map(ofOperand) }
    case "IsNull":
      return { type: "is_null", column: predicate.column }
    case "Not":
      return { type: "not", predicate: ofPredicate(predicate.predicate) }
    case "All":
      return { type: "all", predicates: predicate.predicates.map(ofPredicate) }
    case "Any":
      return { type: "any", predicates: predicate.predicates.map(ofPredicate) }
  }
}

/** A row policy as the wire shows it. */
export const ofRowPolicy = (policy: RowPolicy): RowPolicyWire => ({
  id: policy.id,
  table: policy.table,
  attributes: policy.attributes,
  predicate: ofPredicate(policy.predicate),
  exempt_role_ids: policy.exemptRoles,
  created_at: policy.createdAt,
  updated_at: policy.updatedAt
})

/** The row policies of a connector as the wire shows them. */
export const ofRowPolicies = (policies: ReadonlyArray<RowPolicy>): RowPolicyListWire => ({
  row_policies: policies.map(ofRowPolicy)
})
