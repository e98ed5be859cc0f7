"""Reads an Arrow IPC stream: its columns as they lie in their buffers, without a copy, and as lists of values."""

import dataclasses
import datetime
import decimal
import itertools
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _arrow_schema as schema
from . import _flatbuffer as flatbuffer
from ._arrow_schema import Field, Type

Buffer = memoryview

_nothing = memoryview(b"")


@dataclass
class Chunk:
    """The part of a column that one batch has."""

    field: Field
    length: int
    nulls: int
    validity: Buffer = _nothing
    offsets: Buffer = _nothing
    data: Buffer = _nothing
    children: "list[Chunk]" = dataclasses.field(default_factory=list["Chunk"])
    dictionary: "list[Chunk] | None" = None

    def present(self) -> list[bool] | None:
        """Which values are there; nothing where all are."""
        if self.nulls == 0 or len(self.validity) == 0:
            return None
        bits = self.validity
        return [bits[index >> 3] >> (index & 7) & 1 == 1 for index in range(self.length)]


@dataclass
class Column:
    """A column."""

    field: Field
    chunks: list[Chunk]

    @property
    def length(self) -> int:
        return sum(chunk.length for chunk in self.chunks)


class _Batch:
    """Takes the nodes and buffers of a batch in their order."""

    def __init__(self, told: flatbuffer.Table, body: Buffer, dictionaries: dict[int, list[Chunk]]) -> None:
        if told.table(3) is not None:
            raise ValueError("the stream is compressed, which is not supported")
        self._nodes = list(told.pairs(1))[::-1]
        self._buffers = list(told.pairs(2))[::-1]
        self._body = body
        self._dictionaries = dictionaries

    def _buffer(self) -> Buffer:
        offset, length = self._buffers.pop()
        if offset < 0 or length < 0 or offset + length > len(self._body):
            raise ValueError("a buffer lies outside of its message")
        return self._body[offset : offset + length]

    def take(self, told: Field) -> Chunk:
        length, nulls = self._nodes.pop()
        chunk = Chunk(told, length, nulls)
        kind = schema.INT if told.dictionary is not None else told.type.kind
        if kind == schema.NULL:
            chunk.nulls = length
            return chunk
        chunk.validity = self._buffer()
        if kind in (schema.BINARY, schema.UTF8, schema.LARGE_BINARY, schema.LARGE_UTF8):
            chunk.offsets = self._buffer()
            chunk.data = self._buffer()
        elif kind in (schema.LIST, schema.LARGE_LIST, schema.MAP):
            chunk.offsets = self._buffer()
        elif kind not in (schema.STRUCT, schema.FIXED_SIZE_LIST):
            chunk.data = self._buffer()
        if told.dictionary is None:
            chunk.children = [self.take(child) for child in told.children]
        else:
            chunk.dictionary = self._dictionaries.get(told.dictionary, [])
        return chunk


def _dictionary_fields(fields: list[Field], found: dict[int, Field]) -> dict[int, Field]:
    for told in fields:
        if told.dictionary is not None:
            found[told.dictionary] = Field(told.name, told.type, told.children)
        _dictionary_fields(told.children, found)
    return found


def read(stream: bytes | memoryview) -> list[Column]:
    """The columns of a stream. Raises `ValueError` where it is none, or has what is not supported."""
    try:
        return _read(memoryview(stream))
    except (struct.error, IndexError, RecursionError) as error:
        raise ValueError("the bytes are no Arrow stream") from error


