"""Children of the supervisor that have ended: told by the loop, like everything else that happens."""

import os
import signal
from collections.abc import Callable
from types import FrameType

from .loop import Loop


def watch(loop: Loop, ended: Callable[[int, int], None]) -> None:
    """Calls with the id and the exit code of each child that ends, whoever has adopted it. What the terminal does to a
    process is not done to this one from now on."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # A handler has to be there for the wake-up; an interrupt of the terminal is not for this process.
    signal.signal(signal.SIGCHLD, _heard)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    loop.reads(reader, lambda: _reap(reader, ended))


def _heard(_number: int, _frame: FrameType | None) -> None:
    """That a signal came is told by the wake-up."""


def _reap(wakeups: int, ended: Callable[[int, int], None]) -> None:
    try:
        while os.read(wakeups, 4096):
            continue
    except BlockingIOError:
        pass
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        ended(pid, os.waitstatus_to_exitcode(status))
