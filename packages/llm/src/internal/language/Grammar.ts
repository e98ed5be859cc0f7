/**
 * The English that is understood, as data: which phrases do what. Another language is another table.
 *
 * A word belongs to the harmless ones only if no question means something else without it.
 */
import type { Operator } from "./Operator.ts"
import { units } from "./Units.ts"

const aggregate = (name: (Operator & { readonly _tag: "Aggregate" })["function"]): Operator => ({
  _tag: "Aggregate",
  function: name
})
const most = (concept?: string): Operator => ({
  _tag: "Superlative",
  most: true,
  ...(concept === undefined ? {} : { concept })
})
const least = (concept?: string): Operator => ({
  _tag: "Superlative",
  most: false,
  ...(concept === undefined ? {} : { concept })
})
const grain = (name: (Operator & { readonly _tag: "Grain" })["grain"], adverb = false): Operator => ({
  _tag: "Grain",
  grain: name,
  adverb
})
const part = (name: (Operator & { readonly _tag: "Part" })["part"]): Operator => ({ _tag: "Part", part: name })
const beyond = (kind: (Operator & { readonly _tag: "Beyond" })["kind"]): Operator => ({ _tag: "Beyond", kind })
const statistic = (kind: (Operator & { readonly _tag: "Statistic" })["kind"]): Operator => ({ _tag: "Statistic", kind })
const comparator = (
  relation: (Operator & { readonly _tag: "Comparator" })["relation"],
  concept?: string
): Operator => ({
  _tag: "Comparator",
  relation,
  ...(concept === undefined ? {} : { concept })
})

/** Adjectives by the quality they measure: more of it, most of it, less of it, least of it, and how to ask for it. */
const adjectives: ReadonlyArray<readonly [string, string, string, string, string, string]> = [
  ["length", "longer", "longest", "shorter", "shortest", "long"],
  ["distance", "farther|further", "farthest|furthest", "nearer|closer", "nearest|closest", "far"],
  [
    "price",
    "pricier|costlier|more expensive",
    "priciest|costliest|most expensive|dearest",
    "cheaper|less expensive",
    "cheapest|least expensive",
    "expensive"
  ],
  ["weight", "heavier", "heaviest", "lighter", "lightest", "heavy"],
  ["speed", "faster|quicker", "fastest|quickest", "slower", "slowest", "fast"],
  ["temperature", "hotter|warmer", "hottest|warmest", "colder|cooler", "coldest|coolest", "hot|warm|cold"],
  ["precipitation", "rainier|wetter", "rainiest|wettest", "drier|dryer", "driest", "wet|rainy"],
  ["wind", "windier", "windiest|stormiest", "calmer", "calmest", "windy"],
  [
    "deaths",
    "deadlier|more deadly",
    "deadliest|most deadly|most lethal|most fatal",
    "less deadly",
    "least deadly",
    "deadly"
  ],
  [
    "delay",
    "later than scheduled|more delayed",
    "most delayed|latest running|most late",
    "less delayed",
    "least delayed|most punctual|most on time",
    "late|delayed"
  ],
  ["height", "taller", "tallest", "", "", "tall"],
  [
    "population",
    "more populous",
    "most populous|most populated",
    "less populous",
    "least populous|least populated",
    "populous"
  ],
  [
    "rating",
    "better rated|higher rated|more highly rated",
    "best rated|highest rated|top rated|most highly rated",
    "worse rated|lower rated",
    "worst rated|lowest rated",
    ""
  ],
  ["power", "more powerful", "most powerful", "less powerful", "least powerful", "powerful"],
  ["wealth", "richer|wealthier", "richest|wealthiest", "poorer", "poorest", "rich|wealthy"],
  ["age", "", "", "", "", "old"],
  ["size", "bigger|larger", "", "smaller", "", "big|large"]
]

