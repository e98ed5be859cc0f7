/**
 * An e-mail address as members and reports have it: one mailbox at a domain, nothing around it.
 *
 * Source: decisions.md §6 ("E-mail addresses are validated"); RFC 5321 §4.5.3.1 (lengths).
 */
import * as Schema from "effect/Schema"

/** Letters, digits and the signs that RFC 5322 lets stand unquoted, at a domain of dotted labels; 254 characters. */
const pattern =
  /^(?=.{3,254}$)(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** An e-mail address. Upper and lower case of one are kept as they are given, and compare as the same. */
export const EmailAddress = Schema.String.check(Schema.isPattern(pattern, { title: "an e-mail address" })).pipe(
  Schema.brand("EmailAddress")
)
export type EmailAddress = typeof EmailAddress.Type
