"""Writes an Arrow IPC stream of columns that are buffers already."""

from collections.abc import Iterator
from dataclasses import dataclass

from . import _arrow_schema as schema
from ._arrow_schema import Field

Bytes = bytes | bytearray | memoryview


@dataclass
class Written:
    """A column: its buffers after the validity, in the order of its type."""

    field: Field
    length: int
    nulls: int
    validity: Bytes
    """A bit for each value, the lowest first; empty where all values are there."""
    buffers: list[Bytes]
    dictionary: "Written | None" = None
    """The values that a column of a dictionary points into."""


def bits(flags: list[bool]) -> bytes:
    """A bit for each flag, the lowest first."""
    found = bytearray((len(flags) + 7) // 8)
    for index, flag in enumerate(flags):
        if flag:
            found[index >> 3] |= 1 << (index & 7)
    return bytes(found)


def _batch(columns: list[Written], length: int, dictionary: int | None = None) -> Iterator[Bytes]:
    nodes = [(column.length, column.nulls) for column in columns]
    buffers: list[tuple[int, int]] = []
    pieces: list[Bytes] = []
    at = 0
    for column in columns:
        for buffer in (column.validity, *column.buffers):
            size = len(buffer)
            buffers.append((at, size))
            padding = -size % 8
            at += size + padding
            if size > 0:
                pieces.append(buffer)
            if padding > 0:
                pieces.append(bytes(padding))
    yield schema.record_message(length, nodes, buffers, at, dictionary)
    yield from pieces


def write(columns: list[Written]) -> Iterator[Bytes]:
    """The stream, in pieces: one batch, after the dictionaries that it needs."""
    yield schema.schema_message([column.field for column in columns])
    for column in columns:
        if column.dictionary is not None and column.field.dictionary is not None:
            yield from _batch([column.dictionary], column.dictionary.length, column.field.dictionary)
    length = columns[0].length if columns else 0
    if length > 0:
        yield from _batch(columns, length)
    yield schema.END


def packed(stream: Iterator[Bytes], size: int) -> Iterator[Bytes]:
    """A stream in pieces of a size, the last one excepted: no more copies than it takes."""
    kept = bytearray()
    for piece in stream:
        view = memoryview(piece).cast("B")
        while len(view) > 0:
            if not kept and len(view) >= size:
                yield view[:size]
                view = view[size:]
                continue
            taken = view[: size - len(kept)]
            kept += taken
            view = view[len(taken) :]
            if len(kept) == size:
                yield kept
                kept = bytearray()
    if kept:
        yield kept
