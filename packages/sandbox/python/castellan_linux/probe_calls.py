"""What the probe tries of the filter of system calls."""

import ctypes
import errno
import os
import platform
import select
import signal
from collections.abc import Callable

from castellan_linux import kernel

# System calls that must fail, by their numbers and with arguments for which the kernel would otherwise do something.
_CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "ptrace": 101, "mount": 165, "unshare": 272, "setns": 308, "chroot": 161, "pivot_root": 155, "bpf": 321,
        "keyctl": 250, "io_uring_setup": 425, "userfaultfd": 323, "perf_event_open": 298, "clone": 56, "clone3": 435,
        "process_vm_readv": 310, "pidfd_getfd": 438, "open_by_handle_at": 304, "fsopen": 430, "open_tree": 428,
        "shmget": 29, "msgget": 68, "semget": 64, "memfd_create": 319, "vmsplice": 278,
    },
    "aarch64": {
        "ptrace": 117, "mount": 40, "unshare": 97, "setns": 268, "chroot": 51, "pivot_root": 41, "bpf": 280,
        "keyctl": 219, "io_uring_setup": 425, "userfaultfd": 282, "perf_event_open": 241, "clone": 220, "clone3": 435,
        "process_vm_readv": 270, "pidfd_getfd": 438, "open_by_handle_at": 265, "fsopen": 430, "open_tree": 428,
        "shmget": 194, "msgget": 186, "semget": 190, "memfd_create": 279, "vmsplice": 75,
    },
}  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)


def system_calls() -> str | None:
    """Every one of them is refused, in the way that it is promised."""
    return _apart(_all_refused)


def _all_refused() -> str | None:
    calls = _CALLS.get(platform.machine())
    if calls is None:
        return f"there is no table of system calls for {platform.machine()}"
    for name, number in calls.items():
        wanted = errno.ENOSYS if name in ("clone3", "memfd_create") else errno.EPERM
        first = kernel.CLONE_NEWUSER if name in ("clone", "unshare", "setns") else 0
        own = os.getpid()
        result = _libc.syscall(*(ctypes.c_long(word) for word in (number, first, 0, 0, 0, 0)))
        got = ctypes.get_errno()
        if os.getpid() != own:
            # What `clone` has made.
            os._exit(0)
        if result != -1 or got != wanted:
            return f"{name} answered {errno.errorcode.get(got, got) if result == -1 else result}"
    return None


def _apart(attempt: Callable[[], str | None]) -> str | None:
    """Makes an attempt in a process of its own, because what gets through may be the end of it."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        os.write(telling, (attempt() or "").encode())
        os._exit(0)
    os.close(telling)
    try:
        # Traced processes stop and do not end: it has been told before.
        ready, _, _ = select.select([told], [], [], 5)
        answer = os.read(told, 4096).decode() if ready else "the attempt did not end"
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(told)
    return answer or (
        None if status == 0 or os.WTERMSIG(status) == signal.SIGKILL else f"the attempt ended by {status}"
    )
