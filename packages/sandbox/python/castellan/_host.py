"""The way from a program to its host. Whoever runs programs puts a host here before the first one runs."""

from typing import Protocol


class QueryFailed(Exception):
    """The host could not answer a statement of SQL; the message says why."""


class Host(Protocol):
    """What a program can ask for."""

    def display(self, forms: list[tuple[str, bytes]]) -> None:
        """Shows a value in several forms (media type and content), the richest first."""

    def query(self, statement: str, tables: list[tuple[str, list[bytes | bytearray | memoryview]]]) -> bytes:
        """Runs SQL over tables (name and Arrow IPC stream, in pieces) and answers one Arrow IPC stream.

        Raises `QueryFailed`.
        """
        ...


current: Host | None = None
"""The host of this session; none in a fresh process."""
