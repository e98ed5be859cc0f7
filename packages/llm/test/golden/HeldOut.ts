/**
 * Questions that were written after the analyst was built and without a look at how it reads: colloquial, with slips,
 * short, and as follow-ups. They are scored apart from the golden set, against fitting the grammar to it.
 */
import type { Golden } from "./Golden.ts"

const films = `(select *, "Major Genre" as genre, case when "Release Date"::date < date '2012-01-01' then "Release Date"::date end as released from movies)`
const kinds = `(select * from disasters where Entity != 'All natural disasters')`
const company =
  "case symbol when 'AAPL' then 'Apple' when 'AMZN' then 'Amazon' when 'GOOG' then 'Google' when 'MSFT' then 'Microsoft' else symbol end"

/** Every held-out question. */
export const questions: ReadonlyArray<Golden> = [
  {
    ask: "hey, can you tell me how many flights took off from Denver in may 2001?",
    sql: "select count(*) from flights_3m f join airports a on f.origin = a.iata where a.city = 'Denver' and date >= '2001-05-01' and date < '2001-06-01'"
  },
  {
    ask: "whats the avg delay for flights over 1000 miles",
    sql: "select avg(delay) from flights_3m where distance > 1000"
  },
  {
    ask: "busiest day of the week for flying?",
    sql: "select dayname(date), count(*) as n from flights_3m group by 1 order by n desc limit 1",
    as: "first"
  },
  {
    ask: "how late are flights on average, by month",
    sql: "select date_trunc('month', date)::date, avg(delay) from flights_3m group by 1"
  },
  {
    ask: "which destination city gets the most flights",
    sql: "select a.city, count(*) as n from flights_3m f join airports a on f.destination = a.iata group by 1 order by n desc limit 1",
    as: "first"
  },
  { ask: "shortest flight distance", sql: "select min(distance) from flights_3m" },
  { ask: "number of flgihts per weekday", sql: "select dayname(date), count(*) from flights_3m group by 1" },
  {
    ask: "what fraction of flights were late on sundays",
    sql: "select 100.0 * count(*) filter (where delay > 15) / count(*) from flights_3m where dayname(date) = 'Sunday'"
  },
  {
    ask: "show me the 5 origin states with the lowest average delay",
    sql: "select a.state, avg(delay) as d from flights_3m f join airports a on f.origin = a.iata where a.state is not null group by 1 order by d limit 5",
    as: "ranked"
  },
  { ask: "google stock price history", sql: "select date::date, price from stocks where symbol = 'GOOG'" },
  { ask: "what was apple trading at in january 2007", refused: /which number/ },
  {
    ask: "what was the price of apple in january 2007?",
    sql: "select price from stocks where symbol = 'AAPL' and date::date = '2007-01-01'"
  },
  {
    ask: "biggest stock price ever and which company?",
    sql: `select ${company}, max(price) as p from stocks group by 1 order by p desc limit 1`,
    as: "first"
  },
  {
    ask: "which year was best for IBM stock by average price",
    sql: "select date_trunc('year', date::date)::date, avg(price) as p from stocks where symbol = 'IBM' group by 1 order by p desc limit 1",
    as: "first"
  },
  {
    ask: "average share price of each firm between 2005 and 2007",
    sql: `select ${company}, avg(price) from stocks where year(date::date) between 2005 and 2007 group by 1`
  },
  {
    ask: "did it rain more in seattle or new york in 2015?",
    sql: "select location, sum(precipitation) from weather where year(date) = 2015 group by 1"
  },
  {
    ask: "how windy was it in seattle on average in december 2014?",
    sql: "select avg(wind) from weather where location = 'Seattle' and date >= '2014-12-01' and date < '2015-01-01'"
  },
  {
    ask: "coldest day ever recorded in new york",
    sql: "select date, temp_min from weather where location = 'New York' order by temp_min limit 1",
    as: "first"
  },
  {
    ask: "count the sunny days in each city",
    sql: "select location, count(*) from weather where weather = 'sun' group by 1"
  },
  {
    ask: "monthly rainfall in new york during 2013",
    sql: "select date_trunc('month', date)::date, sum(precipitation) from weather where location = 'New York' and year(date) = 2013 group by 1"
  },
  { ask: "what genres are there", sql: `select genre, count(*) from ${films} group by 1` },
  {
    ask: "highest grossing comedy",
    sql: `select "Title", "Worldwide Gross" from ${films} where genre = 'Comedy' order by 2 desc nulls last limit 1`,
    as: "first"
  },
  {
    ask: "how many horror films came out in 2008",
    sql: `select count(*) from ${films} where genre = 'Horror' and year(released) = 2008`
  },
  { ask: "films by Woody Allen", sql: `select "Title" from movies where "Director" = 'Woody Allen'` },
  { ask: "whats the typical budget of an action movie?", refused: /typical/ },
  {
    ask: "average budget per creative type, highest first",
    sql: `select "Creative Type", avg("Production Budget") from movies group by 1`
  },
  { ask: "do expensive movies get better ratings?", refused: /./ },
  {
    ask: "which studio released the most movies after 2005",
    sql: `select "Distributor", count(*) as n from ${films} where "Distributor" is not null and released >= '2006-01-01' group by 1 order by n desc limit 1`,
    as: "first"
  },
  { ask: "avg weight of american cars vs european ones", refused: /american/ },
  {
    ask: "which car brand is the most fuel efficient",
    sql: `select case when p in ('chevy', 'chevroelt') then 'chevrolet' when p in ('vw', 'vokswagen') then 'volkswagen' when p = 'toyouta' then 'toyota' when p = 'maxda' then 'mazda' when p = 'mercedes' then 'mercedes-benz' else p end, avg("Miles_per_Gallon") as m from (select *, split_part("Name", ' ', 1) as p from cars) group by 1 order by m desc limit 1`,
    as: "first"
  },
  {
    ask: "how has horsepower changed over the years?",
    sql: `select date_trunc('year', "Year"::date)::date, avg("Horsepower") from cars group by 1`
  },
  {
    ask: "countries where life expectancy was under 60 in 2005",
    sql: "select country from gapminder where year = 2005 and life_expect < 60"
  },
  {
    ask: "population of china through the years",
    sql: "select make_date(year, 1, 1), pop from gapminder where country = 'China'"
  },
  {
    ask: "how many people died in floods between 1950 and 1960",
    sql: `select sum("Deaths") from ${kinds} where Entity = 'Flood' and "Year" between 1950 and 1960`
  },
  {
    ask: "which industry had the highest unemployment rate in January 2010",
    sql: "select series, rate from unemployment_across_industries where year = 2010 and month = 1 order by rate desc limit 1",
    as: "first"
  },
  { ask: "whats causing the delays?", refused: /not why/ },
  { ask: "revenue by region", refused: /./ },
  {
    ask: ["how many movies per genre", "now only those rated PG"],
    sql: `select genre, count(*) from ${films} where "MPAA Rating" = 'PG' group by 1`
  },
  {
    ask: ["average delay by month", "what about just from JFK?"],
    sql: "select date_trunc('month', date)::date, avg(delay) from flights_3m where origin = 'JFK' group by 1"
  },
  {
    ask: ["top 3 countries by life expectancy in 2005", "and the bottom 3?"],
    sql: "select country, life_expect from gapminder where year = 2005 order by 2 limit 3",
    as: "ranked"
  },
  {
    ask: ["total deaths per year from earthquakes", "since 1990"],
    sql: `select make_date("Year", 1, 1), sum("Deaths") from ${kinds} where Entity = 'Earthquake' and "Year" >= 1990 group by 1`
  }
]
