"""SQL over what a session holds: its dataframes by their names, its data files by their paths."""

import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import _dataframes, _host, _kinds, _table

FILES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
"""Ends of the names of files that can be read."""

MAXIMUM = 256 * 1024 * 1024
"""Bytes of the tables and files of one statement."""

_word = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_quoted = re.compile(r"'((?:[^']|'')*)'")


def sql(statement: str, tables: Mapping[str, Any] | None = None, files: Sequence[str] | None = None) -> Any:
    """The result of one read-only statement of SQL (DuckDB's), as a dataframe.

    Dataframes among the variables are tables by their names; `tables` names others (dataframes, or dictionaries of
    columns). Files that the statement quotes (`from 'uploads/sales.csv'`) are read; `files` names others. Raises
    `castellan.QueryFailed` where the statement cannot be answered.
    """
    host = _host.current
    if host is None:
        raise RuntimeError("castellan.sql works in the session's Python; this is a process of its own")
    frame = sys._getframe(1)  # noqa: SLF001 -- the program's variables are those of its caller
    given: dict[str, Any] = {}
    words = set(_word.findall(statement))
    for scope in (frame.f_globals, frame.f_locals):
        for name in words:
            value = scope.get(name)
            if _dataframes.is_dataframe(value):
                given[name] = value
    given.update(tables or {})
    sent: list[tuple[str, list[Any]]] = []
    for name, value in given.items():
        table = _table.Table(value) if _kinds.is_mapping(value) else value
        if not _dataframes.is_dataframe(table):
            raise TypeError(f"the table {name} is no dataframe")
        sent.append((name, list(_dataframes.stream(table))))
    sent.extend((path, [_content(path)]) for path in dict.fromkeys([*quoted_files(statement), *(files or ())]))
    size = sum(len(piece) for _, pieces in sent for piece in pieces)
    if size > MAXIMUM:
        raise ValueError(f"the tables of the statement have {size} bytes, more than the {MAXIMUM} that can be sent")
    return _dataframes.read(host.query(statement, sent))


def quoted_files(statement: str) -> list[str]:
    """The files that a statement quotes."""
    quoted = [text.replace("''", "'") for text in _quoted.findall(statement)]
    return [text for text in quoted if text.lower().endswith(FILES) and os.path.isfile(text)]


def _content(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{path} is no file")
        if about.st_size > MAXIMUM:
            raise ValueError(f"{path} has {about.st_size} bytes, more than the {MAXIMUM} that can be sent")
        return file.read()
