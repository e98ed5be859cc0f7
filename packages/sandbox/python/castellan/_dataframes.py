"""The dataframes among a program's variables: pandas', and our own tables where pandas is not."""

import ast
import importlib.util
import sys
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import _arrow_read, _arrow_write, _table

MAXIMUM = 100
"""Dataframes that are told."""

LONGEST_NAME = 1024
"""Characters of a name that is told."""

LARGEST = (1 << 53) - 1
"""A number that is told, at most: larger ones are not exact everywhere."""

PIECE = 1024 * 1024
"""Bytes of a piece of a stream."""

_pandas_is_there = importlib.util.find_spec("pandas") is not None


class Told(NamedTuple):
    """Dataframes as they are told to the host: name, rows, columns, bytes of memory."""

    all: list[dict[str, Any]]
    changed: list[str]
    """The names of those that were made or changed."""


class _Seen(NamedTuple):
    frame: Any
    shape: tuple[int, int]
    told: dict[str, Any]


def is_dataframe(value: Any) -> bool:
    """Whether a value is a dataframe; nothing is imported to find out."""
    if type(value) is _table.Table:
        return True
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    return frame is not None and isinstance(value, frame)


def is_counted(frame: Any) -> bool:
    """Whether the index of a dataframe of pandas only counts its rows."""
    ranged = getattr(sys.modules.get("pandas"), "RangeIndex", None)
    return ranged is not None and isinstance(frame.index, ranged)


def stream(frame: Any) -> Iterator[_arrow_write.Bytes]:
    """A dataframe as an Arrow IPC stream, in pieces of a size that one frame of the channel can have."""
    if isinstance(frame, _table.Table):
        columns = _table.arrow(frame)
    else:
        from . import _arrow_pandas

        columns = _arrow_pandas.columns(frame)
    return _arrow_write.packed(_arrow_write.write(columns), PIECE)


def read(content: bytes) -> Any:
    """The dataframe of an Arrow IPC stream: of pandas where that is there, a table of our own otherwise."""
    columns = _arrow_read.read(content)
    if not _pandas_is_there:
        return _table.of_arrow(columns)
    from . import _arrow_pandas

    return _arrow_pandas.frame(columns)


def _memory(frame: Any) -> int:
    if isinstance(frame, _table.Table):
        return _table.memory(frame)
    # Without what objects refer to: looking at every one of them would take longer than most programs.
    return int(frame.memory_usage(index=True, deep=False).sum())


class Dataframes:
    """Remembers which there were, to tell what changed."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables
        self._seen: dict[str, _Seen] = {}
        self._written: set[str] = set()

    def touch(self, tree: ast.Module) -> None:
        """Notes what a program writes to in place: of `sales["total"] = …` and `sales.loc[…] += …` it is `sales`."""
        if not self._seen:
            # Whatever it writes to was made by itself.
            return
        for node in ast.walk(tree):
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                at: ast.expr = node
                while isinstance(at, (ast.Subscript, ast.Attribute)):
                    at = at.value
                if isinstance(at, ast.Name):
                    self._written.add(at.id)

    def look(self) -> Told:
        """The dataframes that there are, and those that were made or changed since the last look."""
        written, self._written = self._written, set()
        seen: dict[str, _Seen] = {}
        changed: list[str] = []
        for name, value in list(self._variables.items()):
            if len(seen) == MAXIMUM:
                break
            if type(name) is not str or name.startswith("_") or len(name) > LONGEST_NAME:
                continue
            try:
                if not is_dataframe(value):
                    continue
                shape = value.shape
                before = self._seen.get(name)
                if before is not None and before.frame() is value and before.shape == shape and name not in written:
                    seen[name] = before
                    continue
                size = {"rows": int(shape[0]), "columns": int(shape[1]), "memory": _memory(value)}
                if any(not 0 <= number <= LARGEST for number in size.values()):
                    continue
                told = {"name": name, **size}
                seen[name] = _Seen(weakref.ref(value), shape, told)
                changed.append(name)
            except BaseException:
                # A class of a program's own that does not behave, whatever it raises: it is not told. Nobody interrupts
                # here, where no program runs.
                continue
        self._seen = seen
        return Told([one.told for one in seen.values()], changed)

    def bind(self, name: str, content: bytes) -> dict[str, Any]:
        """Makes a dataframe of an Arrow IPC stream, under a name."""
        frame = read(content)
        self._variables[name] = frame
        self.look()
        rows, columns = frame.shape
        return {"name": name, "rows": rows, "columns": columns, "memory": _memory(frame)}

    def export(self, name: str) -> Iterator[_arrow_write.Bytes]:
        """A dataframe as an Arrow IPC stream, in pieces. Raises `KeyError` where there is none of that name."""
        value = self._variables.get(name)
        if not is_dataframe(value):
            raise KeyError(name)
        return stream(value)
