/**
 * The golden set: questions as people ask them, over the sample's models and over drafted ones, each with SQL for its
 * answer; and questions that have none.
 */
import type { Golden } from "./Golden.ts"

/** The films with their genres and dates as the model has them. */
const films = `(select *, "Major Genre" as genre, case when "Release Date"::date < date '2012-01-01' then "Release Date"::date end as released from movies)`

/** Deaths by kind, without the rows for all kinds together. */
const kinds = `(select * from disasters where Entity != 'All natural disasters')`

const flights: ReadonlyArray<Golden> = [
  { ask: "How many flights are there?", sql: "select count(*) from flights_3m", chart: "none" },
  { ask: "What is the average delay?", sql: "select avg(delay) from flights_3m" },
  {
    ask: "How many flights were there in March 2001?",
    sql: "select count(*) from flights_3m where date >= '2001-03-01' and date < '2001-04-01'"
  },
  {
    ask: "flights per month",
    sql: "select date_trunc('month', date)::date, count(*) from flights_3m group by 1",
    chart: "line"
  },
  { ask: "What was the longest delay?", sql: "select max(delay) from flights_3m" },
  {
    ask: "average delay by day of the week",
    sql: "select dayname(date), avg(delay) from flights_3m group by 1",
    chart: "bar"
  },
  { ask: "How many flights were more than 60 minutes late?", sql: "select count(*) from flights_3m where delay > 60" },
  {
    ask: "how many flights longer than 2,000 miles were there",
    sql: "select count(*) from flights_3m where distance > 2000"
  },
  {
    ask: "What percentage of flights were delayed more than 2 hours?",
    sql: "select 100.0 * count(*) filter (where delay > 120) / count(*) from flights_3m"
  },
  {
    ask: "Which origin airport has the most flights?",
    sql: "select a.name, count(*) as n from flights_3m f join airports a on f.origin = a.iata group by 1 order by n desc limit 1",
    as: "first",
    chart: "bar"
  },
  {
    ask: "top 5 destination states by number of flights",
    sql: "select a.state, count(*) as n from flights_3m f join airports a on f.destination = a.iata where a.state is not null group by 1 order by n desc limit 5",
    as: "ranked",
    chart: "bar"
  },
  {
    ask: "How many flights left from Atlanta?",
    sql: "select count(*) from flights_3m f join airports a on f.origin = a.iata where a.city = 'Atlanta'"
  },
  {
    ask: "how many flights from ATL to LAX",
    sql: "select count(*) from flights_3m where origin = 'ATL' and destination = 'LAX'"
  },
  {
    ask: "average delay of flights to Chicago by month",
    sql: "select date_trunc('month', date)::date, avg(delay) from flights_3m f join airports a on f.destination = a.iata where a.city = 'Chicago' group by 1",
    chart: "line"
  },
  {
    ask: "average number of flights per day",
    sql: "select avg(n) from (select date_trunc('day', date), count(*) as n from flights_3m group by 1)"
  },
  {
    ask: "share of flights by flight length",
    sql: "select case when distance < 500 then 'short' when distance < 1500 then 'medium' else 'long' end, 100.0 * count(*) / sum(count(*)) over () from flights_3m group by 1",
    chart: "bar"
  },
  {
    ask: "how many different routes are there?",
    sql: "select count(distinct origin || ' to ' || destination) from flights_3m"
  },
  { ask: "average delay on Fridays", sql: "select avg(delay) from flights_3m where dayname(date) = 'Friday'" },
  {
    ask: "Which hour of departure has the worst average delay?",
    sql: "select hour(date), avg(delay) as d from flights_3m group by 1 order by d desc limit 1",
    as: "first"
  },
  {
    ask: "Is there a relationship between distance and delay?",
    sql: "select count(*) from flights_3m where distance is not null and delay is not null",
    as: "first",
    chart: "line"
  },
  {
    ask: ["How many flights were there in January 2001?", "and in February?"],
    sql: "select count(*) from flights_3m where date >= '2001-02-01' and date < '2001-03-01'"
  },
  {
    ask: ["average delay by weekday", "only flights from Denver"],
    sql: "select dayname(date), avg(delay) from flights_3m f join airports a on f.origin = a.iata where a.city = 'Denver' group by 1",
    chart: "bar"
  },
  {
    ask: "origin cities with more than 100,000 flights",
    sql: "select a.city, count(*) as n from flights_3m f join airports a on f.origin = a.iata group by 1 having n > 100000"
  },
  { ask: "How many airports are there in Texas (TX)?", refused: /TX/ },
  { ask: "how many airports are in the state TX?", sql: "select count(*) from airports where state = 'TX'" }
]

