"""What the probe tries of the limits: to take more of everything than a session may have. Each attempt answers in words
what gave way, and nothing where all held."""

import errno
import mmap
import os
import signal


def address_space(limit: int) -> str | None:
    """One process has no more memory than it may."""
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


def file_size(limit: int) -> str | None:
    """One file has no more bytes than it may."""
    path = "/sandbox/files/probe"
    written, reason = _write_until_refused(path, 2 * limit)
    os.unlink(path)
    return None if reason == errno.EFBIG else f"a file has {written} bytes"


def disk(quotas: dict[str, int], file_size: int) -> str | None:
    """No folder takes more bytes than its quota."""
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


def entries(limit: int) -> str | None:
    """No folder takes more entries than it may."""
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


def open_files(limit: int) -> str | None:
    """No process has more files open than it may."""
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


def processes(limit: int) -> str | None:
    """No more processes run than may."""
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
