"""What a session tries when a fork-server is started: to break each wall and each limit that it is promised.

It runs in place of the supervisor, behind the very same walls, and says over the channel which ones gave way. The host
watches from its side what only it can see: that nothing reached its listener.
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

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

_FAMILIES = {"AF_NETLINK": 16, "AF_PACKET": 17, "AF_ALG": 38, "AF_VSOCK": 40, "AF_BLUETOOTH": 31}

# An address without a file, at which the fork-server has a socket: such addresses are a network's, not a file system's.
NEIGHBOUR = "\0castellan-fork-server"

_libc = ctypes.CDLL(None, use_errno=True)


def run(channel: int, parameters: dict[str, Any]) -> None:
    """As the first process of a session: has a child try everything, and ends the session with this process."""
    child = os.fork()
    if child == 0:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        if "hold" in parameters:
            _hold(parameters["hold"], parameters["processes"])
        breaches = _attempts(parameters)
        os.write(channel, json.dumps({"breaches": breaches}).encode() + b"\n")
        os._exit(0)
    while True:
        try:
            ended, _ = os.wait()
        except ChildProcessError:
            return
        if ended == child:
            return


def _hold(size: int, processes: int) -> None:
    """Holds memory in several processes, each of them within its own limit; waits to be killed for it."""
    for _ in range(processes):
        if os.fork() == 0:
            held = bytearray(size)
            for at in range(0, size, 4096):
                held[at] = 1
            signal.pause()
    signal.pause()


def _attempts(parameters: dict[str, Any]) -> list[dict[str, str]]:
    attempts: list[tuple[str, Callable[[], str | None]]] = [
        ("environment", lambda: _environment(parameters["environment"])),
        ("descriptors", _descriptors),
        ("files", lambda: _host_files(parameters["hidden"])),
        ("files", _read_only),
        ("privileges", _privileges),
        ("system_calls", lambda: _apart(_system_calls)),
        ("sockets", _families),
        ("sockets", _buffers),
        ("network", lambda: _network(parameters["port"])),
        ("supervisor", _supervisor),
        ("memory", lambda: _address_space(parameters["address_space"])),
        ("file_size", lambda: _file_size(parameters["file_size"])),
        ("disk", lambda: _disk(parameters["disk"], parameters["file_size"])),
        ("disk", lambda: _entries(parameters["entries"])),
        ("descriptors", lambda: _open_files(parameters["open_files"])),
        ("interrupt", _interrupt),
        ("processes", lambda: _processes(parameters["processes"])),
        # The last one: it kills what is left of the others.
        ("processes", _kill_all),
    ]
    breaches: list[dict[str, str]] = []
    for promise, attempt in attempts:
        try:
            breach = attempt()
        except Exception as error:
            breach = f"could not be tried: {type(error).__name__}: {error}"
        if breach is not None:
            breaches.append({"promise": promise, "detail": breach})
    return breaches


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


def _environment(expected: list[str]) -> str | None:
    surplus = sorted(set(os.environ) - set(expected))
    return f"the environment holds {', '.join(surplus)}" if surplus else None


def _descriptors() -> str | None:
    # The standard three, the channel, and the one that lists this folder.
    count = len(os.listdir("/proc/self/fd"))
    return f"{count - 1} file descriptors are open" if count > 5 else None


def _host_files(hidden: list[str]) -> str | None:
    seen = [path for path in hidden if os.path.exists(path)]
    return f"{', '.join(seen)} can be seen" if seen else None


def _read_only() -> str | None:
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


def _privileges() -> str | None:
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


def _system_calls() -> str | None:
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


def _families() -> str | None:
    for name, family in _FAMILIES.items():
        try:
            socket.socket(
                family, socket.SOCK_RAW if name in ("AF_NETLINK", "AF_PACKET") else socket.SOCK_STREAM
            ).close()
        except OSError as error:
            if error.errno == errno.EAFNOSUPPORT:
                continue
            return f"a socket of {name} failed by {errno.errorcode.get(error.errno or 0)}"
        return f"a socket of {name} was made"
    return None


def _buffers() -> str | None:
    """What is counted by the number of sockets must not be larger than it is thought to be."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            before = one.getsockopt(socket.SOL_SOCKET, option)
            one.setsockopt(socket.SOL_SOCKET, option, 4 * before)
            after = one.getsockopt(socket.SOL_SOCKET, option)
            if after > before:
                return f"a socket's buffer grew from {before} to {after} bytes"
    return None