const stocks: ReadonlyArray<Golden> = [
  {
    ask: "What was the highest price of Google?",
    sql: "select max(price) from stocks where symbol = 'GOOG'",
    chart: "none"
  },
  {
    ask: "average price of Microsoft stock in 2005",
    sql: "select avg(price) from stocks where symbol = 'MSFT' and year(date::date) = 2005"
  },
  {
    ask: "Compare the average price of Apple and IBM",
    sql: "select case symbol when 'AAPL' then 'Apple' else 'IBM' end, avg(price) from stocks where symbol in ('AAPL', 'IBM') group by 1",
    chart: "bar"
  },
  {
    ask: "Show the price of Amazon over time",
    sql: "select date::date, price from stocks where symbol = 'AMZN'",
    chart: "line"
  },
  {
    ask: "price by company over time",
    sql: "select date::date, case symbol when 'AAPL' then 'Apple' when 'AMZN' then 'Amazon' when 'GOOG' then 'Google' when 'MSFT' then 'Microsoft' else symbol end, price from stocks",
    chart: "line"
  },
  {
    ask: "When was the price of AAPL highest?",
    sql: "select date::date, price from stocks where symbol = 'AAPL' order by price desc limit 1",
    as: "first"
  },
  {
    ask: "Which company had the lowest price?",
    sql: "select case symbol when 'AAPL' then 'Apple' when 'AMZN' then 'Amazon' when 'GOOG' then 'Google' when 'MSFT' then 'Microsoft' else symbol end, min(price) as p from stocks group by 1 order by p limit 1",
    as: "first"
  },
  {
    ask: "How did the price of Apple change between 2004 and 2008?",
    sql: "select avg(price) filter (where year(date::date) = 2004), avg(price) filter (where year(date::date) = 2008), avg(price) filter (where year(date::date) = 2008) - avg(price) filter (where year(date::date) = 2004) from stocks where symbol = 'AAPL'"
  },
  {
    ask: "Which company's price grew the most between 2004 and 2008?",
    sql: "select 'Google', avg(price) filter (where year(date::date) = 2008) - avg(price) filter (where year(date::date) = 2004) from stocks where symbol = 'GOOG'",
    as: "first",
    chart: "bar"
  },
  {
    ask: "lowest IBM price since 2005",
    sql: "select min(price) from stocks where symbol = 'IBM' and date::date >= '2005-01-01'"
  },
  {
    ask: "average price by year for MSFT",
    sql: "select date_trunc('year', date::date)::date, avg(price) from stocks where symbol = 'MSFT' group by 1",
    chart: "line"
  },
  {
    ask: "minimum and maximum price by symbol",
    sql: "select symbol, min(price), max(price) from stocks group by 1",
    chart: "bar"
  },
  { ask: "median price of Google", sql: "select median(price) from stocks where symbol = 'GOOG'" },
  {
    ask: "volatility by company",
    sql: "select case symbol when 'AAPL' then 'Apple' when 'AMZN' then 'Amazon' when 'GOOG' then 'Google' when 'MSFT' then 'Microsoft' else symbol end, stddev(price) from stocks group by 1",
    chart: "bar"
  },
  {
    ask: "average price in 2008 versus 2009",
    sql: "select year(date::date)::varchar, avg(price) from stocks where year(date::date) in (2008, 2009) group by 1"
  },
  {
    ask: ["What was the average price of Apple in 2007?", "what about Google?"],
    sql: "select avg(price) from stocks where symbol = 'GOOG' and year(date::date) = 2007"
  },
  {
    ask: ["price of IBM by year", "and by quarter?"],
    sql: "select date_trunc('quarter', date::date)::date, avg(price) from stocks where symbol = 'IBM' group by 1",
    chart: "line"
  },
  { ask: "price of TSLA", refused: /TSLA/ },
  { ask: "Will Apple shares rise next year?", refused: /forecast|recorded/ },
  { ask: "Why did Amazon fall in 2001?", refused: /not why/ },
  { ask: "Should I buy Microsoft?", refused: /recommend/ }
]

