"""The session's Python as the supervisor has it: a fork, its pipes, and a channel whose frames it may have forged."""

import mmap
import os
import signal
import socket
import struct
from collections.abc import Callable

from . import forked, frames, processes
from .loop import Connection, Loop
from .pipes import Pipes

CHANNEL = 3
"""The descriptor of the channel inside of the interpreter."""


class Interpreter:
    """One life of the session's Python."""

    def __init__(
        self,
        loop: Loop,
        output: Callable[[str, bytes], None],
        opened: Callable[["Interpreter", frames.Head], frames.Sink],
        broken: Callable[["Interpreter", str], None],
    ) -> None:
        self._word = mmap.mmap(-1, mmap.PAGESIZE)
        self._sequence = 0
        ours, theirs = socket.socketpair()
        ours_fd, theirs_fd = ours.detach(), theirs.detach()
        self.pipes = Pipes(loop, output)
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        out, err = self.pipes.writers
        try:
            self.pid = forked.fork(_kernel(self._word), {0: null, 1: out, 2: err, CHANNEL: theirs_fd})
        except OSError:
            os.close(ours_fd)
            self.pipes.close()
            raise
        finally:
            os.close(null)
            os.close(theirs_fd)
        self.pipes.close_writers()
        self.channel = Connection(
            loop,
            ours_fd,
            ours_fd,
            lambda head: opened(self, head),
            lambda reason: broken(self, reason),
            maximum_payload=frames.MAXIMUM_PAYLOAD,
        )

    def ask(self, op: str, payload: bytes = b"", **more: object) -> str:
        """Sends a request; answers the token that its frames must have. The payload may follow by `channel`."""
        self._sequence += 1
        token = os.urandom(8).hex()
        self.channel.send({"op": op, "token": token, "sequence": self._sequence, **more}, payload)
        return token

    def interrupt(self) -> None:
        """Interrupts the request that was sent last, and none that comes later: its number is written first."""
        self._word[:8] = struct.pack("=Q", self._sequence)
        processes.kill(self.pid, signal.SIGINT)

    def kill(self, without: frozenset[int]) -> None:
        """Ends it with all that it started, but the processes in `without` and theirs."""
        processes.kill_group(self.pid, signal.SIGKILL)
        processes.kill(self.pid, signal.SIGKILL)
        processes.kill_all(without)

    def close(self) -> None:
        """Lets go of the channel and the pipes."""
        self.channel.close()
        self.pipes.close()
        self._word.close()


def _kernel(word: mmap.mmap) -> Callable[[], None]:
    def run() -> None:
        from . import kernel

        processes.open_to_others()
        processes.die_with_parent()
        kernel.Kernel(CHANNEL, word).run()

    return run