def _read(stream: Buffer) -> list[Column]:
    at = 0
    columns: list[Column] | None = None
    fields: list[Field] = []
    dictionary_fields: dict[int, Field] = {}
    dictionaries: dict[int, list[Chunk]] = {}
    while at + 8 <= len(stream):
        marker, size = struct.unpack_from("<Ii", stream, at)
        if marker != 0xFFFFFFFF or size < 0:
            raise ValueError("the bytes are no Arrow stream")
        if size == 0:
            break
        at += 8
        message = flatbuffer.root(bytes(stream[at : at + size]))
        at += size
        length = message.scalar(3, "q", 0)
        if length < 0 or at + length > len(stream):
            raise ValueError("the stream ends too early")
        body = stream[at : at + length]
        at += length
        header = message.table(2)
        kind = message.scalar(1, "B", 0)
        if header is None:
            raise ValueError("a message without a header")
        if kind == schema.SCHEMA_MESSAGE:
            fields = schema.read_fields(header)
            columns = [Column(told, []) for told in fields]
            dictionary_fields = _dictionary_fields(fields, {})
        elif kind == schema.DICTIONARY_MESSAGE:
            batch, id = header.table(1), header.scalar(0, "q", 0)
            if batch is None or id not in dictionary_fields:
                raise ValueError("a dictionary of no column")
            chunk = _Batch(batch, body, dictionaries).take(dictionary_fields[id])
            delta = header.scalar(2, "B", 0) != 0
            dictionaries[id] = [*dictionaries.get(id, []), chunk] if delta else [chunk]
        elif kind == schema.RECORD_MESSAGE:
            if columns is None:
                raise ValueError("a batch before the columns are known")
            record = _Batch(header, body, dictionaries)
            for column in columns:
                column.chunks.append(record.take(column.field))
    if columns is None:
        raise ValueError("the bytes are no Arrow stream")
    return columns


# Values


def values(column: Column) -> list[Any]:
    """The values of a column as Python has them; nulls are `None`."""
    found: list[Any] = []
    for chunk in column.chunks:
        found += _chunk_values(chunk)
    return found


def _chunk_values(chunk: Chunk) -> list[Any]:
    plain = _plain(chunk)
    present = chunk.present()
    if present is None:
        return plain
    return [value if here else None for value, here in zip(plain, present)]


def _plain(chunk: Chunk) -> list[Any]:
    """The values without regard to which are there."""
    told = chunk.field
    if chunk.dictionary is not None and told.index is not None:
        words = [word for part in chunk.dictionary for word in _chunk_values(part)]
        return [words[code] if 0 <= code < len(words) else None for code in numbers(chunk, told.index)]
    kind = told.type.kind
    if kind == schema.NULL:
        return [None] * chunk.length
    if kind in (schema.INT, schema.FLOAT):
        return numbers(chunk, told.type)
    if kind == schema.BOOL:
        bits = chunk.data
        return [bits[index >> 3] >> (index & 7) & 1 == 1 for index in range(chunk.length)]
    if kind in (schema.UTF8, schema.LARGE_UTF8):
        return texts(chunk)
    if kind in (schema.BINARY, schema.LARGE_BINARY):
        ends = offsets(chunk)
        return [bytes(chunk.data[ends[index] : ends[index + 1]]) for index in range(chunk.length)]
    if kind == schema.FIXED_SIZE_BINARY:
        width = told.type.width
        return [bytes(chunk.data[index * width : (index + 1) * width]) for index in range(chunk.length)]
    if kind == schema.DECIMAL:
        return _decimals(chunk)
    if kind in (schema.DATE, schema.TIME, schema.TIMESTAMP, schema.DURATION):
        return _times(chunk)
    return _nested(chunk)


_formats = {
    (schema.INT, 8, True): "b",
    (schema.INT, 8, False): "B",
    (schema.INT, 16, True): "h",
    (schema.INT, 16, False): "H",
    (schema.INT, 32, True): "i",
    (schema.INT, 32, False): "I",
    (schema.INT, 64, True): "q",
    (schema.INT, 64, False): "Q",
    (schema.FLOAT, 0, True): "e",
    (schema.FLOAT, 1, True): "f",
    (schema.FLOAT, 2, True): "d",
}


def number_format(type: Type) -> str:
    """The letter that `struct`, `array` and numpy have for a type of numbers."""
    form = _formats.get((type.kind, type.width, type.signed or type.kind == schema.FLOAT))
    if form is None:
        raise ValueError("a column has numbers of an unknown width")
    return form


def numbers(chunk: Chunk, type: Type) -> list[Any]:
    """Numbers of a type, as they lie in the data."""
    return list(struct.unpack_from(f"<{chunk.length}{number_format(type)}", chunk.data))