const phrases: ReadonlyArray<readonly [Operator, string]> = [
  [aggregate("average"), "average|averages|avg|mean|means|on average|averaged|the average of"],
  [
    aggregate("total"),
    "total|totals|sum|sum of|in total|altogether|combined|cumulative|overall total|aggregate|totalled|totaled"
  ],
  [aggregate("maximum"), "maximum|max|peak|record high|all time high"],
  [aggregate("minimum"), "minimum|min|record low|all time low"],
  [aggregate("median"), "median|medians"],
  [aggregate("deviation"), "standard deviation|stddev|std dev|std"],
  [
    { _tag: "Extent" },
    "range of|min and max|minimum and maximum|max and min|maximum and minimum|highest and lowest|lowest and highest"
  ],
  [
    { _tag: "Count" },
    "how many|number of|numbers of|count of|count|counts|total number of|the number of|amount of different|how often|how frequently|how many times|frequency of|total count of|nr of|no of|volume of|tally"
  ],
  [{ _tag: "HowMuch" }, "how much|amount of|amounts of"],
  [{ _tag: "Distinct" }, "different|distinct|unique|separate"],
  [most(), "most|highest|greatest|maximal|the most|biggest|largest"],
  [least(), "least|lowest|fewest|smallest|minimal"],
  [{ _tag: "Superlative", most: true, top: true }, "top|leading"],
  [{ _tag: "Superlative", most: false, top: true }, "bottom"],
  [{ _tag: "Superlative", most: true, judgement: true }, "best"],
  [{ _tag: "Superlative", most: false, judgement: true }, "worst"],
  [
    { _tag: "Superlative", most: true, frequency: true },
    "most common|most frequent|most often|commonest|busiest|most busy|most frequently|most prolific|most active|most commonly"
  ],
  [
    { _tag: "Superlative", most: false, frequency: true },
    "least common|least frequent|rarest|least often|quietest|least busy"
  ],
  [most("time"), "newest|latest|most recent|youngest|last"],
  [least("time"), "oldest|earliest|first"],
  [
    comparator(">"),
    "over|more than|greater than|above|higher than|larger than|bigger than|exceeding|exceeds|exceed|exceeded|in excess of|upwards of|higher|larger|bigger|greater|more|>|beyond|better than"
  ],
  [
    comparator(">="),
    "at least|no less than|not less than|minimum of|a minimum of|>=|at or above|no fewer than|not below|not under"
  ],
  [comparator("<"), "under|less than|fewer than|below|lower than|smaller than|lower|smaller|fewer|less|<"],
  [
    comparator("<="),
    "at most|no more than|not more than|maximum of|a maximum of|up to|<=|at or below|not over|not above"
  ],
  [comparator("="), "exactly|equal to|equals|equal|precisely|="],
  [comparator("!="), "not equal to|!=|other than exactly"],
  [
    { _tag: "ComparatorAfter", relation: ">=" },
    "or more|or above|or higher|or over|and above|and over|and up|or greater|or longer|or better|or later than|plus"
  ],
  [{ _tag: "ComparatorAfter", relation: "<=" }, "or less|or fewer|or below|or under|and below|or lower|or shorter"],
  [{ _tag: "Between" }, "between|in between"],
  [{ _tag: "GroupBy", each: false, agent: true }, "by"],
  [
    { _tag: "GroupBy", each: false, agent: false },
    "per|across|across all|across the|broken down by|break down by|breakdown by|broken out by|split by|grouped by|group by|sliced by|by each|by different|according to|depending on|as a function of|separated by|and group by|segmented by|vs each"
  ],
  [
    { _tag: "GroupBy", each: true, agent: false },
    "for each|for every|in each|in every|of each|of every|each|every|within each|for all|at each|from each|on each|to each|for the different|for the various|per each|for individual"
  ],
  [grain("year"), "year|years|yr"],
  [grain("quarter"), "quarter|quarters"],
  [grain("month"), "month|months|calendar month"],
  [grain("week"), "week|weeks"],
  [grain("day"), "day|days|date|dates|calendar day"],
  [grain("hour"), "hour|hours"],
  [
    grain("year", true),
    "yearly|annual|annually|year by year|each year|per year|every year|per annum|by year|a year|year on year basis"
  ],
  [grain("quarter", true), "quarterly|each quarter|per quarter|every quarter|by quarter"],
  [grain("month", true), "monthly|month by month|each month|per month|every month|by month|a month"],
  [grain("week", true), "weekly|week by week|each week|per week|every week|by week|a week"],
  [grain("day", true), "daily|day by day|each day|per day|every day|by day|a day|by date|per date"],
  [grain("hour", true), "hourly|hour by hour"],
  [part("weekday"), "weekday|day of the week|day of week|days of the week|weekdays|dow"],
  [
    part("month"),
    "month of the year|months of the year|calendar month of the year|seasonally|seasonality|month of year"
  ],
  [part("hour"), "hour of the day|hour of day|time of day|hours of the day|time of the day"],
  [part("quarter"), "quarter of the year"],
  [
    { _tag: "Which" },
    "which|what|who|whose|whats|what's|which of|which ones|what kind of|what kinds of|what sort of|what type of"
  ],
  [
    { _tag: "When" },
    "when|at what time|at which time|on what date|on which date|at what date|at which point|what time"
  ],
  [
    { _tag: "Share" },
    "share|share of|percentage|percentages|percentage of|percent|percent of|pct|pct of|proportion|proportion of|fraction|fraction of|part of all|what part of|%|% of|shares|shares of|contribution|as a share of the total|as a percentage of the total|percent of total|percentage of total|share of total|share of the total|% of total|percent of the total|percentage of the total|proportion of the total|as percentages|as percentage|in percent|as shares|proportions|makeup|make up of"
  ],
  [
    { _tag: "Change", relative: false },
    "change|changes|changed|difference|differ|grow|grew|grown|rise|rose|risen|increase|increased|increases|gain|gained|went up|go up|gone up|change in|rise in|increase in"
  ],
  [
    { _tag: "Change", relative: false, falls: true },
    "fall|fallen|drop|dropped|decline|declined|decrease|decreased|decreases|shrink|shrank|went down|go down|lost|fall in|drop in|decline in|decrease in"
  ],
  [
    { _tag: "Change", relative: true },
    "growth|growth rate|growth in|rate of growth|percentage change|percent change|% change|relative change|percentage increase|percent increase|growth of"
  ],
  [
    { _tag: "Trend" },
    "trend|trends|develop|develops|developed|over time|over the years|over the months|over the weeks|over the days|over the year|through time|through the years|evolution|evolve|evolved|development of|history|historical|historically|time series|timeline|trend line|trending|over the period|across time|across the years|with time|trend of|trend in|developed over time|changed over time|change over time|changes over time|develop over time|evolve over time|evolved over time|changed over the years|change over the years"
  ],
  [
    { _tag: "Relationship" },
    "relationship|relationship between|relation|relation between|correlation|correlation between|correlate|correlates|correlated|correlated with|correlate with|scatter|scatter plot|scatterplot|scatter plot of|plot of|association between|connection between|link between|depend on|depends on|related to|relate to|relates to|plotted against|against|dependence of"
  ],
  [
    { _tag: "Distribution" },
    "distribution|distribution of|histogram|histogram of|distributed|spread of|how spread out|spread"
  ],
  [
    statistic("correlation"),
    "correlation matrix|correlation matrix of|correlation matrix for|matrix of correlations|correlations|correlations of|correlations between|correlations among|pairwise correlations|pairwise correlation|correlation heatmap|heatmap of correlations|correlation table|correlated with each other|intercorrelations"
  ],
  [
    statistic("distribution"),
    "quantiles|quantiles of|percentiles|percentiles of|quartiles|quartiles of|deciles|deciles of|interquartile range|interquartile range of|skew|skewness|skewness of|skewed|how skewed|skewness of the distribution of|quantiles of the distribution of|box plot|box plot of|boxplot|boxplot of"
  ],
  [
    statistic("regression"),
    "regression|regression of|linear regression|linear regression of|regress|line of best fit|linear fit|linear fit of|least squares|least squares fit|regression line|linear model|linear model of"
  ],
  [
    statistic("outliers"),
    "outlier|outliers|outliers in|outliers of|outliers among|anomaly|anomalies|anomalies in|anomalous|extreme values|extreme values of|unusual values|unusual values of"
  ],
  [
    statistic("decomposition"),
    "decompose|decomposed|decomposing|decomposition|decomposition of|seasonal decomposition|seasonal decomposition of|time series decomposition|time series decomposition of|seasonally adjusted|seasonal adjustment|seasonal adjustment of|seasonal pattern|seasonal pattern of|seasonal pattern in|seasonal component|seasonal component of|trend and seasonality|trend and seasonality of|trend and seasonality in|trend and season|into trend and season|into trend and seasonality|into trend|into trend season and remainder|into trend seasonality and residual|into trend seasonality and remainder|into trend seasonal and remainder|seasonal and remainder|season and remainder|seasonality and remainder|seasonality and residual|seasonality and noise|remainder|residual|residuals|noise|into its parts|into components|into its components"
  ],
  [
    { _tag: "List" },
    "list|list all|list of|enumerate|name all|names of|show all|show me all|show|show me|display|give|give me|which are|what are|what were|tell me|find|find me|get|get me|return|see|table of|a table of|a list of|plot|chart|graph|draw|visualize|visualise|i want to see|i would like to see|can you show me|could you show me|what is|what was|whats the|look up"
  ],
  [
    { _tag: "Versus" },
    "versus|vs|compare|compared|compared to|compared with|comparing|comparison of|comparison between|comparison|in comparison to|in comparison with|difference between|differences between|the difference between|differ between|as opposed to|relative to|side by side|contrast"
  ],
  [
    { _tag: "Sort", descending: true },
    "highest first|largest first|biggest first|most first|descending|in descending order|from highest to lowest|from most to least|highest to lowest|sorted descending|in order"
  ],
  [
    { _tag: "Sort", descending: false },
    "lowest first|smallest first|least first|ascending|in ascending order|from lowest to highest|from least to most|lowest to highest|sorted ascending"
  ],
  [
    { _tag: "Negation" },
    "not|except|except for|without|excluding|exclude|excludes|other than|non|but not|apart from|besides|aside from|ignoring|ignore|leaving out|no|isn't|isnt|aren't|arent|wasn't|wasnt|weren't|werent|not in|not from|not of|not by|not including|minus|never|don't|dont|doesn't|doesnt|didn't|didnt|that is not|that are not|outside|outside of"
  ],
  [
    { _tag: "Role", role: "origin" },
    "from|out of|leave|leave from|leaves from|depart|departs|departed|left|departing|departing from|departed from|depart from|take off from|took off from|taking off from|that left from|leaving|leaving from|left from|originating in|originating from|starting at|flying from|flying out of|starting from"
  ],
  [
    { _tag: "Role", role: "destination" },
    "to|into|arriving|landed in|landed at|arrived in|arriving in|arriving at|arrived at|landing|landing in|landing at|bound for|going to|headed to|flying to|flying into|heading to"
  ],
  [
    { _tag: "Preposition" },
    "of|in|for|at|on|with|having|has|have|had|that|where|whose|within|among|amongst|about|using|in terms of|as|than|during|throughout|when it was|which have|which had|that have|that had|that has|who have|who had|who has|under the|when|directed by|made by|published by|produced by|named|called|titled|entitled"
  ],
  [{ _tag: "And" }, "and|&|,|;|as well as|plus the|along with|together with|and also|and the|also"],
  [{ _tag: "Or" }, "or|/|or the|either"],
  [{ _tag: "Missing" }, "missing|unknown|null|empty|blank|unspecified|undefined|not recorded|not known|no value"],
  [{ _tag: "Ratio" }, "ratio|ratio of|ratio between|the ratio of|quotient of"],
  [
    { _tag: "DividedBy" },
    "divided by|over total|as a percentage of|as a share of|as a proportion of|as percentage of|as a fraction of|as a percent of|as a % of"
  ],
  [
    { _tag: "Records" },
    "records|record|rows|row|entries|entry|observations|data points|items|measurements|cases|instances|times"
  ],
  [
    beyond("cause"),
    "why|how come|reason|reasons|cause|causes|caused|causing|because|explain|explanation|due to|responsible for|lead to|leads to|led to|influence|influences|impact|impacts|affect|affects|drives|driver|drivers|effect of"
  ],
  [
    beyond("future"),
    "predict|predicts|prediction|predictions|forecast|forecasts|forecasting|will|will be|going to be|expected|expect|future|next year|next month|next week|next quarter|tomorrow|upcoming|project|projection|projected|extrapolate|estimate|estimated|would be|likely|probability|chance|chances"
  ],
  [
    beyond("advice"),
    "should|recommend|recommends|recommendation|recommendations|suggest|suggestion|advise|advice|ought|do you think|is it worth|opinion|your favourite|your favorite|favourite|favorite|what if|optimize|optimise|how can we|how could we|how do i|how can i|improve"
  ],
  [
    beyond("statistics"),
    "significant|significantly|significance|p-value|p value|cluster analysis|clustering|moving average|rolling average|running total|percentile|quartile|variance|confidence interval|hypothesis|weighted average|year over year|year on year|yoy|month over month|month on month|mom|week over week|cagr|compound annual growth rate|mode"
  ],
  [
    beyond("change"),
    "delete|drop table|truncate table|update|insert|modify|alter|rename|create table|upload|email|e-mail|send|export|download|schedule"
  ],
  [beyond("meaning"), "summarize|summarise|summary of the text|translate|sentiment|write a|poem|joke|story"],
  [
    { _tag: "Continue" },
    "what about|how about|now|instead|same|same for|the same for|the same|again|then|ok|okay|and what about|and how about|but|only|just|and now|now only|now show|do the same for|this time|likewise|and for|narrow down to|narrow it down to|restrict to|limit to|filter to|filter by|break down|break it down|break that down|break this down|split it|split that|split this|group it|group that|group them|drill down"
  ],
  [{ _tag: "Pronoun" }, "those|them|these|they|that one|the former|the latter"],
  [
    { _tag: "Harmless" },
    "a|an|the|it|would like|is|are|was|were|be|been|being|am|do|does|did|done|i|me|my|we|us|our|you|your|please|kindly|can|could|would|may|might|want|wants|wanted|need|needs|know|wonder|wondering|curious|there is|there are|there were|there was|are there|were there|is there|was there|did we|do we|do you|can you|could you|would you|hi|hello|hey|thanks|thank you|so|well|um|uh|really|actually|currently|ever|all|any|some|given|overall|data|dataset|data set|information|info|figure|figures|value|values|value of|values of|level|levels|result|results|statistics|stats|s|?|!|:|-|–|—|.|show up|appear|appears|appeared|exist|exists|existed|occur|occurs|occurred|happen|happens|happened|take place|took place|recorded|measured|reported|registered|observed|made|make|makes|fell|come|came|comes|go|went|goes|get|gets|got|see|saw|seen|look|looks|looking|looked like|look like|looks like|contain|contains|contained|include|includes|included|including|use|uses|used|belong|belongs|belonged|vary|varies|varied|respective|respectively|individual|various|specific|certain|particular|corresponding|relevant|answer|question|tell|out|up|if|too|very|quite|roughly|approximately|about how many|kind|sort|if any|here|in the data|in the dataset|in our data|in this data|of the data|in the database|in the data set|for me|with me|let me know|let us|lets|let's|i'd|i'd like|id like|i want|i need|want to know|like to know|would like to know|like to see|want to see|how|how is|how was|how are|how were|how did|how do|how does|how has|how have|there|one|ones|this|its|their|both"
  ]
]

