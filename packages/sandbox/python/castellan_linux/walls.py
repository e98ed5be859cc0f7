"""The walls of a session of the Linux tier: its namespaces, its file system, its limits and its filter.

The fork-server forks the first process of new namespaces (`OWN`), which calls `enter` to become a user of its own there
and `close_behind` to have walls. From then on nothing but the session's own files can be written, nothing can be
reached, and neither can ever be undone. Whatever is seen inside is listed here; nothing is hidden by being covered.
"""

import fcntl
import os
import resource
import socket
import struct
from dataclasses import dataclass

from castellan_linux import kernel

# Where the outer sandbox has an empty folder, on which the session's root is built.
STAGE = "/stage"
# Where the outer sandbox has the delegated control groups, if any.
CONTROL_GROUPS = "/control-groups"

FILES = "/sandbox/files"

# What a session has for itself.
OWN = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
)

# Entries of the outer root that a session gets in another form, or not at all.
_NOT_SHARED = {"dev", "proc", "sandbox", "sys", "tmp", STAGE[1:], CONTROL_GROUPS[1:], "listen", "run"}
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SAFE = kernel.MS_NOSUID | kernel.MS_NODEV

# Asked where the kernel's settings are in sight.
_LAST_CAPABILITY = kernel.last_capability()

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


@dataclass(frozen=True)
class Limits:
    """What a session may use. Sizes in bytes."""

    # Of one process.
    address_space: int
    file_size: int
    open_files: int
    cpu_seconds: int
    # Of the session.
    processes: int
    files: int
    temporary: int
    shared: int
    # Files and folders of each writable mount.
    entries: int


def enter(user: int, group: int, owner: tuple[int, int], control_group: str | None) -> None:
    """Has the caller, who is the first process of namespaces of its own, be a user in them, in a control group or none.

    `owner` is who it is outside of them, by user and group.
    """
    if control_group is not None:
        _write(f"{CONTROL_GROUPS}/{control_group}/cgroup.procs", "0")
    # Only now: a process can be moved only within what its namespace of control groups shows.
    kernel.unshare(kernel.CLONE_NEWCGROUP)
    # The system ends a session before it ends its host.
    _write("/proc/self/oom_score_adj", "800")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {owner[0]} 1")
    _write("/proc/self/gid_map", f"{group} {owner[1]} 1")


def close_behind(limits: Limits, system_calls: bytes) -> None:
    """Builds the session's file system, sets its limits, and gives up every means to change either."""
    # No user namespace below this one, even where the filter of system calls were not there.
    _write("/proc/sys/user/max_user_namespaces", "0")
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    socket.sethostname("sandbox")
    _raise_loopback()
    _bound_connections()
    _build_root(limits)
    _enter_root()
    _limit(limits)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities(_LAST_CAPABILITY)
    # What runs beside the first process cannot read or write its memory.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.install_filter(system_calls)


def _write(path: str, text: str) -> None:
    try:
        # Without a stream of Python's, whose parts lie in pages that a fork has to copy.
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, text.encode("ascii"))
        finally:
            os.close(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"write {path}") from error


def _raise_loopback() -> None:
    """A session's own loopback works: programs talk to themselves over it. It leads nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _bound_connections() -> None:
    """What a connection's buffers may grow to by themselves, in bytes: as much as other sockets begin with."""
    for name in ("tcp_rmem", "tcp_wmem"):
        path = f"/proc/sys/net/ipv4/{name}"
        # A kernel without TCP has no such connections.
        if os.path.exists(path):
            _write(path, "4096 16384 131072")


def _mount_memory(path: str, size: int, entries: int, mode: str) -> None:
    options = f"size={size},nr_inodes={entries},mode={mode}"
    kernel.mount("tmpfs", path, "tmpfs", _SAFE, options)


def _build_root(limits: Limits) -> None:
    _mount_memory(STAGE, 1024 * 1024, 1024, "755")
    for name in os.listdir("/"):
        if name in _NOT_SHARED:
            continue
        inside, outside = f"{STAGE}/{name}", f"/{name}"
        if os.path.islink(outside):
            os.symlink(os.readlink(outside), inside)
        elif os.path.isdir(outside):
            os.mkdir(inside)
            # With what is mounted below it, and read-only as the outer sandbox made all of it.
            kernel.mount(outside, inside, "", kernel.MS_BIND | kernel.MS_REC)
    _build_devices(limits)
    os.mkdir(f"{STAGE}/proc")
    # Processes and nothing else: no kernel settings, no facts of the machine; and nothing to write, not even how soon the
    # kernel ends a process where memory is short.
    kernel.mount("proc", f"{STAGE}/proc", "proc", _SAFE | kernel.MS_NOEXEC | kernel.MS_RDONLY, "subset=pid")
    os.mkdir(f"{STAGE}/tmp")
    _mount_memory(f"{STAGE}/tmp", limits.temporary, limits.entries, "1777")
    os.makedirs(f"{STAGE}{FILES}")
    _mount_memory(f"{STAGE}{FILES}", limits.files, limits.entries, "755")


def _build_devices(limits: Limits) -> None:
    os.mkdir(f"{STAGE}/dev")
    for name in _DEVICES:
        os.close(os.open(f"{STAGE}/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o600))
        kernel.mount(f"/dev/{name}", f"{STAGE}/dev/{name}", "", kernel.MS_BIND)
    os.symlink("/proc/self/fd", f"{STAGE}/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{STAGE}/dev/{name}")
    os.mkdir(f"{STAGE}/dev/shm")
    _mount_memory(f"{STAGE}/dev/shm", limits.shared, limits.entries, "1777")


def _enter_root() -> None:
    os.chdir(STAGE)
    # The old root is put below the new one, and taken away: what was not bound into the new one is gone.
    kernel.pivot_root(".", ".")
    kernel.unmount(".", kernel.MNT_DETACH)
    os.chdir("/")
    kernel.mount("", "/", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | _SAFE)
    os.chdir(FILES)


def _limit(limits: Limits) -> None:
    for kind, amount in (
        (resource.RLIMIT_AS, limits.address_space),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        # Whoever runs the host may have allowed less.
        allowed = amount if most == resource.RLIM_INFINITY else min(amount, most)
        resource.setrlimit(kind, (allowed, allowed))
    # The first limit can be caught, the second cannot.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 2))
