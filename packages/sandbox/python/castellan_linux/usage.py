"""What sessions use, as the fork-server sees it from outside of them.

The fork-server sees every process of its sessions in its own `/proc`. A look at all of them reads one small file a
process; the exact sum, which does not count shared pages twice, costs a millisecond a process and is asked for only
where the coarse one is above the limit, or by the host.
"""

import os
from dataclasses import dataclass, field

_PAGE = os.sysconf("SC_PAGE_SIZE")
# Mappings of a process that are looked at: ten times what Python has with its largest libraries, and few enough that
# nobody keeps the fork-server busy with counting.
_MAPPINGS = 8192


@dataclass
class ProcessTree:
    """The processes below one process."""

    members: list[int] = field(default_factory=list[int])
    # Bytes of memory, pages that are shared counted once a process, and of address space where that grew by more: hardly
    # less than the exact sum.
    coarse_memory: int = 0
    # Processor time that was used so far, in ticks: tells whether anything ran since the last look.
    ticks: int = 0


def trees(roots: "set[int]", address_space: int) -> dict[int, ProcessTree]:
    """One look at every process, by the root that it is below. Processes begin with so many bytes of address space."""
    parents: dict[int, int] = {}
    facts: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
        except OSError:
            # It ended meanwhile.
            continue
        # The command, in parentheses, may hold anything; what follows the last one is numbers.
        fields = text[text.rindex(b")") + 2 :].split()
        pid = int(name)
        parents[pid] = int(fields[1])
        memory = max(int(fields[21]) * _PAGE, int(fields[20]) - address_space)
        facts[pid] = (memory, sum(int(ticks) for ticks in fields[11:15]))
    found = {root: ProcessTree() for root in roots}
    for pid in parents:
        above = pid
        while above not in roots and above in parents:
            above = parents[above]
        tree = found.get(above)
        if tree is not None:
            memory, ticks = facts[pid]
            tree.members.append(pid)
            tree.coarse_memory += memory
            tree.ticks += ticks
    return found


@dataclass(frozen=True)
class Size:
    """A process's size, in bytes."""

    resident: int
    address_space: int


def size_of(pid: int) -> Size:
    """A process's size; nothing where it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            pages = file.read().split()
    except OSError:
        return Size(0, 0)
    return Size(int(pages[1]) * _PAGE, int(pages[0]) * _PAGE)


def exact_memory(members: "list[int]", supervisor: int, baseline: Size, enough: "int | None" = None) -> int:
    """Bytes that processes hold, each shared page counted by its share. It stops counting above `enough`.

    Memory that is shared without a file counts as a whole, touched or not: a process can let go of its pages and keep
    what is in them. A process with more mappings than anybody needs, which cost the kernel memory and whoever looks at
    them time, counts with all that it can have. The supervisor forbids that its pages are looked at: it counts with what it has beyond `baseline`,
    the size that it began with. Any other process that forbids it counts with all that it can have: nobody hides by it.
    """
    total = 0
    shared: dict[bytes, int] = {}
    for pid in members:
        if enough is not None and total + sum(shared.values()) > enough:
            break
        try:
            pieces = _shared_without_file(pid)
            if pieces is None:
                total += _at_most(pid, baseline)
                continue
            total += _proportional(pid)
            for inode, size in pieces.items():
                shared[inode] = max(shared.get(inode, 0), size)
        except PermissionError:
            if pid == supervisor:
                total += max(0, size_of(pid).resident - baseline.resident)
            else:
                total += _at_most(pid, baseline)
        except OSError:
            # It ended meanwhile.
            continue
    return total + sum(shared.values())


def _at_most(pid: int, baseline: Size) -> int:
    """All that a process can have of its own."""
    now = size_of(pid)
    return max(now.resident, now.address_space - baseline.address_space)


def _proportional(pid: int) -> int:
    """What a process holds in memory, and what of it is in swap."""
    total = 0
    with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith((b"Pss:", b"SwapPss:")):
                total += int(line.split()[1]) * 1024
    return total


def _shared_without_file(pid: int) -> dict[bytes, int] | None:
    """Bytes of each piece of memory that is shared with forks and has no file that could be opened, by its inode; nothing
    (`None`) where there are too many mappings to look at."""
    found: dict[bytes, int] = {}
    with open(f"/proc/{pid}/maps", "rb") as file:
        for number, line in enumerate(file):
            if number == _MAPPINGS:
                return None
            if line.endswith(b"/dev/zero (deleted)\n"):
                fields = line.split(maxsplit=5)
                start, end = fields[0].split(b"-")
                found[fields[4]] = found.get(fields[4], 0) + int(end, 16) - int(start, 16)
    return found


def sockets_of(pid: int) -> int:
    """The sockets of a process's network, of every kind and whoever holds them, also those that are on their way."""
    try:
        with open(f"/proc/{pid}/net/sockstat", "rb") as file:
            # `sockets: used 12`
            return int(file.readline().split()[2])
    except OSError:
        # It ended meanwhile.
        return 0
