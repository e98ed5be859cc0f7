/**
 * A second set of held-out questions, written after the first had been learnt from.
 */
import type { Golden } from "./Golden.ts"

const films = `(select *, "Major Genre" as genre, case when "Release Date"::date < date '2012-01-01' then "Release Date"::date end as released from movies)`
const kinds = `(select * from disasters where Entity != 'All natural disasters')`
const region =
  "case cluster when 0 then 'South Asia' when 1 then 'Europe and Central Asia' when 2 then 'Sub-Saharan Africa' when 3 then 'America' when 4 then 'East Asia and Pacific' else 'Middle East and North Africa' end"

/** Every question. */
export const questions: ReadonlyArray<Golden> = [
  {
    ask: "Give me the number of flights out of Boston per month",
    sql: "select date_trunc('month', date)::date, count(*) from flights_3m f join airports a on f.origin = a.iata where a.city = 'Boston' group by 1"
  },
  { ask: "what's the mean distance of late flights?", sql: "select avg(distance) from flights_3m where delay > 15" },
  { ask: "compare weekdays by average delay", sql: "select dayname(date), avg(delay) from flights_3m group by 1" },
  { ask: "how does delay vary by hour of departure", sql: "select hour(date), avg(delay) from flights_3m group by 1" },
  { ask: "longest flight", sql: "select max(distance) from flights_3m", as: "first" },
  {
    ask: "flights between 500 and 600 miles",
    sql: "select count(*) from flights_3m where distance between 500 and 600"
  },
  {
    ask: "Which 3 routes are the busiest?",
    sql: "select origin || ' to ' || destination as r, count(*) as n from flights_3m group by 1 order by n desc limit 3",
    as: "ranked"
  },
  {
    ask: "how many flights didn't leave from Atlanta",
    sql: "select count(*) from flights_3m f join airports a on f.origin = a.iata where a.city != 'Atlanta'"
  },
  {
    ask: "min max and average share price for Amazon",
    sql: "select min(price), max(price), avg(price) from stocks where symbol = 'AMZN'"
  },
  {
    ask: "in which month was Google at its highest price?",
    sql: "select date::date, price from stocks where symbol = 'GOOG' order by price desc limit 1",
    as: "first"
  },
  {
    ask: "average price of all stocks in q4 2008",
    sql: "select avg(price) from stocks where date::date >= '2008-10-01' and date::date < '2009-01-01'"
  },
  {
    ask: "yearly average price of every company",
    sql: "select date_trunc('year', date::date)::date, case symbol when 'AAPL' then 'Apple' when 'AMZN' then 'Amazon' when 'GOOG' then 'Google' when 'MSFT' then 'Microsoft' else symbol end, avg(price) from stocks group by 1, 2"
  },
  {
    ask: "percentage change in IBM price from 2000 to 2009",
    sql: "select 100 * (avg(price) filter (where year(date::date) = 2009) - avg(price) filter (where year(date::date) = 2000)) / avg(price) filter (where year(date::date) = 2000) from stocks where symbol = 'IBM'"
  },
  {
    ask: "number of rainy days by month for seattle in 2012",
    sql: "select date_trunc('month', date)::date, count(*) filter (where precipitation > 0) from weather where location = 'Seattle' and year(date) = 2012 group by 1"
  },
  { ask: "average low temp in january", sql: "select avg(temp_min) from weather where month(date) = 1" },
  { ask: "what was the weather like in london", refused: /./ },
  { ask: "temperature range in Seattle in 2015", refused: /./ },
  { ask: "which city had more than 300 foggy days", refused: /./ },
  {
    ask: "windiest day in Seattle in 2013?",
    sql: "select date, wind from weather where location = 'Seattle' and year(date) = 2013 order by wind desc limit 1",
    as: "first"
  },
  {
    ask: "movies released in 1999 with the highest imdb rating",
    sql: `select "Title", "IMDB Rating" from ${films} where year(released) = 1999 and "IMDB Rating" is not null order by 2 desc, 1 limit 10`,
    as: "first"
  },
  { ask: "how much did James Cameron's movies gross worldwide in total?", refused: /./ },
  {
    ask: "total worldwide gross of movies directed by James Cameron",
    sql: `select sum("Worldwide Gross") from movies where "Director" = 'James Cameron'`
  },
  {
    ask: "average rotten tomatoes rating by mpaa rating",
    sql: `select "MPAA Rating", avg("Rotten Tomatoes Rating") from movies group by 1`
  },
  {
    ask: "imdb rating vs rotten tomatoes rating",
    sql: `select count(*) from movies where "IMDB Rating" is not null and "Rotten Tomatoes Rating" is not null`
  },
  {
    ask: "how many movies made their budget back",
    sql: `select count(*) from movies where "Worldwide Gross" > "Production Budget"`
  },
  { ask: "how long is the average comedy", sql: `select avg("Running Time min") from ${films} where genre = 'Comedy'` },
  { ask: "movies with more than 300,000 imdb votes", sql: `select "Title" from movies where "IMDB Votes" > 300000` },
  { ask: "number of Japanese cars per year", refused: /Japanese/ },
  { ask: "cars with the worst mileage", sql: `select min("Miles_per_Gallon") from cars`, as: "first" },
  {
    ask: "average weight of cars made in Europe before 1975",
    sql: `select avg("Weight_in_lbs") from cars where "Origin" = 'Europe' and "Year"::date < '1975-01-01'`
  },
  {
    ask: "how has life expectancy changed in each region over time",
    sql: `select make_date(year, 1, 1), ${region}, avg(life_expect) from gapminder group by 1, 2`
  },
  {
    ask: "5 countries with the lowest fertility in 2005",
    sql: "select country, fertility from gapminder where year = 2005 order by 2 limit 5",
    as: "ranked"
  },
  { ask: "did more people die from floods or droughts", refused: /./ },
  {
    ask: "deadliest year for earthquakes",
    sql: `select make_date("Year", 1, 1), sum("Deaths") as d from ${kinds} where Entity = 'Earthquake' group by 1 order by d desc limit 1`,
    as: "first"
  },
  { ask: "what share of bird strikes caused damage?", refused: /./ },
  { ask: "costliest bird strike", sql: `select max("Cost Total $") from birdstrikes`, as: "first" },
  {
    ask: "average unemployment rate in construction over time",
    sql: "select date_trunc('month', date)::date, avg(rate) from unemployment_across_industries where series = 'Construction' group by 1"
  },
  {
    ask: "co2 level in 2019 compared with 1960",
    sql: `select year("Date"::date)::varchar, avg("CO2") from co2_concentration where year("Date"::date) in (1960, 2019) group by 1`
  },
  {
    ask: ["number of movies by genre in 2005", "and in 2006?", "only drama and comedy"],
    sql: `select genre, count(*) from ${films} where year(released) = 2006 and genre in ('Drama', 'Comedy') group by 1`
  },
  {
    ask: ["which state has the most bird strikes", "what about the fewest?"],
    sql: `select "Origin State", count(*) as n from birdstrikes where "Origin State" is not null group by 1 order by n limit 1`,
    as: "first"
  }
]