const weather: ReadonlyArray<Golden> = [
  {
    ask: "How much rain fell in New York in 2014?",
    sql: "select sum(precipitation) from weather where location = 'New York' and year(date) = 2014"
  },
  {
    ask: "average temperature by month in Seattle",
    sql: "select date_trunc('month', date)::date, avg(temp_max) from weather where location = 'Seattle' group by 1",
    chart: "line"
  },
  {
    ask: "What was the highest temperature in Seattle?",
    sql: "select max(temp_max) from weather where location = 'Seattle'"
  },
  {
    ask: "hottest day in New York",
    sql: "select date, temp_max from weather where location = 'New York' order by temp_max desc limit 1",
    as: "first"
  },
  { ask: "number of days by weather type", sql: "select weather, count(*) from weather group by 1", chart: "bar" },
  {
    ask: "How many snowy days were there in New York?",
    sql: "select count(*) from weather where location = 'New York' and weather = 'snow'"
  },
  {
    ask: "What is the most common weather in Seattle?",
    sql: "select weather, count(*) as n from weather where location = 'Seattle' group by 1 order by n desc limit 1",
    as: "first"
  },
  {
    ask: "Seattle vs New York: average low temperature",
    sql: "select location, avg(temp_min) from weather group by 1",
    chart: "bar"
  },
  {
    ask: "what percentage of days in Seattle were foggy?",
    sql: "select 100.0 * count(*) filter (where weather = 'fog') / count(*) from weather where location = 'Seattle'"
  },
  {
    ask: "Which month in 2013 had the most rain in Seattle?",
    sql: "select date_trunc('month', date)::date, sum(precipitation) as p from weather where location = 'Seattle' and year(date) = 2013 group by 1 order by p desc limit 1",
    as: "first"
  },
  {
    ask: "How many days had a low temperature below 0 in New York?",
    sql: "select count(*) from weather where location = 'New York' and temp_min < 0"
  },
  {
    ask: "average wind speed by city and year",
    sql: "select location, date_trunc('year', date)::date, avg(wind) from weather group by 1, 2",
    chart: "line"
  },
  {
    ask: "relationship between wind and precipitation",
    sql: "select count(*) from weather where wind is not null and precipitation is not null"
  },
  {
    ask: "total precipitation in the last year of the data by city",
    sql: "select location, sum(precipitation) from weather where year(date) = 2015 group by 1"
  },
  {
    ask: "Average maximum temprature in Seatle in July 2015",
    sql: "select avg(temp_max) from weather where location = 'Seattle' and date >= '2015-07-01' and date < '2015-08-01'"
  },
  {
    ask: "days per condition excluding sun",
    sql: "select weather, count(*) from weather where weather != 'sun' group by 1",
    chart: "bar"
  },
  {
    ask: ["average temperature by city in 2012", "and 2013?"],
    sql: "select location, avg(temp_max) from weather where year(date) = 2013 group by 1"
  },
  { ask: "average humidity in Seattle", refused: /humidity/ },
  { ask: "weather in London", refused: /London/ }
]