const adjectivePhrases: ReadonlyArray<readonly [Operator, string]> = adjectives.flatMap(
  ([concept, more, mostWords, less, leastWords, plain]) => {
    const than = (words: string) =>
      words
        .split("|")
        .filter((word) => word !== "")
        .flatMap((word) => [`${word} than`])
        .join("|")
    const asking = plain
      .split("|")
      .flatMap((word) => (word === "" ? [] : [`how ${word}`, word]))
      .join("|")
    return [
      [comparator(">", concept), than(more)],
      [most(concept), mostWords],
      [comparator("<", concept), than(less)],
      [least(concept), leastWords],
      [{ _tag: "Concept", concept }, asking]
    ] as const
  }
)

const unitPhrases: ReadonlyArray<readonly [Operator, string]> = units.map(
  (unit) => [{ _tag: "Unit", unit: unit.name }, unit.words.join("|")] as const
)

interface GrammarPhrase {
  readonly words: ReadonlyArray<string>
  readonly operator: Operator
}

const splitPhrase = (phrase: string): ReadonlyArray<string> =>
  phrase
    .replaceAll("'", "")
    .split(" ")
    .flatMap((word) =>
      /^[a-z]+-[a-z]+$/.test(word)
        ? word.split("-").flatMap((side, index) => (index === 0 ? [side] : ["-", side]))
        : [word]
    )

