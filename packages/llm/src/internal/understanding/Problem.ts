/**
 * Why a question is not answered. Each kind has what the reply needs to be of use: the words, and what they may mean.
 */
import type { BeyondKind } from "../language/Operator.ts"

/** Something that an ambiguous word may mean. */
export interface Alternative {
  /** For people. */
  readonly label: string
  /** Words that can stand in the question for the ambiguous ones and mean this. */
  readonly words: string
}

/** Why a question is not answered. */
export type Problem =
  | { readonly _tag: "Empty" }
  | { readonly _tag: "TooLong" }
  | { readonly _tag: "Beyond"; readonly kind: BeyondKind; readonly words: string }
  | { readonly _tag: "Unknown"; readonly words: ReadonlyArray<string>; readonly near: ReadonlyArray<Alternative> }
  | { readonly _tag: "Ambiguous"; readonly words: string; readonly alternatives: ReadonlyArray<Alternative> }
  /** Understood in parts; `message` says what is missing, as a sentence. */
  | { readonly _tag: "Incomplete"; readonly message: string; readonly alternatives: ReadonlyArray<Alternative> }
  /** Words that are known, but whose part in the question is not. */
  | { readonly _tag: "Leftover"; readonly words: ReadonlyArray<string> }
  | { readonly _tag: "NoValue"; readonly words: string; readonly field: string; readonly values: ReadonlyArray<string> }
  /** Asked about the data themselves rather than of them. */
  | { readonly _tag: "About"; readonly source: string | undefined }
  | { readonly _tag: "Greeting" }
  | { readonly _tag: "NoData" }
