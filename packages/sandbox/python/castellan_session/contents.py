"""What is in the files of a session: of plain files alone, and no more than they had when they were opened."""

import hashlib
import os
import stat
from collections.abc import Iterator

from .entries import Entry

PIECE = 256 * 1024
"""Bytes of a file that are read at once."""

FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""How a file is opened in its folder: what is no file may be there, which must not be waited for."""


def pieces(fd: int, size: int) -> Iterator[bytes]:
    """The bytes of an open file, which is closed at their end."""
    # No more than it had when it was opened: a program may write to it without an end.
    try:
        while size > 0:
            data = os.read(fd, min(PIECE, size))
            if data == b"":
                return
            size -= len(data)
            yield data
    finally:
        os.close(fd)


def digest(folder: int, name: str, told: Entry) -> Iterator[None]:
    """Reads a file once for its size and its digest."""
    fd = os.open(name, FILE, dir_fd=folder)
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        told["kind"] = "other"
        return
    state = hashlib.sha256()
    size = 0
    for piece in pieces(fd, about.st_size):
        state.update(piece)
        size += len(piece)
        yield
    told["size"] = size
    told["digest"] = state.hexdigest()
