"""Interrupts of the interpreter: each reaches the execution that it was meant for, and nothing else.

The supervisor writes the number of the execution into a page that both share, and sends SIGINT. The handler raises
`KeyboardInterrupt` only while that very execution runs a program's code. Between executions, and in the interpreter's
own code, a signal changes nothing; one that comes before the code has begun is kept for it.
"""

import mmap
import signal
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FrameType, TracebackType
from typing import TypeVar

T = TypeVar("T")


def _program(work: Callable[[], T]) -> T:
    """Calls into a program. The handler looks for this very frame."""
    return work()


_guard = _program.__code__


def _within_program(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code is _guard:
            return True
        frame = frame.f_back
    return False


class _Deferred:
    """A stretch of code that no interrupt cuts; one that comes strikes at its end."""

    __slots__ = ("_interrupts",)

    def __init__(self, interrupts: "Interrupts") -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        interrupts = self._interrupts
        interrupts.depth -= 1
        if interrupts.depth == 0 and interrupts.held:
            interrupts.held = False
            caller = sys._getframe(1)  # noqa: SLF001 -- there is no public way to it that costs as little
            if kind is None and _within_program(caller):
                raise KeyboardInterrupt


class Interrupts:
    """What the handler knows."""

    def __init__(self, word: mmap.mmap) -> None:
        self._word = word
        self._current = 0
        self._delivered = 0
        self._main = threading.get_ident()
        self.depth = 0
        self.held = False

    def install(self) -> None:
        """Puts the handler in its place, which a program may have changed."""
        if signal.getsignal(signal.SIGINT) != self._handle:
            signal.signal(signal.SIGINT, self._handle)

    def _meant(self) -> bool:
        number: int = struct.unpack("=Q", self._word[:8])[0]
        return self._current != 0 and number == self._current

    def _handle(self, _number: int, frame: FrameType | None) -> None:
        if not self._meant():
            return
        if self.depth > 0:
            self.held = True
        elif _within_program(frame):
            self._delivered = self._current
            raise KeyboardInterrupt

    def deferred(self) -> AbstractContextManager[None]:
        """A stretch of code that no interrupt cuts. Only the main thread is ever interrupted."""
        return _Deferred(self) if threading.get_ident() == self._main else nullcontext()

    @property
    def struck(self) -> bool:
        """Whether the execution of now was interrupted."""
        return self._meant()

    def run(self, number: int, work: Callable[[], T]) -> T:
        """Runs a program's code as the execution of a number; raises `KeyboardInterrupt` when that is interrupted."""
        self._current = number
        self.depth = 0
        self.held = False
        try:
            return _program(lambda: self._begin(work))
        finally:
            self.depth = 0

    def _begin(self, work: Callable[[], T]) -> T:
        # The signal may have come before this frame was there for the handler to find.
        if self._meant() and self._delivered != self._current:
            raise KeyboardInterrupt
        return work()
