/** One rule, asked twice. */
import type { Decision } from "@castellan/core/access/Decision"
import type { Draw } from "./Draw.ts"

/** What both said to one drawing. */
export interface Answer {
  /** Our rule's verdict: `allow`, or in which way it denies. */
  readonly ours: string
  readonly cedars: string
  /** What the verdicts rest on, to be read when they differ. */
  readonly facts: unknown
}

/** A question with everything about it drawn at random. */
export interface Question {
  /** What somebody wants to do. */
  readonly action: string
  readonly ask: (draw: Draw) => Answer
}

/** A verdict that is yes or no. */
export const yes = (allowed: boolean): string => (allowed ? "allow" : "deny")

/** A decision as yes or no. */
export const verdict = (decision: Decision): string => yes(decision._tag === "Allow")
