"""The few calls of the Linux kernel that Python's standard library does not have.

Each raises `OSError` with what was being done in its `filename`, so that whoever cannot start a session is told at
which wall it failed.
"""

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

SECCOMP_MODE_FILTER = 2

# Capabilities as two structures of 32-bit words.
LINUX_CAPABILITY_VERSION_3 = 0x20080522

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapabilityWords(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def _checked(result: int, doing: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), doing)
    return result


def unshare(flags: int) -> None:
    """Moves this process, and its future children where the flag says so, into new namespaces."""
    _checked(_libc.unshare(flags), "unshare namespaces")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mounts; `kind` and `options` may be empty."""
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _checked(result, f"mount {target}")


def unmount(target: str, flags: int) -> None:
    """Unmounts."""
    _checked(_libc.umount2(target.encode(), flags), f"unmount {target}")


def pivot_root(new: str, old: str) -> None:
    """Makes a mount the root of this mount namespace."""
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(38, f"no table for {platform.machine()}", "pivot_root")
    _checked(_libc.syscall(ctypes.c_long(number), new.encode(), old.encode()), "pivot_root")


def prctl(option: int, *arguments: int) -> int:
    """An operation on this process."""
    words = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)][:4]
    return _checked(_libc.prctl(option, *words), f"prctl {option}")


def last_capability() -> int:
    """The number of the kernel's last capability; asked before `/proc/sys` is out of sight."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        return int(file.read())


def drop_capabilities(last: int) -> None:
    """Gives up every capability up to the last, for this process and whatever it executes."""
    for capability in range(last + 1):
        prctl(PR_CAPBSET_DROP, capability)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = _CapabilityHeader(LINUX_CAPABILITY_VERSION_3, 0)
    words = (_CapabilityWords * 2)()
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(words)), "drop capabilities")


def install_filter(program: bytes) -> None:
    """Makes a program of classic BPF this process's filter of system calls, for good and for its children too."""
    buffer = ctypes.create_string_buffer(program, len(program))
    filter_program = _FilterProgram(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    result = _libc.prctl(
        PR_SET_SECCOMP,
        ctypes.c_ulong(SECCOMP_MODE_FILTER),
        ctypes.byref(filter_program),
        ctypes.c_ulong(0),
        ctypes.c_ulong(0),
    )
    _checked(result, "install the filter of system calls")
