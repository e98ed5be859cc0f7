"""The supervisor's event loop over file descriptors: one thread, nothing that blocks, no timers."""

import os
import select
from collections import deque
from collections.abc import Callable

from . import frames

PIECE = 64 * 1024
"""Bytes read at once."""

HIGH_WATER = 1024 * 1024
"""Bytes that may wait to be sent before whatever makes more of them is held back."""

Called = Callable[[], object]
"""Whoever waits for a file descriptor; what it answers is of no interest."""


class Loop:
    """Calls whoever waits for a file descriptor.

    By `poll`, and not by `epoll`: of the latter's watches the kernel has so many for each user, and a session of the
    same user, which has none itself, must not be able to take those of its supervisor.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._readers: dict[int, Called] = {}
        self._writers: dict[int, Called] = {}

    def reads(self, fd: int, call: Called) -> None:
        """Calls whenever something can be read, or the other side is gone."""
        self._set(self._readers, fd, call)

    def writes(self, fd: int, call: Called) -> None:
        """Calls whenever something can be written."""
        self._set(self._writers, fd, call)

    def stop_reads(self, fd: int) -> None:
        self._unset(self._readers, fd)

    def stop_writes(self, fd: int) -> None:
        self._unset(self._writers, fd)

    def _mask(self, fd: int) -> int:
        return (select.POLLIN if fd in self._readers else 0) | (select.POLLOUT if fd in self._writers else 0)

    def _set(self, table: dict[int, Called], fd: int, call: Called) -> None:
        before = self._mask(fd)
        table[fd] = call
        after = self._mask(fd)
        if before == 0:
            self._poll.register(fd, after)
        elif before != after:
            self._poll.modify(fd, after)

    def _unset(self, table: dict[int, Called], fd: int) -> None:
        if table.pop(fd, None) is None:
            return
        after = self._mask(fd)
        if after == 0:
            # A descriptor that waits for nothing must go: a hang-up would be told again and again.
            self._poll.unregister(fd)
        else:
            self._poll.modify(fd, after)

    def turn(self, wait: float | None) -> None:
        """Waits for something to happen, for so many seconds at most where told, and calls whom it concerns."""
        for fd, events in self._poll.poll(None if wait is None else wait * 1000):
            if events & (select.POLLOUT | select.POLLERR):
                writer = self._writers.get(fd)
                if writer is not None:
                    writer()
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                reader = self._readers.get(fd)
                if reader is not None:
                    reader()

    def close(self) -> None:
        """Leaves: for a fork, which must not hear what the other one waits for."""
        self._poll = select.poll()
        self._readers.clear()
        self._writers.clear()


def read_available(fd: int, size: int = PIECE) -> bytes | None:
    """What can be read now; nothing (`None`) where that is nothing yet, and `b""` at the end."""
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class Connection:
    """Frames in both directions over descriptors that never block."""

    def __init__(
        self,
        loop: Loop,
        incoming: int,
        outgoing: int,
        opened: Callable[[frames.Head], frames.Sink],
        ended: Callable[[str], None],
        maximum_payload: int | None = None,
    ) -> None:
        self._loop = loop
        self.incoming = incoming
        self.outgoing = outgoing
        self._ended = ended
        self._reader = frames.FrameReader(opened, maximum_payload)
        self._queue: deque[memoryview] = deque()
        self._held = b""
        self._waiting = 0
        self._closed = False
        self._paused = False
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)
        loop.reads(incoming, self.read)

    @property
    def congested(self) -> bool:
        """Whether more waits to be sent than ought to."""
        return self._waiting > HIGH_WATER

    @property
    def holds(self) -> bool:
        """Whether there is a frame that goes out with the next one."""
        return self._held != b""

    def hold(self, head: frames.Head) -> None:
        """Sends a frame together with the next one, or when it is let go: each part that is written wakes the other
        side."""
        self._held += frames.encode(head)

    def release(self) -> None:
        """Lets go of what is held."""
        held, self._held = self._held, b""
        if held:
            self.send_bytes(held)

    def send(self, head: frames.Head, payload: bytes = b"") -> None:
        """Sends a frame, after those that wait."""
        held, self._held = self._held, b""
        if len(payload) <= PIECE:
            # At once, for the same reason.
            self.send_bytes(held + frames.encode(head, payload))
        else:
            self.send_bytes(held + frames.encode(head))
            self.send_bytes(payload)

    def send_bytes(self, data: bytes) -> None:
        """Sends raw bytes of a frame whose head was sent."""
        if self._closed:
            return
        view = memoryview(data)
        if not self._queue:
            view = view[self._write(view) :]
        if len(view) > 0 and not self._closed:
            if not self._queue:
                self._loop.writes(self.outgoing, self._flush)
            self._queue.append(view)
            self._waiting += len(view)

    def _write(self, view: memoryview) -> int:
        written = 0
        try:
            while written < len(view):
                written += os.write(self.outgoing, view[written:])
        except BlockingIOError:
            return written
        except OSError:
            self._end(frames.GONE)
        return written

    def _flush(self) -> None:
        while self._queue and not self._closed:
            view = self._queue[0]
            written = self._write(view)
            self._waiting -= written
            if written < len(view):
                self._queue[0] = view[written:]
                return
            self._queue.popleft()
        self._loop.stop_writes(self.outgoing)

    def read(self) -> bool:
        """Reads what is there once; answers whether there was something."""
        if self._closed:
            return False
        data = read_available(self.incoming, 4 * PIECE)
        if data is None:
            return False
        if data == b"":
            self._end(frames.GONE)
            return False
        try:
            self._reader.feed(data)
        except frames.Breach as breach:
            self._end(str(breach))
        return True

    def pause(self) -> None:
        """Reads nothing until `resume`."""
        if not self._closed and not self._paused:
            self._paused = True
            self._loop.stop_reads(self.incoming)

    def resume(self) -> None:
        if not self._closed and self._paused:
            self._paused = False
            self._loop.reads(self.incoming, self.read)

    def _end(self, reason: str) -> None:
        if not self._closed:
            self.close()
            self._ended(reason)

    def close(self) -> None:
        """Closes the descriptors; nobody is told."""
        if self._closed:
            return
        self._closed = True
        self._loop.stop_reads(self.incoming)
        self._loop.stop_writes(self.outgoing)
        self._queue.clear()
        os.close(self.incoming)
        if self.outgoing != self.incoming:
            os.close(self.outgoing)


class Forward:
    """Passes the raw bytes of a frame on to another channel as they come."""

    def __init__(self, to: Connection) -> None:
        self._to = to

    def write(self, data: bytes) -> None:
        self._to.send_bytes(data)

    def end(self) -> None:
        pass
