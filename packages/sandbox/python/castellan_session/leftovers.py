"""What programs in fresh processes leave running when they end: it ends with them.

A program and all that it started are one piece of work: whatever it put into the background, by `&`, `nohup` or a session
of its own, would run on unseen and take up the processes that the session may have. What the session's Python has started
is left alone: it goes on until that Python is started anew. Whose a process is, is told by its parents as long as they
are there; by its session; and, where a process has left both behind, by whether it is new since a moment at which
nothing of a program was left, as long as nothing but programs ran since.
"""

import os
import signal
import time
from collections.abc import Callable

from . import processes

_ROUNDS = 500
_PAUSE = 0.001
"""Seconds in which what was killed may end."""


class Leftovers:
    """What is no program's doing, as far as it was there before the programs that run."""

    def __init__(self) -> None:
        self._sessions: frozenset[int] = frozenset()
        self._is_mixed = True

    def begin(self, *, mixed: bool) -> None:
        """A program is about to begin while no other runs; `mixed` where the session's Python executes."""
        this = os.getpid()
        table = processes.seen()
        parents = {process: one.parent for process, one in table.items()}
        self._sessions = frozenset(table[process].session for process in processes.descendants(this, parents))
        self._is_mixed = mixed

    def mix(self) -> None:
        """The session's Python executes from now on: what is new may be its own."""
        self._is_mixed = True

    def end(self, program: int, running: frozenset[int], *, last: bool) -> None:
        """Ends what a program left that has ended, and takes leave of it: it counts until then. `running` are the
        interpreter and the programs that go on; `last` where that is the interpreter alone."""
        this = os.getpid()
        tells_by_age = last and not self._is_mixed

        def is_left(one: processes.Seen) -> bool:
            # What has a parent of its own is that one's.
            is_new = tells_by_age and one.parent == this and one.session not in self._sessions
            return one.session == program or is_new

        _end(is_left, running)


def _end(is_left: Callable[[processes.Seen], bool], running: frozenset[int]) -> None:
    this = os.getpid()
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        table = processes.seen()
        others = {process: one.parent for process, one in table.items()}
        left: set[int] = set()
        for process in processes.descendants(this, others, running):
            if is_left(table[process]):
                left.add(process)
                left.update(processes.descendants(process, others, running))
        if not left:
            return
        new = {process for process in left if not table[process].is_zombie} - stopped
        if new:
            # What is stopped keeps its place: those that start others without end run out of places, and are all found.
            for process in new:
                processes.kill(process, signal.SIGSTOP)
            stopped |= new
            continue
        for process in left:
            processes.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE)
        for process in left:
            _take_leave(process)


def _take_leave(process: int) -> None:
    """Where it has ended, and is this process's to take leave of."""
    try:
        os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        # Its parent is another one, which is ending as well.
        return