const movies: ReadonlyArray<Golden> = [
  { ask: "How many movies are there per genre?", sql: `select genre, count(*) from ${films} group by 1`, chart: "bar" },
  {
    ask: "Top 10 movies by worldwide gross",
    sql: `select "Title", "Worldwide Gross" from movies where "Worldwide Gross" is not null order by 2 desc limit 10`,
    as: "ranked",
    chart: "bar"
  },
  {
    ask: "Which movie had the biggest budget?",
    sql: `select "Title", "Production Budget" as b from movies where b is not null order by b desc limit 1`,
    as: "first"
  },
  {
    ask: "What is the average IMDB rating of comedies?",
    sql: `select avg("IMDB Rating") from ${films} where genre = 'Comedy'`
  },
  {
    ask: "average imdb rating by genre",
    sql: `select genre, avg("IMDB Rating") from ${films} group by 1`,
    chart: "bar"
  },
  {
    ask: "Which director made the most movies?",
    sql: `select "Director", count(*) as n from movies where "Director" is not null group by 1 order by n desc limit 1`,
    as: "first"
  },
  {
    ask: "top five directors by total worldwide gross",
    sql: `select "Director", sum("Worldwide Gross") as g from movies where "Director" is not null group by 1 order by g desc limit 5`,
    as: "ranked",
    chart: "bar"
  },
  {
    ask: "How many movies did Steven Spielberg direct?",
    sql: `select count(*) from movies where "Director" = 'Steven Spielberg'`
  },
  {
    ask: "How many movies were directed by Steven Spielberg?",
    sql: `select count(*) from movies where "Director" = 'Steven Spielberg'`
  },
  { ask: "movies longer than 3 hours", sql: `select "Title" from movies where "Running Time min" > 180` },
  {
    ask: "How many movies had a budget over $100 million?",
    sql: `select count(*) from movies where "Production Budget" > 100000000`
  },
  {
    ask: "number of movies per year since 1990",
    sql: `select date_trunc('year', released)::date, count(*) from ${films} where released >= '1990-01-01' group by 1`,
    chart: "line"
  },
  { ask: "how many different directors are there?", sql: `select count(distinct "Director") from movies` },
  { ask: "list all MPAA ratings", sql: `select "MPAA Rating", count(*) from movies group by 1` },
  {
    ask: "What share of movies is rated R?",
    sql: `select 100.0 * count(*) filter (where "MPAA Rating" = 'R') / count(*) from movies`
  },
  { ask: "number of movies not rated R", sql: `select count(*) from movies where "MPAA Rating" != 'R'` },
  {
    ask: "relationship between production budget and worldwide gross",
    sql: `select count(*) from movies where "Production Budget" is not null and "Worldwide Gross" is not null`
  },
  {
    ask: "total us gross by distributor, top 3",
    sql: `select "Distributor", sum("US Gross") as g from movies where "Distributor" is not null group by 1 order by g desc limit 3`,
    as: "ranked"
  },
  {
    ask: "median running time by genre",
    sql: `select genre, median("Running Time min") from ${films} where "Running Time min" is not null group by 1`,
    chart: "bar"
  },
  { ask: "movies without a director", sql: `select count(*) from movies where "Director" is null` },
  {
    ask: "how many films between 1995 and 1999",
    sql: `select count(*) from ${films} where released >= '1995-01-01' and released < '2000-01-01'`
  },
  {
    ask: "average worldwide gross of Action and Adventure movies",
    sql: `select genre, avg("Worldwide Gross") from ${films} where genre in ('Action', 'Adventure') group by 1`
  },
  {
    ask: "ratio of worldwide gross to production budget by genre",
    sql: `select genre, sum("Worldwide Gross") / sum("Production Budget") from ${films} group by 1`
  },
  {
    ask: ["top 5 movies by worldwide gross", "only comedies"],
    sql: `select "Title", "Worldwide Gross" from ${films} where genre = 'Comedy' and "Worldwide Gross" is not null order by 2 desc limit 5`,
    as: "ranked"
  },
  {
    ask: ["how many movies are there by genre?", "as percentages"],
    sql: `select genre, 100.0 * count(*) / sum(count(*)) over () from ${films} group by 1`
  },
  {
    ask: "how many directors have more than 10 movies",
    sql: `select count(*) from (select "Director" from movies where "Director" is not null group by 1 having count(*) > 10)`
  },
  { ask: "What is the best movie?", refused: /by which number/ },
  { ask: "movies starring Tom Hanks", refused: /starring|Tom Hanks/ },
  { ask: "average ticket sales by actor", refused: /ticket|actor/ }
]

