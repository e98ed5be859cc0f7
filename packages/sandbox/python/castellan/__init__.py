"""What a program in a session has of Castellan.

    import castellan
    by_region = castellan.sql("select region, sum(amount) as amount from sales group by region")
    castellan.chart({"mark": "bar", "encoding": {"x": {"field": "region"}, "y": {"field": "amount"}}}, by_region)

`sql` runs SQL over the session's dataframes and data files and answers a dataframe; `chart` shows a Vega-Lite chart;
`display` shows any value, as the last line of a program is shown; `Table` is the dataframe of sessions without pandas.
"""

from ._charts import chart
from ._display import display
from ._host import QueryFailed
from ._sql import sql
from ._table import Table

__all__ = ["QueryFailed", "Table", "chart", "display", "sql"]
