"""The few calls of the Linux kernel that Python's standard library does not have.

Each raises `OSError` with what was being done in its `filename`, so that whoever cannot start a session is told at
which wall it failed.
"""

import ctypes
import os
import platform
import signal

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
PR_SET_NO_NEW_PRIVS = 38
PR_GET_TID_ADDRESS = 40
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

SECCOMP_MODE_FILTER = 2

# Capabilities as two structures of 32-bit words.
LINUX_CAPABILITY_VERSION_3 = 0x20080522

_CLONE_CHILD_CLEARTID = 0x00200000
_CLONE_CHILD_SETTID = 0x01000000

# Bytes of a large page, with small ones of 4 KiB.
_LARGE_PAGE = 2 * 1024 * 1024
_MADV_COLLAPSE = 25

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}

_libc = ctypes.CDLL(None, use_errno=True)
# The same, without a moment in which another thread of Python could run.
_libc_at_once = ctypes.PyDLL(None, use_errno=True)
_prctl = ctypes.CDLL(None, use_errno=True).prctl
_prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


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


def fork_into(namespaces: int) -> int:
    """Forks off the first process of new namespaces, which `CLONE_NEW*` names; answers 0 in it, and its number here.

    For a process of one thread: what Python and the C library do around a fork for the sake of other threads is left
    out, since it has hundreds of pages copied. `os.fork`, where the new process calls it, does all of it.
    """
    number = _CLONE.get(platform.machine())
    if number is None:
        raise OSError(38, f"no table for {platform.machine()}", "fork into namespaces")
    # Where the C library keeps the number of this thread: it is another one in the fork.
    address = ctypes.c_ulong(0)
    flags = namespaces | signal.SIGCHLD
    if _libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0:
        flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID
    # The fourth and the fifth argument change places among architectures: one is the address, the other is not looked at.
    result = _libc_at_once.syscall(
        ctypes.c_long(number), ctypes.c_ulong(flags), ctypes.c_void_p(), ctypes.c_void_p(), address, address
    )
    return _checked(result, "fork into namespaces")


def join_pages() -> None:
    """Has the memory of this process lie in large pages where the kernel can do it: a fork copies one entry for each, and
    not five hundred. Where it cannot, forks take longer; that is all."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        areas = [line.split() for line in file]
    for area, access, _, _, _, *name in areas:
        # Memory of its own, which has no file.
        if access != "rw-p" or name not in ([], ["[heap]"]):
            continue
        first, end = (int(address, 16) for address in area.split("-"))
        start = -(-first // _LARGE_PAGE) * _LARGE_PAGE
        size = end // _LARGE_PAGE * _LARGE_PAGE - start
        if size > 0:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_COLLAPSE)


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
    result = _prctl(option, *(*arguments, 0, 0, 0, 0)[:4])
    return _checked(result, f"prctl {option}")


def last_capability() -> int:
    """The number of the kernel's last capability."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        return int(file.read())


def drop_capabilities(last: int) -> None:
    """Gives up every capability up to the last, for this process and whatever it executes."""
    for capability in range(last + 1):
        if _prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            _checked(-1, f"drop capability {capability}")
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
