"""Charts of Vega-Lite: a specification with its data, drawn by whoever shows it."""

import datetime
import decimal
import json
import math
from typing import Any

from . import _arrow_python, _dataframes, _display, _kinds, _table

MEDIA_TYPE = "application/vnd.vegalite.v5+json"


def chart(specification: Any, data: Any = None) -> None:
    """Shows a chart.

    `specification` is one of Vega-Lite: a dictionary, its JSON, or an object that has `to_dict` (as Altair's charts).
    `data` is what it draws: a dataframe, a `castellan.Table` or a list of records; or it is in the specification, where
    `{"values": sales}` may name a dataframe as well.
    """
    told = _dictionary(specification)
    if data is not None:
        told = {**told, "data": {"values": data}}
    content = json.dumps(_plain(told), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    if len(content) > _display.FORM:
        raise ValueError(
            f"the chart has {len(content)} bytes of data, more than the {_display.FORM} that can be shown: "
            "aggregate it first, for instance with castellan.sql"
        )
    mark = told.get("mark")
    kind = mark.get("type") if _kinds.is_dictionary(mark) else mark
    title = told.get("title")
    about = " ".join(str(part) for part in ("Chart", kind, title) if isinstance(part, str))
    _display.show([(MEDIA_TYPE, content), ("text/plain", f"<{about}>".encode("utf-8", "replace"))])


def _dictionary(specification: Any) -> dict[str, Any]:
    if isinstance(specification, str):
        specification = json.loads(specification)
    elif not _kinds.is_dictionary(specification) and hasattr(specification, "to_dict"):
        specification = specification.to_dict()
    if not _kinds.is_dictionary(specification):
        raise TypeError("a chart is told by a dictionary of Vega-Lite, or its JSON")
    return specification


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, (str, bool, int)):
        return value
    if _arrow_python.is_missing(value):
        return None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if _kinds.is_dictionary(value):
        return {str(name): _plain(part) for name, part in value.items()}
    if _kinds.is_gathering(value):
        return [_plain(part) for part in value]
    if isinstance(value, _table.Table):
        return [_plain(row) for row in value]
    if _dataframes.is_dataframe(value):
        frame = value if _dataframes.is_counted(value) else value.reset_index()
        return [_plain(row) for row in frame.to_dict(orient="records")]
    if isinstance(value, decimal.Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value)
