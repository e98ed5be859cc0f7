"""A light dataframe of columns, for where pandas is not: what a query answers can be looked at, gone through, and asked
again with `castellan.sql`."""

import html
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _arrow_python, _arrow_read, _cut
from ._arrow_write import Written

SHOWN = 20
"""Rows that a preview has."""


class Table:
    """Columns of equal length, by name.

    table.columns            the names
    table.rows               the number of rows
    table["amount"]          a column, as a list
    for row in table: ...    each row, as a record
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns: dict[str, list[Any]] = {str(name): list(values) for name, values in columns.items()}
        sizes = {len(values) for values in self._columns.values()}
        if len(sizes) > 1:
            raise ValueError("the columns of a table have different lengths")
        self._rows = sizes.pop() if sizes else 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._rows, len(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = list(self._columns)
        return (dict(zip(names, row)) for row in zip(*self._columns.values()))

    def head(self, count: int = 5) -> "Table":
        """The first rows."""
        return Table({name: values[:count] for name, values in self._columns.items()})

    def select(self, *names: str) -> "Table":
        """Some of the columns, in the order that is asked for."""
        return Table({name: self._columns[name] for name in names})

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns, as lists by their names."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_markdown(self, rows: int = SHOWN) -> str:
        """The first rows as a table of Markdown."""
        return markdown(self.columns, [list(row) for row in _first(self, rows)], self._rows)

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return as_html(self.columns, [list(row) for row in _first(self, SHOWN)], self._rows)

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> "Table":
        """A table of records; a column that a record lacks is null there."""
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        return cls({name: [row.get(name) for row in rows] for name in names})


def _first(table: Table, count: int) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name][:count] for name in table.columns))


def memory(table: Table) -> int:
    """Bytes of memory that a table holds, about: its lists, and its values as if they were as large as the first."""
    total = 0
    for name in table.columns:
        values = table[name]
        total += sys.getsizeof(values) + (sys.getsizeof(values[0]) * len(values) if values else 0)
    return total


def of_arrow(columns: list[_arrow_read.Column]) -> Table:
    """The table of a stream's columns."""
    return Table({column.field.name: _arrow_read.values(column) for column in columns})


def arrow(table: Table) -> list[Written]:
    """The columns of a table as a stream has them."""
    return [_arrow_python.column(name, table[name]) for name in table.columns]


def _cell(value: Any) -> str:
    if _arrow_python.is_missing(value):
        return ""
    return _cut.line(_arrow_python.as_text(value), 200)


def markdown(names: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """Rows as a table of Markdown, with a note of how many there are in all."""

    def told(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(_cell(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |"

    lines = [told(names), "|" + "---|" * len(names), *(told(row) for row in rows)]
    if total > len(rows):
        lines.append(f"\n{len(rows)} of {total} rows")
    return "\n".join(lines)


def as_html(names: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """Rows as a table of HTML."""
    head = "".join(f"<th>{html.escape(_cell(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    note = f"<p>{len(rows)} of {total} rows</p>" if total > len(rows) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
