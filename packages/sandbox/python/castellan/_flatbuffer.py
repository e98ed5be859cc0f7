"""As much of FlatBuffers as the messages of Arrow need: tables are read where they lie, and written from front to back.

Source: https://flatbuffers.dev/internals, the layout of tables, vectors and strings.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any

_i32 = struct.Struct("<i")
_u32 = struct.Struct("<I")
_u16 = struct.Struct("<H")


class Table:
    """A table at its place in a buffer; fields are named by their slot."""

    __slots__ = ("_buffer", "_position", "_slots", "_virtual")

    def __init__(self, buffer: bytes, position: int) -> None:
        self._buffer = buffer
        self._position = position
        self._virtual = position - _i32.unpack_from(buffer, position)[0]
        if self._virtual < 0:
            raise ValueError("a table without its layout")
        self._slots = (_u16.unpack_from(buffer, self._virtual)[0] - 4) // 2

    def _at(self, slot: int) -> int:
        """Where a field is; 0 where it is absent."""
        if slot >= self._slots:
            return 0
        offset: int = _u16.unpack_from(self._buffer, self._virtual + 4 + 2 * slot)[0]
        return self._position + offset if offset != 0 else 0

    def scalar(self, slot: int, form: str, absent: Any) -> Any:
        """A number, in the form of `struct`."""
        at = self._at(slot)
        return struct.unpack_from(f"<{form}", self._buffer, at)[0] if at != 0 else absent

    def _follow(self, at: int) -> int:
        return at + int(_u32.unpack_from(self._buffer, at)[0])

    def table(self, slot: int) -> "Table | None":
        at = self._at(slot)
        return Table(self._buffer, self._follow(at)) if at != 0 else None

    def text(self, slot: int) -> str | None:
        at = self._at(slot)
        if at == 0:
            return None
        begin = self._follow(at)
        (size,) = _u32.unpack_from(self._buffer, begin)
        return bytes(self._buffer[begin + 4 : begin + 4 + size]).decode("utf-8", "replace")

    def tables(self, slot: int) -> "list[Table]":
        at = self._at(slot)
        if at == 0:
            return []
        begin = self._follow(at)
        (count,) = _u32.unpack_from(self._buffer, begin)
        return [Table(self._buffer, self._follow(begin + 4 + 4 * index)) for index in range(count)]

    def pairs(self, slot: int) -> Iterator[tuple[int, int]]:
        """A vector of structures that are two 64-bit integers each."""
        at = self._at(slot)
        if at == 0:
            return iter(())
        begin = self._follow(at)
        (count,) = _u32.unpack_from(self._buffer, begin)
        return struct.iter_unpack("<qq", bytes(self._buffer[begin + 4 : begin + 4 + 16 * count]))


def root(buffer: bytes) -> Table:
    """The table that a buffer is."""
    return Table(buffer, int(_u32.unpack_from(buffer, 0)[0]))


Write = Callable[["Writer"], int]
"""Writes something and answers where it begins."""

Field = tuple[int, str, Any]
"""Slot, form, value. The form is one of `struct`'s, or `o` for something that is written elsewhere (a `Write`)."""

_sizes = {"q": 8, "i": 4, "o": 4, "h": 2, "B": 1}


class Writer:
    """A buffer that grows; what refers to something precedes it."""

    def __init__(self) -> None:
        self.buffer = bytearray(4)

    def pad(self, alignment: int, to: int = 0) -> None:
        """Adds bytes until the length is `to` beyond a multiple of the alignment."""
        while len(self.buffer) % alignment != to:
            self.buffer.append(0)

    def table(self, fields: list[Field]) -> int:
        """Writes a table and what it refers to."""
        slots = max((slot for slot, _, _ in fields), default=-1) + 1
        self.pad(2)
        virtual = len(self.buffer)
        self.buffer += bytes(4 + 2 * slots)
        # What follows the first four bytes is aligned for every size then.
        self.pad(8, 4)
        begin = len(self.buffer)
        self.buffer += _i32.pack(begin - virtual)
        later: list[tuple[int, Write]] = []
        for slot, form, value in sorted(fields, key=lambda field: -_sizes[field[1]]):
            at = len(self.buffer)
            _u16.pack_into(self.buffer, virtual + 4 + 2 * slot, at - begin)
            if form == "o":
                later.append((at, value))
                self.buffer += bytes(4)
            else:
                self.buffer += struct.pack(f"<{form}", value)
        _u16.pack_into(self.buffer, virtual, 4 + 2 * slots)
        _u16.pack_into(self.buffer, virtual + 2, len(self.buffer) - begin)
        self._refer(later)
        return begin

    def _refer(self, later: list[tuple[int, Write]]) -> None:
        for at, write in later:
            _u32.pack_into(self.buffer, at, write(self) - at)

    def text(self, value: str) -> int:
        data = value.encode("utf-8", "replace")
        self.pad(4)
        begin = len(self.buffer)
        self.buffer += _u32.pack(len(data)) + data + b"\0"
        return begin

    def tables(self, writes: list[Write]) -> int:
        self.pad(4)
        begin = len(self.buffer)
        self.buffer += _u32.pack(len(writes)) + bytes(4 * len(writes))
        self._refer([(begin + 4 + 4 * index, write) for index, write in enumerate(writes)])
        return begin

    def pairs(self, values: list[tuple[int, int]]) -> int:
        self.pad(8, 4)
        begin = len(self.buffer)
        self.buffer += _u32.pack(len(values))
        for one, other in values:
            self.buffer += struct.pack("<qq", one, other)
        return begin

    def finish(self, root: Write) -> bytes:
        """The buffer with its root."""
        self._refer([(0, root)])
        return bytes(self.buffer)


def text(value: str) -> Write:
    """A text that a table refers to."""
    return lambda writer: writer.text(value)


def table(fields: list[Field]) -> Write:
    """A table that another refers to."""
    return lambda writer: writer.table(fields)


def tables(writes: list[Write]) -> Write:
    """A vector of what is written elsewhere."""
    return lambda writer: writer.tables(writes)


def pairs(values: list[tuple[int, int]]) -> Write:
    """A vector of structures that are two 64-bit integers each."""
    return lambda writer: writer.pairs(values)
