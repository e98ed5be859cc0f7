"""Dataframes of pandas as Arrow columns and back, without a step of Python for each number.

What becomes what, on the way in:

- integers stay integers; with nulls they become doubles, or `Int64` where a double would not keep a digit
- decimals become doubles where those keep every digit (15 of them at most), and `decimal.Decimal` otherwise
- dates and timestamps become `datetime64[ns]`, or Python's own where they lie outside of the years 1678 to 2261
- dictionaries become categories; lists and records stay Python's own
"""

from typing import Any

import numpy
import pandas

from . import _arrow_python, _arrow_read, _kinds
from . import _arrow_schema as schema
from ._arrow_read import Chunk, Column
from ._arrow_schema import Field, Type
from ._arrow_write import Written

_Array = numpy.ndarray | pandas.Categorical | pandas.arrays.IntegerArray

_exact_digits = 15
_exact_integer = 1 << 53


# In


def frame(columns: list[Column]) -> pandas.DataFrame:
    """The dataframe of a stream's columns."""
    rows = columns[0].length if columns else 0
    made = {position: _series(column) for position, column in enumerate(columns)}
    found = pandas.DataFrame(made, index=pandas.RangeIndex(rows), copy=False)
    found.columns = pandas.Index([column.field.name for column in columns], dtype=object)
    return found


def _series(column: Column) -> _Array | pandas.Series:
    parts = [_array(chunk) for chunk in column.chunks]
    if not parts:
        return _array(Chunk(column.field, 0, 0))
    if len(parts) == 1:
        return parts[0]
    return pandas.concat([pandas.Series(part) for part in parts], ignore_index=True)


def _missing(chunk: Chunk) -> numpy.ndarray | None:
    """Which values are nulls; nothing where none is."""
    if chunk.nulls == 0 or len(chunk.validity) == 0:
        return None
    return ~_flags(chunk.validity, chunk.length)


def _flags(bits: memoryview, count: int) -> numpy.ndarray:
    """Bits, the lowest first, as a flag each."""
    return numpy.unpackbits(numpy.frombuffer(bits, dtype=numpy.uint8), count=count, bitorder="little").astype(bool)


def _numbers(chunk: Chunk, type: Type) -> numpy.ndarray:
    form = _arrow_read.number_format(type)
    # A copy: a dataframe is written to, and what it was read from is not kept for it.
    return numpy.frombuffer(chunk.data, dtype=f"<{form}", count=chunk.length).copy()


def _array(chunk: Chunk) -> _Array | pandas.Series:
    told = chunk.field
    missing = _missing(chunk)
    if chunk.dictionary is not None and told.index is not None:
        words = [word for part in chunk.dictionary for word in _arrow_read.values(Column(part.field, [part]))]
        codes = _numbers(chunk, told.index).astype(numpy.int64)
        if missing is not None:
            codes[missing] = -1
        return pandas.Categorical.from_codes(codes, categories=pandas.Index(words), ordered=False)
    kind = told.type.kind
    if kind == schema.INT:
        values = _numbers(chunk, told.type)
        if missing is None:
            return values
        values[missing] = 0
        if len(values) == 0 or max(abs(int(values.max())), abs(int(values.min()))) <= _exact_integer:
            floats = values.astype(numpy.float64)
            floats[missing] = numpy.nan
            return floats
        return pandas.arrays.IntegerArray(values, missing)
    if kind == schema.FLOAT:
        floats = _numbers(chunk, told.type)
        if missing is not None:
            floats[missing] = numpy.nan
        return floats
    if kind == schema.BOOL:
        flags = _flags(chunk.data, chunk.length)
        return flags if missing is None else _with_nulls(flags.astype(object), missing)
    if kind in (schema.UTF8, schema.LARGE_UTF8):
        return _with_nulls(_objects(_arrow_read.texts(chunk)), missing)
    if kind == schema.DECIMAL:
        return _decimals(chunk, missing)
    if kind in (schema.DATE, schema.TIMESTAMP):
        return _times(chunk, missing)
    return _objects(_arrow_read.values(Column(told, [chunk])))


