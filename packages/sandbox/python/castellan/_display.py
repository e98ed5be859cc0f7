"""Values as they are shown: in the forms that they have, the richest first, each of bounded size."""

import csv
import io
import json
import sys
from typing import Any

from . import _cut, _dataframes, _host, _kinds, _table, _text

FORM = 4 * 1024 * 1024
"""Bytes of one form; a larger one is left out."""

FORMS = 16
"""Forms that a value is shown in; those beyond are left out, the text never is."""

MEDIA_TYPE = 255
"""Letters that a media type has at most; of more, it is none."""

COLUMNS = 30
"""Columns that a preview of a dataframe has."""

ROWS = 10_000
"""Rows that a dataframe is handed out with."""

Forms = list[tuple[str, bytes]]

# What a value may offer, as Jupyter has it: https://ipython.readthedocs.io/en/stable/config/integrating.html
_methods = (
    ("_repr_html_", "text/html"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)


def display(*values: Any) -> None:
    """Shows values, each in the richest forms that it has. In a fresh process their text is printed."""
    for value in values:
        if _host.current is None:
            print(_text.of(value))
        else:
            show(forms(value))


def show(shown: Forms) -> None:
    """Shows forms of one value."""
    if _host.current is not None and shown:
        _host.current.display(shown)


def forms(value: Any) -> Forms:
    """The forms of a value."""
    if _dataframes.is_dataframe(value):
        return _of_dataframe(value)
    if _is_series(value):
        return _of_dataframe(value.to_frame(name=value.name if value.name is not None else "value"))
    if _is_figure(value):
        from . import _figures

        return _figures.forms(value)
    found = [] if isinstance(value, type) else _offered(value)
    if not any(media_type == "text/plain" for media_type, _ in found):
        found.append(("text/plain", _cut.text(_text.of(value))))
    return _bounded(found)


def _bounded(found: Forms) -> Forms:
    kept = [(media_type, body) for media_type, body in found if len(body) <= FORM and len(media_type) <= MEDIA_TYPE]
    # Text comes last.
    del kept[FORMS - 1 : -1]
    if not kept:
        kept = [("text/plain", f"[a value of {max(len(body) for _, body in found)} bytes is not shown]".encode())]
    return kept


def _offered(value: Any) -> Forms:
    """What a value's own methods answer. One that fails, or answers what cannot be shown, offers nothing."""
    bundle = _call(value, "_repr_mimebundle_")
    if _kinds.is_tuple(bundle):
        bundle = bundle[0] if bundle else None
    if _kinds.is_dictionary(bundle) and bundle:
        found = [(str(media_type), _body(body)) for media_type, body in bundle.items()]
        whole = [(media_type, body) for media_type, body in found if body is not None]
        # Text is the poorest form, whatever place it was given.
        return sorted(whole, key=lambda form: form[0] == "text/plain")
    found = [(media_type, _body(_call(value, method))) for method, media_type in _methods]
    return [(media_type, body) for media_type, body in found if body is not None]


def _call(value: Any, method: str) -> Any:
    try:
        function = getattr(value, method, None)
        answer = function() if callable(function) else None
    except Exception:
        # It is the program's own code; its text is still shown.
        return None
    return answer[0] if _kinds.is_tuple(answer) and method != "_repr_mimebundle_" else answer


def _body(body: Any) -> bytes | None:
    if body is None:
        return None
    if _kinds.is_bytes(body):
        return bytes(body)
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace")
    try:
        return json.dumps(body, default=str).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        # It is no JSON: that form cannot be shown.
        return None


def _is_series(value: Any) -> bool:
    series = getattr(sys.modules.get("pandas"), "Series", None)
    return series is not None and isinstance(value, series)


def _is_figure(value: Any) -> bool:
    figure = getattr(sys.modules.get("matplotlib.figure"), "Figure", None)
    return figure is not None and isinstance(value, figure)


def _of_dataframe(frame: Any) -> Forms:
    """A preview: the first rows, with a note of how many there are."""
    names, rows, total = _preview(frame)
    return _bounded(
        [
            ("text/html", _table.as_html(names, rows, total).encode("utf-8", "backslashreplace")),
            ("text/markdown", _cut.text(_table.markdown(names, rows, total))),
            ("text/csv", _csv(frame)),
        ]
    )


def _csv(frame: Any) -> bytes:
    """The rows themselves, as far as anybody is to be handed them; that it is there tells a dataframe from a page."""
    if not isinstance(frame, _table.Table):
        head = frame.iloc[:ROWS]
        return str(head.to_csv(index=not _dataframes.is_counted(frame))).encode("utf-8", "backslashreplace")
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(zip(*(frame[name][:ROWS] for name in frame.columns)))
    return written.getvalue().encode("utf-8", "backslashreplace")


def _preview(frame: Any) -> tuple[list[str], list[list[Any]], int]:
    if isinstance(frame, _table.Table):
        head = frame.head(_table.SHOWN)
        names = head.columns[:COLUMNS]
        rows = [list(row) for row in zip(*(head[name] for name in names))]
    else:
        head = frame.iloc[: _table.SHOWN, :COLUMNS]
        names = [_label(label) for label in head.columns]
        columns = [head.iloc[:, position].tolist() for position in range(len(names))]
        if not _dataframes.is_counted(frame):
            index = head.index
            levels = [index.get_level_values(level).tolist() for level in range(index.nlevels)]
            names = [str(name) if name is not None else "" for name in index.names] + names
            columns = levels + columns
        rows = [list(row) for row in zip(*columns)]
    missing = frame.shape[1] - COLUMNS
    if missing > 0:
        names = [*names, f"… {missing} more"]
        rows = [[*row, ""] for row in rows]
    return names, rows, int(frame.shape[0])


def _label(label: Any) -> str:
    return " / ".join(str(part) for part in label) if _kinds.is_tuple(label) else str(label)