def _network(port: int) -> str | None:
    for family, address in (
        (socket.AF_INET, "127.0.0.1"),
        (socket.AF_INET6, "::1"),
        (socket.AF_INET, "169.254.169.254"),
    ):
        with socket.socket(family, socket.SOCK_STREAM) as attempt:
            attempt.settimeout(0.2)
            if attempt.connect_ex((address, port)) == 0:
                return f"{address} was reached"
        with socket.socket(family, socket.SOCK_DGRAM) as attempt:
            try:
                attempt.sendto(b"castellan", (address, port))
            except OSError:
                continue
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as attempt:
        if attempt.connect_ex(NEIGHBOUR) == 0:
            return "the fork-server's own network was reached"
    with open("/proc/self/net/dev", encoding="ascii") as file:
        interfaces = [line.split(":")[0].strip() for line in file if ":" in line]
    return None if interfaces == ["lo"] else f"there are the interfaces {', '.join(interfaces)}"


def _supervisor() -> str | None:
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


def _address_space(limit: int) -> str | None:
    try:
        mmap.mmap(-1, limit).close()
    except (OSError, MemoryError, ValueError):
        return None
    return f"one process has {limit} bytes of memory"


def _write_until_refused(path: str, most: int) -> tuple[int, int | None]:
    block = b"x" * 65536
    written = 0
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        while written < most:
            written += os.write(descriptor, block)
        return written, None
    except OSError as error:
        return written, error.errno
    finally:
        os.close(descriptor)


def _file_size(limit: int) -> str | None:
    path = "/sandbox/files/probe"
    written, reason = _write_until_refused(path, 2 * limit)
    os.unlink(path)
    return None if reason == errno.EFBIG else f"a file has {written} bytes"


def _disk(quotas: dict[str, int], file_size: int) -> str | None:
    for folder, quota in quotas.items():
        total, reason = 0, None
        paths: list[str] = []
        while reason in (None, errno.EFBIG) and total <= quota:
            paths.append(f"{folder}/probe-{len(paths)}")
            written, reason = _write_until_refused(paths[-1], min(file_size, quota + 65536))
            total += written
        for path in paths:
            os.unlink(path)
        if reason != errno.ENOSPC or total > quota:
            return f"{folder} took {total} bytes"
    return None


def _entries(limit: int) -> str | None:
    for folder in ("/sandbox/files", "/tmp", "/dev/shm"):
        count = 0
        try:
            while count <= limit:
                os.mkdir(f"{folder}/probe-{count}")
                count += 1
        except OSError as error:
            if error.errno != errno.ENOSPC:
                return f"{folder} refused an entry by {errno.errorcode.get(error.errno or 0)}"
        for number in range(count):
            os.rmdir(f"{folder}/probe-{number}")
        if count > limit:
            return f"{folder} took {count} entries"
    return None


def _open_files(limit: int) -> str | None:
    held: list[int] = []
    try:
        while len(held) <= limit:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return None
    finally:
        for descriptor in held:
            os.close(descriptor)
    return f"{len(held)} files are open"


def _interrupt() -> str | None:
    """An interrupt ends a loop that runs, and in time."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            os.write(telling, b".")
            while True:
                pass
        except KeyboardInterrupt:
            os._exit(7)
    os.read(told, 1)
    os.close(told)
    os.close(telling)
    os.kill(child, signal.SIGINT)
    for _ in range(500):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended == child:
            return None if os.waitstatus_to_exitcode(status) == 7 else "an interrupt ended a process in another way"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return "an interrupt did not end a loop"


def _processes(limit: int) -> str | None:
    children: list[int] = []
    try:
        while len(children) <= limit:
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
    except BlockingIOError:
        return None
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
    return f"{len(children)} processes are running"


def _kill_all() -> str | None:
    """A signal to everybody reaches nobody but the session's own, and not its first process."""
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    os.kill(-1, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        os.kill(1, 0)
    except OSError:
        return "the first process of the session was killed"
    return None