def _objects(values: list[Any]) -> numpy.ndarray:
    found = numpy.empty(len(values), dtype=object)
    found[:] = values
    return found


def _with_nulls(values: numpy.ndarray, missing: numpy.ndarray | None) -> numpy.ndarray:
    if missing is not None:
        values[missing] = None
    return values


def _decimals(chunk: Chunk, missing: numpy.ndarray | None) -> numpy.ndarray:
    type = chunk.field.type
    if type.width == 128:
        halves = numpy.frombuffer(chunk.data, dtype="<i8", count=2 * chunk.length).reshape(-1, 2)
        low, high = halves[:, 0], halves[:, 1]
        # The upper half says no more than the sign: the lower one is the number.
        small = numpy.array_equal(high, low >> 63)
        if small and (len(low) == 0 or max(abs(int(low.max())), abs(int(low.min()))) < 10**_exact_digits):
            # Both numbers are exact, so their quotient is the double nearest to the decimal.
            floats = low / 10.0**type.scale if type.scale <= 22 else None
            if floats is not None:
                if missing is not None:
                    floats[missing] = numpy.nan
                return floats
    return _objects(_arrow_read.values(Column(chunk.field, [chunk])))


_day_nanoseconds = 86_400 * 10**9
_limit = 2**63 - 2


def _times(chunk: Chunk, missing: numpy.ndarray | None) -> numpy.ndarray | pandas.Series:
    type = chunk.field.type
    if type.kind == schema.DATE:
        form, each = ("<i8", 10**6) if type.unit == 1 else ("<i4", _day_nanoseconds)
    else:
        form, each = "<i8", (10**9, 10**6, 10**3, 1)[type.unit]
    ticks = numpy.frombuffer(chunk.data, dtype=form, count=chunk.length).astype(numpy.int64)
    if missing is not None:
        ticks[missing] = 0
    if len(ticks) > 0 and max(abs(int(ticks.max())), abs(int(ticks.min()))) > _limit // each:
        # Further away than nanoseconds of 64 bits reach.
        return _objects(_arrow_read.values(Column(chunk.field, [chunk])))
    found = (ticks * each).view("datetime64[ns]")
    if missing is not None:
        found[missing] = numpy.datetime64("NaT")
    if type.zone is None:
        return found
    return pandas.Series(found).dt.tz_localize("UTC")


# Out


def columns(found: pandas.DataFrame) -> list[Written]:
    """The columns of a dataframe, its index among them where that is more than a count of rows."""
    if not isinstance(found.index, pandas.RangeIndex):
        found = _with_index(found)
    written: list[Written] = []
    taken: set[str] = set()
    for position, label in enumerate(found.columns):
        name = _name(label, taken)
        taken.add(name)
        written.append(_column(name, found.iloc[:, position], len(written)))
    return written


def _with_index(found: pandas.DataFrame) -> pandas.DataFrame:
    names = [
        name if name is not None else ("index" if found.index.nlevels == 1 else f"level_{level}")
        for level, name in enumerate(found.index.names)
    ]
    return found.set_axis(found.index.set_names(names), axis=0).reset_index(allow_duplicates=True)


def _name(label: Any, taken: set[str]) -> str:
    name = "_".join(str(part) for part in label) if _kinds.is_tuple(label) else str(label)
    free, number = name, 0
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _validity(missing: numpy.ndarray) -> tuple[int, bytes]:
    nulls = int(missing.sum())
    return nulls, numpy.packbits(~missing, bitorder="little").tobytes() if nulls else b""


def _written(name: str, type: Type, values: numpy.ndarray, missing: numpy.ndarray) -> Written:
    nulls, validity = _validity(missing)
    # Memory without a byte cannot be seen as bytes.
    data = memoryview(numpy.ascontiguousarray(values)).cast("B") if len(missing) > 0 else b""
    return Written(Field(name, type), len(missing), nulls, validity, [data])


