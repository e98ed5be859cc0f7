"""What the probe tries of what is around a session: its environment, the files that it sees, its privileges, and the
process that it is watched by. Each attempt answers in words what gave way, and nothing where all held."""

import os
import signal

_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


def _namespaces() -> dict[str, str]:
    return {name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES}


# Of the fork-server, which has this before it forks sessions off.
_outside = _namespaces()


def namespaces() -> str | None:
    """Every namespace is the session's own."""
    shared = [name for name, link in _namespaces().items() if link == _outside[name]]
    return f"the namespace of {', '.join(shared)} is the fork-server's" if shared else None


def environment(expected: list[str]) -> str | None:
    """Nothing is in the environment but what was given."""
    surplus = sorted(set(os.environ) - set(expected))
    return f"the environment holds {', '.join(surplus)}" if surplus else None


def descriptors() -> str | None:
    """Nothing is open but what every session has."""
    # The standard three, the channel, and the one that lists this folder.
    count = len(os.listdir("/proc/self/fd"))
    return f"{count - 1} file descriptors are open" if count > 5 else None


def host_files(hidden: list[str]) -> str | None:
    """Nothing of the host's own files is seen."""
    seen = [path for path in hidden if os.path.exists(path)]
    if seen:
        return f"{', '.join(seen)} can be seen"
    # What a root was put in the place of stays above it, until it is taken away.
    return None if os.path.samefile("/..", "/") else "another root lies above the session's own"


def read_only() -> str | None:
    """Nothing can be made or changed outside of the folders that are for it."""
    for folder in ("/", "/usr", "/etc", "/dev", "/proc", "/sandbox", "/castellan"):
        try:
            os.close(os.open(f"{folder}/castellan-probe", os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError:
            continue
        return f"a file was made in {folder}"
    try:
        os.close(os.open("/proc/self/oom_score_adj", os.O_WRONLY))
        return "/proc can be written"
    except OSError:
        pass
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel"):
        if os.path.exists(path):
            return f"{path} can be seen"
    return None


def privileges() -> str | None:
    """There are no privileges, and none can be had."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        if int(status[name], 16) != 0:
            return f"{name} is {status[name]}"
    if status["NoNewPrivs"].strip() != "1":
        return "new privileges can be had"
    if status["Seccomp"].strip() != "2":
        return "system calls are not filtered"
    try:
        os.setuid(0)
    except OSError:
        return None
    return "it became another user"


def supervisor() -> str | None:
    """What runs beside the first process can neither read its memory nor take its descriptors."""
    for name in ("mem", "environ", "maps"):
        try:
            os.close(os.open(f"/proc/1/{name}", os.O_RDONLY))
        except OSError:
            continue
        return f"/proc/1/{name} can be read"
    try:
        os.listdir("/proc/1/fd")
    except OSError:
        os.kill(1, signal.SIGKILL)
        return None
    return "/proc/1/fd can be read"