const others: ReadonlyArray<Golden> = [
  {
    ask: "average horsepower by cylinders",
    sql: `select "Cylinders", avg("Horsepower") from cars group by 1`,
    chart: "bar"
  },
  { ask: "How many cars have 8 cylinders?", sql: `select count(*) from cars where "Cylinders" = 8` },
  { ask: "average mpg by origin", sql: `select "Origin", avg("Miles_per_Gallon") from cars group by 1`, chart: "bar" },
  {
    ask: "how did fuel economy develop over time?",
    sql: `select date_trunc('year', "Year"::date)::date, avg("Miles_per_Gallon") from cars group by 1`,
    chart: "line"
  },
  {
    ask: "Which car maker has the most cars?",
    sql: "select 'ford', count(*) from cars where split_part(\"Name\", ' ', 1) = 'ford'",
    as: "first"
  },
  {
    ask: "is there a correlation between weight and mpg?",
    sql: `select count(*) from cars where "Weight_in_lbs" is not null and "Miles_per_Gallon" is not null`,
    chart: "point"
  },
  {
    ask: "how many cars from Japan are heavier than 2800 pounds",
    sql: `select count(*) from cars where "Origin" = 'Japan' and "Weight_in_lbs" > 2800`
  },
  {
    ask: "Which country had the highest life expectancy in 2005?",
    sql: "select country, life_expect from gapminder where year = 2005 order by 2 desc limit 1",
    as: "first"
  },
  {
    ask: "life expectancy in Afghanistan over time",
    sql: "select make_date(year, 1, 1), life_expect from gapminder where country = 'Afghanistan'",
    chart: "line"
  },
  {
    ask: "top 5 countries by population in 2005",
    sql: "select country, pop from gapminder where year = 2005 order by pop desc limit 5",
    as: "ranked",
    chart: "bar"
  },
  {
    ask: "average fertility by region in 2000",
    sql: "select case cluster when 0 then 'South Asia' when 1 then 'Europe and Central Asia' when 2 then 'Sub-Saharan Africa' when 3 then 'America' when 4 then 'East Asia and Pacific' else 'Middle East and North Africa' end, avg(fertility) from gapminder where year = 2000 group by 1",
    chart: "bar"
  },
  { ask: "How many countries are there?", sql: "select count(distinct country) from gapminder" },
  {
    ask: "How many people were killed by earthquakes?",
    sql: `select sum("Deaths") from ${kinds} where Entity = 'Earthquake'`
  },
  {
    ask: "total deaths by kind of disaster",
    sql: `select Entity, sum("Deaths") from ${kinds} group by 1`,
    chart: "bar"
  },
  {
    ask: "deaths by floods per year since 2000",
    sql: `select make_date("Year", 1, 1), sum("Deaths") from ${kinds} where Entity = 'Flood' and "Year" >= 2000 group by 1`,
    chart: "line"
  },
  {
    ask: "Which year had the most deaths?",
    sql: `select make_date("Year", 1, 1), sum("Deaths") as d from ${kinds} group by 1 order by d desc limit 1`,
    as: "first"
  },
  {
    ask: "what was the deadliest kind of disaster",
    sql: `select Entity, sum("Deaths") as d from ${kinds} group by 1 order by d desc limit 1`,
    as: "first"
  },
  {
    ask: "number of bird strikes by phase of flight",
    sql: `select "Phase of flight", count(*) from birdstrikes group by 1`,
    chart: "bar"
  },
  {
    ask: "total cost of bird strikes in Texas",
    sql: `select sum("Cost Total $") from birdstrikes where "Origin State" = 'Texas'`
  },
  {
    ask: "average unemployment rate by industry in 2009",
    sql: "select series, avg(rate) from unemployment_across_industries where year = 2009 group by 1",
    chart: "bar"
  },
  {
    ask: "CO2 over the years",
    sql: `select date_trunc('year', "Date"::date)::date, avg("CO2") from co2_concentration group by 1`,
    chart: "line"
  },
  { ask: "What is the deadliest airline?", refused: /./ },
  { ask: "average salary by department", refused: /salary/ },
  { ask: "how many customers do we have?", refused: /customers/ },
  { ask: "asdf qwer zxcv", refused: /asdf/ },
  { ask: "drop table flights", refused: /only read/ },
  { ask: "and by month?", refused: /./ },
  { ask: "price by", refused: /./ },
  { ask: "Which airport has the most flights?", refused: /Origin airport[\s\S]*Destination airport/ }
]

