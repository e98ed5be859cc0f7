"""The processes of a session, as /proc has them."""

import os
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

_ROUNDS = 200


class Seen(NamedTuple):
    """A process as /proc shows it."""

    parent: int
    session: int
    """The process that began its session: what it was started in, unless it began one of its own."""
    is_zombie: bool
    """Whether it has ended, and its parent has not taken leave of it."""


def seen() -> dict[int, Seen]:
    """Every process that can be seen, with those that have ended and count all the same."""
    found: dict[int, Seen] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                stat = file.read()
        except OSError:
            continue
        # The name of the program stands in brackets and may hold anything, brackets too.
        fields = stat[stat.rindex(b")") + 2 :].split()
        found[int(name)] = Seen(parent=int(fields[1]), session=int(fields[3]), is_zombie=fields[0] == b"Z")
    return found


def parents() -> dict[int, int]:
    """Each process and its parent, of those that can be seen and have not ended."""
    return {process: one.parent for process, one in seen().items() if not one.is_zombie}


def descendants(of: int, table: dict[int, int], without: frozenset[int] = frozenset()) -> list[int]:
    """All processes that descend from one, but those in `without` and theirs."""
    children: dict[int, list[int]] = {}
    for process, parent in table.items():
        children.setdefault(parent, []).append(process)
    found: list[int] = []
    pending = [of]
    while pending:
        for child in children.get(pending.pop(), []):
            if child not in without:
                found.append(child)
                pending.append(child)
    return found


def kill(process: int, number: int) -> None:
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill_group(leader: int, number: int) -> None:
    """Sends a signal to a process group that may be gone."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill_all(without: frozenset[int] = frozenset()) -> None:
    """Kills every process that descends from this one, but those in `without` and theirs, and waits for none.

    Processes that start others while they are killed are found in the next round. In a namespace of processes of its
    own, where all of them go, the system does it at one stroke.
    """
    this = os.getpid()
    if this == 1 and not without:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return
    for _ in range(_ROUNDS):
        found = descendants(this, parents(), without)
        if not found:
            return
        for process in found:
            kill(process, signal.SIGKILL)


def memory() -> int:
    """Bytes of memory of this process and its descendants. Pages that several share are counted once, where /proc
    tells the shares."""
    this = os.getpid()
    table = parents()
    total = 0
    for process in [this, *descendants(this, table)]:
        total += _proportional(process)
    return total


def _proportional(process: int) -> int:
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def _traits() -> "Callable[..., object] | None":
    """What sets a process's traits; nothing where the system has none of them, so that isolation does not rest on them."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        found = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    found.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    return found


# Looked for once, before sessions are forked off.
_set_trait = _traits()


def _prctl(option: int, value: int) -> None:
    """Asks the system for a trait of this process."""
    if _set_trait is not None:
        _set_trait(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of every descendant whose own is gone, as the first of a namespace is anyway."""
    if os.getpid() != 1:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def close_to_others() -> None:
    """Keeps other processes of the same user from reading this one's memory and descriptors."""
    _prctl(_PR_SET_DUMPABLE, 0)


def open_to_others() -> None:
    """Undoes `close_to_others`, which a fork inherits."""
    _prctl(_PR_SET_DUMPABLE, 1)


def die_with_parent() -> None:
    """Has this process killed when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, 9)
