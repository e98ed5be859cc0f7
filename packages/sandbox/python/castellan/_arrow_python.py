"""Lists of Python's own values as Arrow columns: for tables without numpy, and for columns of mixed objects."""

import datetime
import decimal
import json
import math
import struct
from typing import Any

from . import _arrow_schema as schema
from . import _kinds
from ._arrow_schema import Field, Type
from ._arrow_write import Written, bits

_epoch = datetime.datetime(1970, 1, 1)
_aware = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_day = datetime.date(1970, 1, 1).toordinal()
_microsecond = datetime.timedelta(microseconds=1)
_digits = 38


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: `None`, not-a-number, and what pandas has for them."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return type(value).__name__ in ("NAType", "NaTType")


def as_text(value: Any) -> str:
    """A value as text: lists and records as JSON, anything else as Python writes it."""
    if isinstance(value, str):
        return value
    if _kinds.is_structure(value):
        try:
            return json.dumps(value, default=str, ensure_ascii=False)
        except (ValueError, RecursionError, TypeError):
            # A structure that contains itself, or keys that JSON does not have.
            return str(value)
    return str(value)


def column(name: str, values: list[Any]) -> Written:
    """The column of a list; `None` and not-a-number are nulls. What has no type of its own in Arrow is text."""
    present = [not is_missing(value) for value in values]
    return typed(name, values, present)


def typed(name: str, values: list[Any], present: list[bool]) -> Written:
    """The column of a list, of which only some values are there."""
    kinds: set[type[Any]] = {type(value) for value, here in zip(values, present) if here}
    type_, buffers = _encode(kinds, values, present)
    nulls = present.count(False)
    return Written(Field(name, type_), len(values), nulls, bits(present) if nulls else b"", buffers)


def _encode(kinds: set[type[Any]], values: list[Any], present: list[bool]) -> tuple[Type, list[Any]]:
    count = len(values)
    if kinds == {bool}:
        return Type(schema.BOOL), [bits([here and value for value, here in zip(values, present)])]
    if kinds == {int}:
        whole = [value if here else 0 for value, here in zip(values, present)]
        if all(-(1 << 63) <= value < 1 << 63 for value in whole):
            return Type(schema.INT, 64), [struct.pack(f"<{count}q", *whole)]
    if kinds and kinds <= {int, float} and float in kinds:
        floats = [float(value) if here else math.nan for value, here in zip(values, present)]
        return Type(schema.FLOAT, 2), [struct.pack(f"<{count}d", *floats)]
    if kinds == {decimal.Decimal}:
        encoded = _decimals(values, present)
        if encoded is not None:
            return encoded
    if kinds == {datetime.date}:
        days = [value.toordinal() - _day if here else 0 for value, here in zip(values, present)]
        return Type(schema.DATE), [struct.pack(f"<{count}i", *days)]
    if kinds == {datetime.datetime}:
        encoded = _timestamps(values, present)
        if encoded is not None:
            return encoded
    if kinds <= {bytes, bytearray} and kinds:
        return Type(schema.BINARY), _variable([bytes(value) if here else b"" for value, here in zip(values, present)])
    texts = [as_text(value) if here else "" for value, here in zip(values, present)]
    return Type(schema.UTF8), _variable([text.encode("utf-8", "replace") for text in texts])


def _variable(parts: list[bytes]) -> list[Any]:
    ends = [0]
    at = 0
    for part in parts:
        at += len(part)
        ends.append(at)
    if at >= 1 << 31:
        raise ValueError("a column has more than 2 GiB of text")
    return [struct.pack(f"<{len(ends)}i", *ends), b"".join(parts)]


def _decimals(values: list[Any], present: list[bool]) -> tuple[Type, list[Any]] | None:
    found = [value for value, here in zip(values, present) if here]
    if not all(value.is_finite() for value in found):
        return None
    scale = max((max(0, -int(value.as_tuple().exponent)) for value in found), default=0)
    precise = decimal.Context(prec=200)
    whole = [int(value.scaleb(scale, context=precise)) if here else 0 for value, here in zip(values, present)]
    precision = max(max((len(str(abs(value))) for value in whole), default=1), scale, 1)
    if precision > _digits:
        return None
    data = b"".join(value.to_bytes(16, "little", signed=True) for value in whole)
    return Type(schema.DECIMAL, width=128, precision=precision, scale=scale), [data]


def _timestamps(values: list[Any], present: list[bool]) -> tuple[Type, list[Any]] | None:
    zoned = {value.tzinfo is not None for value, here in zip(values, present) if here}
    if len(zoned) > 1:
        return None
    aware = zoned == {True}
    start = _aware if aware else _epoch
    ticks = [(value - start) // _microsecond if here else 0 for value, here in zip(values, present)]
    return Type(schema.TIMESTAMP, unit=2, zone="UTC" if aware else None), [struct.pack(f"<{len(ticks)}q", *ticks)]
