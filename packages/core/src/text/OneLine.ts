/**
 * Texts that are shown as they are: on one line, and read in the order in which they are written.
 */

// Bidirectional overrides show a reviewer another text than the one that is approved.
const control = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Whether a text has characters that end a line, control a terminal, or change the direction of text. */
export const hasControl = (text: string): boolean => control.test(text)

/** Whether a text is whole Unicode without any of them. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !hasControl(text)
