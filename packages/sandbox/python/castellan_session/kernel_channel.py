"""The channel of the interpreter to its supervisor, as the interpreter has it.

An interrupt may strike while a program displays something or asks for SQL. It ends a wait, but never cuts a frame in
two: what cannot be sent now goes before the next frame.
"""

import os
import select
import threading
from collections import deque

from . import frames
from .interrupts import Interrupts


class Channel:
    """Frames over one descriptor, sent by any thread and received by whoever waits."""

    def __init__(self, fd: int, interrupts: Interrupts) -> None:
        self._fd = fd
        self._interrupts = interrupts
        self._lock = threading.RLock()
        self._outgoing = bytearray()
        self._heads: deque[tuple[frames.Head, bytes]] = deque()
        self._reader = frames.FrameReader(self._opened)
        self._owner = os.getpid()
        os.set_blocking(fd, False)

    def _opened(self, head: frames.Head) -> frames.Sink:
        return frames.Collect(lambda payload: self._heads.append((head, payload)))

    def _wait(self, events: int) -> None:
        poll = select.poll()
        poll.register(self._fd, events)
        poll.poll()

    def send(self, head: frames.Head, payload: bytes | bytearray | memoryview = b"") -> None:
        """Sends a frame; waits while the supervisor does not take it."""
        if os.getpid() != self._owner:
            raise RuntimeError("a process that a program forked off has no channel to the host")
        with self._lock:
            with self._interrupts.deferred():
                self._outgoing += frames.encode(head)
                self._outgoing += payload
            while self._outgoing:
                with self._interrupts.deferred():
                    blocked = self._write()
                if blocked:
                    self._wait(select.POLLOUT)

    def _write(self) -> bool:
        """Sends what it can; answers whether the rest has to wait."""
        sent = 0
        view = memoryview(self._outgoing)
        try:
            while sent < len(view):
                sent += os.write(self._fd, view[sent : sent + (1 << 20)])
        except BlockingIOError:
            return True
        finally:
            view.release()
            del self._outgoing[:sent]
        return False

    def receive(self) -> tuple[frames.Head, bytes]:
        """The next frame; waits for it. Raises `EOFError` when the supervisor is gone."""
        while True:
            with self._interrupts.deferred():
                if self._heads:
                    return self._heads.popleft()
            self._wait(select.POLLIN)
            with self._interrupts.deferred():
                self._read()

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 1 << 18)
        except BlockingIOError:
            return
        if data == b"":
            raise EOFError("the supervisor is gone")
        self._reader.feed(data)