const index: ReadonlyMap<string, ReadonlyArray<GrammarPhrase>> = (() => {
  const byFirst = new Map<string, Array<GrammarPhrase>>()
  for (const [operator, alternatives] of [...phrases, ...adjectivePhrases, ...unitPhrases]) {
    for (const alternative of alternatives.split("|")) {
      const words = splitPhrase(alternative)
      const [first = ""] = words
      if (first === "") continue
      const list = byFirst.get(first) ?? []
      list.push({ words, operator })
      byFirst.set(first, list)
    }
  }
  return byFirst
})()

/** The phrases of the grammar that start at a token: how many tokens each takes, and what it does. */
export const operatorsAt = (
  words: ReadonlyArray<string>,
  start: number
): ReadonlyArray<{ readonly length: number; readonly operator: Operator }> =>
  (index.get(words[start] ?? "") ?? [])
    .filter((phrase) => phrase.words.every((word, offset) => words[start + offset] === word))
    .map((phrase) => ({ length: phrase.words.length, operator: phrase.operator }))

/** Words that the grammar uses on their own: never a slip of the finger, never a value by accident. */
export const grammarWords: ReadonlySet<string> = new Set(
  [...index.values()].flatMap((list) => list.flatMap((phrase) => phrase.words))
)

/** Words of the grammar that a slip of the finger may be put right to: those that ask for something. */
export const correctableWords: ReadonlySet<string> = new Set(
  [...index.values()].flatMap((list) =>
    list.flatMap((phrase) =>
      ["Pronoun", "Continue", "Beyond", "Unit", "Records"].includes(phrase.operator._tag) ? [] : phrase.words
    )
  )
)