def offsets(chunk: Chunk) -> tuple[int, ...]:
    """Where each value of variable length begins, and the last one ends."""
    large = chunk.field.type.kind in (schema.LARGE_UTF8, schema.LARGE_BINARY, schema.LARGE_LIST)
    if chunk.length == 0:
        return (0,)
    return struct.unpack_from(f"<{chunk.length + 1}{'q' if large else 'i'}", chunk.offsets)


def texts(chunk: Chunk) -> list[str]:
    """Texts; decoded at once where that is allowed, which is many times faster."""
    ends = offsets(chunk)
    data = bytes(chunk.data[ends[0] : ends[-1]])
    base = ends[0]
    if data.isascii():
        whole = data.decode("ascii")
        if base == 0:
            return [whole[begin:end] for begin, end in itertools.pairwise(ends)]
        return [whole[begin - base : end - base] for begin, end in itertools.pairwise(ends)]
    return [data[begin - base : end - base].decode("utf-8", "replace") for begin, end in itertools.pairwise(ends)]


def scaled(chunk: Chunk) -> list[int]:
    """The digits of decimals, as whole numbers."""
    width = chunk.field.type.width // 8
    data = chunk.data
    return [
        int.from_bytes(data[at : at + width], "little", signed=True) for at in range(0, chunk.length * width, width)
    ]


def _decimals(chunk: Chunk) -> list[decimal.Decimal]:
    exact = decimal.Context(prec=80)
    scale = -chunk.field.type.scale
    return [decimal.Decimal(value).scaleb(scale, context=exact) for value in scaled(chunk)]


_second = (1, 1_000, 1_000_000, 1_000_000_000)
_epoch = datetime.datetime(1970, 1, 1)
_day = datetime.date(1970, 1, 1)


def _guarded(make: Callable[[int], Any], value: int) -> Any:
    try:
        return make(value)
    except (OverflowError, ValueError):
        # Python's own dates end in the year 9999.
        return None


def _times(chunk: Chunk) -> list[Any]:
    type = chunk.field.type
    long = type.kind in (schema.TIMESTAMP, schema.DURATION) or type.width == 64
    if type.kind == schema.DATE:
        long = type.unit == 1
    raw = struct.unpack_from(f"<{chunk.length}{'q' if long else 'i'}", chunk.data)
    if type.kind == schema.DATE:
        per_day = 86_400_000 if type.unit == 1 else 1
        return [_guarded(lambda days: _day + datetime.timedelta(days=days // per_day), value) for value in raw]
    unit = _second[type.unit]
    if type.kind == schema.DURATION:
        return [_guarded(lambda ticks: _microseconds(ticks, unit), value) for value in raw]
    if type.kind == schema.TIME:
        return [_guarded(lambda ticks: (_epoch + _microseconds(ticks, unit)).time(), value) for value in raw]
    zone = None if type.zone is None else datetime.UTC
    return [_guarded(lambda ticks: (_epoch + _microseconds(ticks, unit)).replace(tzinfo=zone), value) for value in raw]


def _microseconds(ticks: int, unit: int) -> datetime.timedelta:
    return datetime.timedelta(microseconds=ticks * 1_000_000 // unit)


def _nested(chunk: Chunk) -> list[Any]:
    kind = chunk.field.type.kind
    if kind == schema.STRUCT:
        names = [child.field.name for child in chunk.children]
        parts = [_chunk_values(child) for child in chunk.children]
        return [dict(zip(names, row)) for row in zip(*parts)] if parts else [{} for _ in range(chunk.length)]
    if kind not in (schema.LIST, schema.LARGE_LIST, schema.MAP, schema.FIXED_SIZE_LIST) or len(chunk.children) != 1:
        raise ValueError("a column has a type that is not supported")
    items = _chunk_values(chunk.children[0])
    if kind == schema.FIXED_SIZE_LIST:
        size = chunk.field.type.width
        return [items[index * size : (index + 1) * size] for index in range(chunk.length)]
    ends = offsets(chunk)
    rows = [items[ends[index] : ends[index + 1]] for index in range(chunk.length)]
    if kind == schema.MAP:
        return [{str(entry.get("key")): entry.get("value") for entry in row if entry} for row in rows]
    return rows
