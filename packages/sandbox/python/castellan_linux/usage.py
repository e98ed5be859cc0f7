"""What sessions use, as the fork-server sees it from outside of them.

The fork-server sees every process of its sessions in its own `/proc`. A look at all of them reads one small file a
process; the exact sum, which does not count shared pages twice, costs a millisecond a process and is asked for only
where the coarse one is above the limit, or by the host.
"""

import os
from dataclasses import dataclass, field

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class ProcessTree:
    """The processes below one process."""

    members: list[int] = field(default_factory=list)
    # Bytes of resident memory, pages that are shared counted once a process: never less than the exact sum.
    coarse_memory: int = 0
    # Processor time that was used so far, in ticks: tells whether anything ran since the last look.
    ticks: int = 0


def trees(roots: "set[int]") -> dict[int, ProcessTree]:
    """One look at every process, by the root that it is below."""
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
        facts[pid] = (int(fields[21]) * _PAGE, sum(int(ticks) for ticks in fields[11:15]))
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


def exact_memory(members: "list[int]", supervisor: int, baseline: int) -> int:
    """Bytes that processes hold, each shared page counted by its share.

    The supervisor forbids that its pages are looked at: it counts with what it has beyond `baseline`, the resident
    memory that it began with. Any other process that forbids it counts with all that it has: nobody hides by it.
    """
    total = 0
    for pid in members:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        total += int(line.split()[1]) * 1024
                        break
        except PermissionError:
            total += max(0, resident(pid) - (baseline if pid == supervisor else 0))
        except OSError:
            # It ended meanwhile.
            continue
    return total


def resident(pid: int) -> int:
    """Bytes of a process's resident memory; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0
