"""The dataframes among a program's variables."""

import ast
from typing import Any, Iterator, NamedTuple


class Told(NamedTuple):
    """Dataframes as they are told to the host."""

    all: list[dict[str, Any]]
    changed: list[str]


class Dataframes:
    """Remembers which there were."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables

    def touch(self, tree: ast.Module) -> None:
        """Notes what a program writes to in place."""

    def look(self) -> Told:
        return Told([], [])

    def bind(self, name: str, stream: bytes) -> dict[str, Any]:
        raise ValueError("not yet")

    def export(self, name: str) -> Iterator[bytes]:
        raise KeyError(name)
