"""Frames: one line of JSON in UTF-8 and, where the line has `bytes`, that many raw bytes after it. Nothing here reads or
writes."""

import json
from collections.abc import Callable
from typing import Any, Protocol, TypeGuard

MAXIMUM_LINE = 1024 * 1024
"""Bytes of the line of a frame, its newline included, at most: `maximumLine` of `Command.ts`."""

MAXIMUM_PAYLOAD = 8 * 1024 * 1024
"""Raw bytes of a frame that leaves a session, at most: `maximumPayload` of `Command.ts`."""

GONE = "the other side is gone"
"""Why a channel ended that was simply closed."""

Head = dict[str, Any]


class Breach(Exception):
    """What came is no frame. Nothing after it can be read."""


class Sink(Protocol):
    """Takes the raw bytes of one frame as they come."""

    def write(self, data: bytes) -> None: ...

    def end(self) -> None: ...


class Collect:
    """Gathers the raw bytes of a frame and hands them on when they are whole."""

    __slots__ = ("_parts", "_then")

    def __init__(self, then: Callable[[bytes], None]) -> None:
        self._parts: list[bytes] = []
        self._then = then

    def write(self, data: bytes) -> None:
        self._parts.append(data)

    def end(self) -> None:
        self._then(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))


class Discard:
    """Takes raw bytes that nobody wants."""

    __slots__ = ()

    def write(self, data: bytes) -> None:
        pass

    def end(self) -> None:
        pass


def _is_head(value: object) -> TypeGuard[Head]:
    # The names of an object of JSON are texts.
    return isinstance(value, dict)


# Escaped to ASCII, so that a lone surrogate of some file's name cannot make a line that is no UTF-8.
_line = json.JSONEncoder(separators=(",", ":")).encode
_value = json.JSONDecoder().decode


def encode(head: Head, payload: bytes = b"") -> bytes:
    """The bytes of a frame. The head says the number of raw bytes itself, where there are any."""
    return _line(head).encode("ascii") + b"\n" + payload


class FrameReader:
    """Cuts what comes into frames: `opened` is called with each line, and answers where its raw bytes go."""

    __slots__ = ("_line", "_maximum_payload", "_opened", "_rest", "_sink")

    def __init__(self, opened: Callable[[Head], Sink], maximum_payload: int | None = None) -> None:
        self._opened = opened
        self._maximum_payload = maximum_payload
        self._line = bytearray()
        self._rest = 0
        self._sink: Sink | None = None

    def feed(self, data: bytes) -> None:
        """Takes the next bytes; raises `Breach` where they are no frame."""
        at = 0
        size = len(data)
        while at < size:
            if self._sink is not None:
                piece = data[at : at + self._rest] if at > 0 or size > self._rest else data
                at += len(piece)
                self._rest -= len(piece)
                self._sink.write(piece)
                if self._rest == 0:
                    sink, self._sink = self._sink, None
                    sink.end()
                continue
            newline = data.find(b"\n", at)
            end = size if newline == -1 else newline + 1
            if len(self._line) + end - at > MAXIMUM_LINE:
                raise Breach("a line is too long")
            self._line += data[at:end]
            at = end
            if newline != -1:
                line, self._line = self._line, bytearray()
                self._open(bytes(line))

    def _open(self, line: bytes) -> None:
        try:
            head = _value(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Breach("a line is not JSON") from error
        if not _is_head(head):
            raise Breach("a line is no object")
        size = head.get("bytes", 0)
        if type(size) is not int or size < 0 or (self._maximum_payload is not None and size > self._maximum_payload):
            raise Breach("the raw bytes of a frame are not as they must be")
        sink = self._opened(head)
        if size == 0:
            sink.end()
        else:
            self._sink, self._rest = sink, size
