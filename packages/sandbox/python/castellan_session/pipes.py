"""The pipes that a process puts its output into."""

import os
from collections.abc import Callable

from .loop import Loop, read_available

CAPACITY = 64 * 1024
"""Bytes that a pipe holds on Linux where nobody changed it: what was written before a moment is within as many."""


class Pipes:
    """Standard output and standard error of one process, read by this one."""

    def __init__(self, loop: Loop, take: Callable[[str, bytes], None]) -> None:
        self._loop = loop
        self._take = take
        self._open: dict[int, str] = {}
        self._paused = False
        self.writers: list[int] = []
        for stream in ("stdout", "stderr"):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self._open[reader] = stream
            self.writers.append(writer)
            loop.reads(reader, lambda fd=reader: self._read(fd))

    def close_writers(self) -> None:
        """Closes this process's copies of the writing ends, once the other one has them."""
        for writer in self.writers:
            os.close(writer)
        self.writers.clear()

    def _read(self, fd: int) -> int:
        data = read_available(fd)
        if data is None:
            return 0
        if data == b"":
            self._close(fd)
            return 0
        self._take(self._open[fd], data)
        return len(data)

    def drain(self) -> None:
        """Takes what was written so far, and not much more of a process that goes on writing."""
        for fd in list(self._open):
            taken = 0
            while taken < 2 * CAPACITY:
                read = self._read(fd)
                if read == 0:
                    break
                taken += read

    def pause(self) -> None:
        """Reads nothing until `resume`: the process waits once the pipes are full."""
        if not self._paused:
            self._paused = True
            for fd in self._open:
                self._loop.stop_reads(fd)

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            for fd in self._open:
                self._loop.reads(fd, lambda fd=fd: self._read(fd))

    def _close(self, fd: int) -> None:
        self._loop.stop_reads(fd)
        del self._open[fd]
        os.close(fd)

    def close(self) -> None:
        """Closes everything; what was not read is lost."""
        self.close_writers()
        for fd in list(self._open):
            self._close(fd)