def _column(name: str, series: pandas.Series, id: int) -> Written:
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    kind = series.dtype
    missing = series.isna().to_numpy(dtype=bool)
    if isinstance(kind, pandas.CategoricalDtype):
        return _category(name, series, missing, id)
    if isinstance(kind, pandas.DatetimeTZDtype):
        naive = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return _written(name, Type(schema.TIMESTAMP, unit=3, zone="UTC"), _nanoseconds(naive, missing), missing)
    letter = kind.kind
    if letter == "b":
        flags = series.to_numpy(dtype=bool, na_value=False) if missing.any() else series.to_numpy(dtype=bool)
        nulls, validity = _validity(missing)
        data = numpy.packbits(flags, bitorder="little").tobytes()
        return Written(Field(name, Type(schema.BOOL)), len(series), nulls, validity, [data])
    if letter in "iu":
        plain = f"<{letter}{kind.itemsize}"
        values = series.to_numpy(dtype=plain, na_value=0) if missing.any() else series.to_numpy(dtype=plain)
        return _written(name, Type(schema.INT, kind.itemsize * 8, letter == "i"), values, missing)
    if letter == "f":
        size = 8 if kind.itemsize > 4 else 4
        values = series.to_numpy(dtype=f"<f{size}", na_value=numpy.nan)
        return _written(name, Type(schema.FLOAT, 2 if size == 8 else 1), values, missing)
    if letter == "M":
        return _written(name, Type(schema.TIMESTAMP, unit=3), _nanoseconds(series, missing), missing)
    return _object(name, series, missing)


def _nanoseconds(series: pandas.Series, missing: numpy.ndarray) -> numpy.ndarray:
    ticks = series.to_numpy(dtype="datetime64[ns]").view(numpy.int64)
    if missing.any():
        ticks = ticks.copy()
        ticks[missing] = 0
    return ticks


def _category(name: str, series: pandas.Series, missing: numpy.ndarray, id: int) -> Written:
    words = _arrow_python.typed(
        name,
        [_arrow_python.as_text(word) for word in series.cat.categories],
        [True] * len(series.cat.categories),
    )
    codes = series.cat.codes.to_numpy(dtype="<i4").copy()
    codes[missing] = 0
    written = _written(name, Type(schema.INT, 32), codes, missing)
    written.field = Field(name, words.field.type, dictionary=id, index=Type(schema.INT, 32))
    written.dictionary = words
    return written


def _object(name: str, series: pandas.Series, missing: numpy.ndarray) -> Written:
    inferred = pandas.api.types.infer_dtype(series, skipna=True)
    values = series.to_numpy(dtype=object).tolist() if inferred != "timedelta" else series.astype(str).tolist()
    if inferred == "string":
        return _texts(name, values, missing)
    if inferred in ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "date", "datetime", "bytes"):
        plain = [_plain(value) for value in values]
        return _arrow_python.typed(name, plain, (~missing).tolist())
    return _texts(name, [_arrow_python.as_text(value) for value in values], missing)


def _plain(value: Any) -> Any:
    """A number or a time as Python has it, of one that numpy or pandas has."""
    if isinstance(value, pandas.Timestamp):
        return value.to_pydatetime(warn=False)
    return value.item() if isinstance(value, numpy.generic) else value


def _texts(name: str, values: list[Any], missing: numpy.ndarray) -> Written:
    nulls, validity = _validity(missing)
    if nulls:
        values = ["" if gone else value for value, gone in zip(values, missing.tolist())]
    whole = "".join(values)
    if whole.isascii():
        data = whole.encode("ascii")
        sizes = numpy.fromiter(map(len, values), dtype=numpy.int64, count=len(values))
    else:
        parts = [value.encode("utf-8", "replace") for value in values]
        data = b"".join(parts)
        sizes = numpy.fromiter(map(len, parts), dtype=numpy.int64, count=len(parts))
    if len(data) >= 1 << 31:
        raise ValueError("a column has more than 2 GiB of text")
    ends = numpy.zeros(len(values) + 1, dtype="<i4")
    numpy.cumsum(sizes, out=ends[1:])
    return Written(Field(name, Type(schema.UTF8)), len(values), nulls, validity, [ends.tobytes(), data])