const drafted: ReadonlyArray<Golden> = [
  { world: "drafted", ask: "How many penguins are there?", sql: "select count(*) from penguins", chart: "none" },
  {
    world: "drafted",
    ask: "average body mass by species",
    sql: `select "Species", avg("Body Mass (g)") from penguins group by 1`,
    chart: "bar"
  },
  {
    world: "drafted",
    ask: "How many penguins per island?",
    sql: `select "Island", count(*) from penguins group by 1`,
    chart: "bar"
  },
  {
    world: "drafted",
    ask: "longest flipper length of Gentoo penguins",
    sql: `select max("Flipper Length (mm)") from penguins where "Species" = 'Gentoo'`
  },
  {
    world: "drafted",
    ask: "relationship between flipper length and body mass",
    sql: `select count(*) from penguins where "Flipper Length (mm)" is not null and "Body Mass (g)" is not null`,
    chart: "point"
  },
  {
    world: "drafted",
    ask: "female penguins heavier than 5000 g",
    sql: `select count(*) from penguins where "Sex" = 'FEMALE' and "Body Mass (g)" > 5000`
  },
  {
    world: "drafted",
    ask: "average yield by site",
    sql: "select site, avg(yield) from barley group by 1",
    chart: "bar"
  },
  {
    world: "drafted",
    ask: "which variety has the highest yield?",
    sql: "select variety, avg(yield) as y from barley group by 1 order by y desc limit 1",
    as: "first"
  },
  {
    world: "drafted",
    ask: "average yield in 1931 vs 1932",
    sql: "select year::varchar, avg(yield) from barley group by 1"
  },
  { world: "drafted", ask: "how many eggs did penguins lay", refused: /eggs/ }
]

/** Questions in which a word that is passed over would turn the answer into another one. */
const traps: ReadonlyArray<Golden> = [
  { ask: "average gross of Disney movies", refused: /Disney Ride/ },
  { ask: "average delay in the first week of march 2001", refused: /first/ },
  { ask: "how much higher is the average temperature in New York than in Seattle", refused: /Seattle/ },
  { ask: "shortest and longest movie", refused: /longest/ },
  { ask: "how many rainy weekends in seattle", refused: /weekends/ },
  { ask: "second highest price of google", refused: /second/ },
  { ask: "total gross of comedies minus total gross of dramas", refused: /dramas|minus/ },
  { ask: "is AAPL price higher than MSFT?", refused: /MSFT|higher/ },
  {
    ask: "which director has the highest average imdb rating with at least 5 movies",
    sql: `select "Director", avg("IMDB Rating") as r from movies where "Director" is not null group by 1 having count(*) >= 5 order by r desc limit 1`,
    as: "first"
  },
  {
    ask: "what percent of worldwide gross comes from action movies",
    sql: `select 100.0 * sum("Worldwide Gross") filter (where genre = 'Action') / sum("Worldwide Gross") from ${films}`
  },
  {
    ask: "directors with an average rating above 8",
    sql: `select "Director", avg("IMDB Rating") from movies where "Director" is not null group by 1 having avg("IMDB Rating") > 8`
  },
  { ask: "who directed Jaws", sql: `select "Director" from movies where "Title" = 'Jaws'` },
  {
    ask: "percentage of late flights by origin state, top 5",
    sql: "select a.state, 100.0 * count(*) filter (where delay > 15) / count(*) as p from flights_3m f join airports a on f.origin = a.iata where a.state is not null group by 1 order by p desc limit 5",
    as: "ranked"
  },
  {
    ask: "average price of IBM from 2004 to 2008",
    sql: "select avg(price) from stocks where symbol = 'IBM' and year(date::date) between 2004 and 2008"
  },
  {
    ask: "mean distance of late flights",
    sql: "select avg(distance) from flights_3m where delay > 15"
  }
]

/** Every question. */
export const questions: ReadonlyArray<Golden> = [
  ...flights,
  ...stocks,
  ...weather,
  ...movies,
  ...others,
  ...drafted,
  ...traps
]
