/**
 * Questions about the data themselves: what there is, what can be asked, over which time. And greetings.
 */
import { fold, phraseKey, wordsOf } from "../language/Words.ts"
import type { SourceFacts } from "./Facts.ts"
import type { Problem } from "./Problem.ts"

const about: ReadonlyArray<RegExp> = [
  /^(?:help|\?+)$/,
  /\bwhat (?:can|could|may|should) (?:i|we|you|one) (?:ask|do|answer|tell|query|find out)\b/,
  /\b(?:what|which) (?:data|datasets?|data sets?|sources?|tables?|models?|topics|information)\b(?:.*\b(?:have|available|there|know|contain|exist|has|accessible|offer|got|use)\b|\s*\??$)/,
  /\bwhat(?:'s| is| are) (?:in )?(?:the|this|your|my|our) (?:data|dataset|data set|database|ontology|sources?|tables?)\b/,
  /\b(?:describe|explain|summari[sz]e|tell me about|overview of|introduce|show(?: me)?) (?:me )?(?:the |this |your |my |our |all )?(?:available )?(?:data|dataset|data set|database|ontology|sources?|tables?|model|schema)\b/,
  /\bwhat (?:do|does|can) (?:you|this|the data|it) (?:know|contain|cover|have|answer|do|include)\b/,
  /\bhow (?:do|does|can) (?:i|you|this|it) (?:work|use this|ask)\b/,
  /\b(?:give|show)(?: me)? (?:some |a few )?example(?:s| questions)\b/,
  /\bwhat (?:kind|sort)s? of (?:questions?|data)\b/,
  /\bwho are you\b|\bwhat are you\b/
]

const ofSource: ReadonlyArray<RegExp> = [
  /\b(?:fields?|columns?|dimensions?|measures?|metrics?|attributes?|variables?|schema)\b/,
  /\b(?:describe|tell me about|overview of|what do you know about|what is in|what's in)\b/,
  /\b(?:what|which) (?:time|period|time range|time span|date range|dates|years|range of (?:dates|years)|time period) (?:do|does|is|are)\b.*\b(?:cover|covered|span|available|include|included|in the data)\b/,
  /\bhow far back\b/
]

const greeting =
  /^(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|thanks?|thank you|thx|great|cool|nice|ok|okay|bye|goodbye)(?: (?:there|you|castellan|very much|a lot|so much|all|again|everyone|please))*[!. ?]*$/

/** Whether a question is about the data themselves, and of which source. */
export const aboutData = (question: string, sources: ReadonlyArray<SourceFacts>): Problem | undefined => {
  const text = fold(question).replace(/\s+/g, " ").trim()
  if (text.length > 300) return undefined
  if (greeting.test(text)) return { _tag: "Greeting" }
  const key = ` ${phraseKey(wordsOf(text))} `
  const named = sources.filter((facts) => facts.entities.some((entity) => key.includes(` ${phraseKey(entity)} `)))
  const [source] = named
  if (source !== undefined && named.length === 1 && ofSource.some((pattern) => pattern.test(text))) {
    return isOnlyAbout(key, source) ? { _tag: "About", source: source.source.name } : undefined
  }
  if (about.some((pattern) => pattern.test(text))) {
    return { _tag: "About", source: named.length === 1 ? source?.source.name : undefined }
  }
  return ofSource.slice(0, 1).some((pattern) => pattern.test(text)) &&
    /^(?:what|which|list|show)\b/.test(text) &&
    named.length === 0 &&
    wordsOf(text).length <= 6
    ? { _tag: "About", source: undefined }
    : undefined
}

/** A word such as "measures" may also be part of a question of the data: then a field of the source is named too. */
const isOnlyAbout = (key: string, facts: SourceFacts): boolean =>
  !facts.fields.some(
    (one) =>
      one.path.length === 0 &&
      [...one.phrases].some(
        (phrase) =>
          key.includes(` ${phraseKey(phrase)} `) &&
          !facts.entities.some((entity) => phraseKey(entity) === phraseKey(phrase))
      )
  )
