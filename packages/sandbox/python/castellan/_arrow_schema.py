"""Types and fields of Arrow, and the messages of its IPC stream that carry them.

Source: https://arrow.apache.org/docs/format/Columnar.html; Schema.fbs and Message.fbs of the Arrow format.
"""

import struct
from dataclasses import dataclass, field

from . import _flatbuffer as flatbuffer

NULL, INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
LIST, STRUCT, FIXED_SIZE_BINARY, FIXED_SIZE_LIST, MAP, DURATION = 12, 13, 15, 16, 17, 18
LARGE_BINARY, LARGE_UTF8, LARGE_LIST = 19, 20, 21

SCHEMA_MESSAGE, DICTIONARY_MESSAGE, RECORD_MESSAGE = 1, 2, 3

_V5 = 4


@dataclass
class Type:
    """A type. What a number means depends on the kind, as `Schema.fbs` has it."""

    kind: int
    width: int = 0
    """Bits of an integer, a decimal or a time; bytes or items of what has a fixed size; 0, 1, 2 of a float."""
    signed: bool = True
    scale: int = 0
    precision: int = 0
    unit: int = 0
    """0 to 3: seconds to nanoseconds; of a date 0: days, 1: milliseconds."""
    zone: str | None = None


@dataclass
class Field:
    """A column or a part of one."""

    name: str
    type: Type
    children: "list[Field]" = field(default_factory=list["Field"])
    dictionary: int | None = None
    """The id of the dictionary that the values are in."""
    index: Type | None = None
    """The type of what points into the dictionary."""


def _read_type(kind: int, told: flatbuffer.Table | None) -> Type:
    if told is None:
        return Type(kind)
    scalar = told.scalar
    if kind == INT:
        return Type(kind, width=scalar(0, "i", 0), signed=bool(scalar(1, "B", 0)))
    if kind == FLOAT:
        return Type(kind, width=scalar(0, "h", 0))
    if kind == DECIMAL:
        return Type(kind, precision=scalar(0, "i", 0), scale=scalar(1, "i", 0), width=scalar(2, "i", 128))
    if kind == DATE:
        return Type(kind, unit=scalar(0, "h", 1))
    if kind == TIME:
        return Type(kind, unit=scalar(0, "h", 1), width=scalar(1, "i", 32))
    if kind == TIMESTAMP:
        return Type(kind, unit=scalar(0, "h", 0), zone=told.text(1))
    if kind == DURATION:
        return Type(kind, unit=scalar(0, "h", 1))
    if kind in (FIXED_SIZE_BINARY, FIXED_SIZE_LIST):
        return Type(kind, width=scalar(0, "i", 0))
    return Type(kind)


def _read_field(told: flatbuffer.Table) -> Field:
    encoding = told.table(4)
    index = None if encoding is None else encoding.table(1)
    return Field(
        name=told.text(0) or "",
        type=_read_type(told.scalar(2, "B", 0), told.table(3)),
        children=[_read_field(child) for child in told.tables(5)],
        dictionary=None if encoding is None else encoding.scalar(0, "q", 0),
        index=None if encoding is None else Type(INT, 32) if index is None else _read_type(INT, index),
    )


def read_fields(schema: flatbuffer.Table) -> list[Field]:
    """The columns that a schema message tells."""
    if schema.scalar(0, "h", 0) != 0:
        raise ValueError("the stream has its bytes in an order that is not supported")
    return [_read_field(told) for told in schema.tables(1)]


def _type_fields(type: Type) -> list[flatbuffer.Field]:
    if type.kind == INT:
        return [(0, "i", type.width), (1, "B", int(type.signed))]
    if type.kind == FLOAT:
        return [(0, "h", type.width)]
    if type.kind == DECIMAL:
        return [(0, "i", type.precision), (1, "i", type.scale), (2, "i", type.width)]
    if type.kind == DATE:
        return [(0, "h", type.unit)]
    if type.kind == TIMESTAMP:
        zone: list[flatbuffer.Field] = [] if type.zone is None else [(1, "o", flatbuffer.text(type.zone))]
        return [(0, "h", type.unit), *zone]
    return []


def _field(told: Field) -> flatbuffer.Write:
    fields: list[flatbuffer.Field] = [
        (0, "o", flatbuffer.text(told.name)),
        (1, "B", 1),
        (2, "B", told.type.kind),
        (3, "o", flatbuffer.table(_type_fields(told.type))),
        (5, "o", flatbuffer.tables([])),
    ]
    if told.dictionary is not None and told.index is not None:
        encoding: list[flatbuffer.Field] = [
            (0, "q", told.dictionary),
            (1, "o", flatbuffer.table(_type_fields(told.index))),
        ]
        fields.append((4, "o", flatbuffer.table(encoding)))
    return flatbuffer.table(fields)


def _message(kind: int, header: flatbuffer.Write, body: int) -> bytes:
    fields: list[flatbuffer.Field] = [(0, "h", _V5), (1, "B", kind), (2, "o", header), (3, "q", body)]
    data = flatbuffer.Writer().finish(flatbuffer.table(fields))
    data += bytes(-len(data) % 8)
    return struct.pack("<Ii", 0xFFFFFFFF, len(data)) + data


def schema_message(fields: list[Field]) -> bytes:
    """The first message of a stream."""
    told = flatbuffer.tables([_field(one) for one in fields])
    return _message(SCHEMA_MESSAGE, flatbuffer.table([(1, "o", told)]), 0)


def record_message(
    length: int, nodes: list[tuple[int, int]], buffers: list[tuple[int, int]], body: int, dictionary: int | None = None
) -> bytes:
    """The message before the body of a batch, or of a dictionary. A node is a length and a number of nulls, a buffer an
    offset and a length."""
    batch = flatbuffer.table([(0, "q", length), (1, "o", flatbuffer.pairs(nodes)), (2, "o", flatbuffer.pairs(buffers))])
    if dictionary is None:
        return _message(RECORD_MESSAGE, batch, body)
    return _message(DICTIONARY_MESSAGE, flatbuffer.table([(0, "q", dictionary), (1, "o", batch)]), body)


END = struct.pack("<Ii", 0xFFFFFFFF, 0)
"""The last bytes of a stream."""
