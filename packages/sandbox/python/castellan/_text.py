"""The text of a value, made without more of it than is shown: the text of a list of a hundred million numbers would
take gigabytes before it could be cut."""

from collections.abc import Iterable
from typing import Any

from . import _cut, _kinds

MAXIMUM_ITEMS = 1_000
"""Items of a list, a set or a dictionary that are shown."""

MAXIMUM_DEPTH = 6
"""Levels of structures within each other that are bounded; deeper ones are left to Python."""


class _Full(Exception):
    """There is no room for more."""


class _Text:
    """Gathers pieces up to a number of characters."""

    def __init__(self, room: int) -> None:
        self._pieces: list[str] = []
        self._room = room

    def add(self, piece: str) -> None:
        if len(piece) > self._room:
            self._pieces.append(piece[: self._room])
            raise _Full
        self._room -= len(piece)
        self._pieces.append(piece)

    @property
    def room(self) -> int:
        return self._room

    def whole(self) -> str:
        return "".join(self._pieces)


def of(value: Any, characters: int = _cut.TEXT) -> str:
    """What `repr` answers, as far as it is shown."""
    text = _Text(characters)
    try:
        _add(text, value, 0, [])
    except _Full:
        return f"{text.whole()}…"
    return text.whole()


def _add(text: _Text, value: Any, depth: int, above: list[int]) -> None:
    kind = _kinds.of(value)
    if kind is str or kind is bytes:
        # A character is at least one of the text.
        text.add(repr(value if len(value) <= text.room else value[: text.room + 1]))
    elif kind in (list, tuple, set, frozenset, dict) and depth < MAXIMUM_DEPTH and len(value) > 0:
        if id(value) in above:
            text.add("...")
            return
        _add_items(text, value, depth, [*above, id(value)])
    else:
        text.add(repr(value))


def _add_items(text: _Text, value: Any, depth: int, above: list[int]) -> None:
    kind = _kinds.of(value)
    brackets: dict[type[object], tuple[str, str]] = {
        list: ("[", "]"),
        tuple: ("(", ",)" if len(value) == 1 else ")"),
        set: ("{", "}"),
        frozenset: ("frozenset({", "})"),
        dict: ("{", "}"),
    }
    opening, closing = brackets[kind]
    text.add(opening)
    items: Iterable[Any] = value.items() if kind is dict else value
    for index, part in enumerate(items):
        if index > 0:
            text.add(", ")
        if index == MAXIMUM_ITEMS:
            text.add(f"… {len(value) - index} more")
            break
        if kind is dict:
            _add(text, part[0], depth + 1, above)
            text.add(": ")
            _add(text, part[1], depth + 1, above)
        else:
            _add(text, part, depth + 1, above)
    text.add(closing)
