"""What a program in a session has of Castellan: `sql` over its dataframes, `chart`, `display`, and a light `Table`.

    import castellan
    by_region = castellan.sql("select region, sum(amount) as amount from sales group by region")
    castellan.chart({"mark": "bar", "data": {"values": ...}, "encoding": {...}})
"""

from ._display import display
from ._host import QueryFailed

__all__ = ["QueryFailed", "display"]
