"""Which files an execution made or changed: two looks at the names, sizes and times, bounded."""

import os
import stat

from . import names
from .failure import Failure
from .files import Files
from .paths import MAXIMUM_DEPTH

MAXIMUM_SEEN = 10_000
"""Files that are looked at. Beyond, changes are told of those alone, and that there are more."""

MAXIMUM_TOLD = 1_000
"""Files that are told of one execution."""

MAXIMUM_TOLD_BYTES = 256 * 1024
"""Bytes of their names together, so that they fit into a frame."""

_unwatched = frozenset({"library", "uploads"})


def is_unwatched(path: str) -> bool:
    """Whether changes of a file are no result of an execution."""
    return path.split("/", 1)[0] in _unwatched


Mark = tuple[int, int, int]


class ChangedFiles:
    """Remembers the files as they were."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._seen: dict[str, Mark] = {}

    def look(self) -> tuple[list[str], bool]:
        """The files that were made or changed since the last look, and whether there are more than are told."""
        now, more = self._marks()
        before, self._seen = self._seen, now
        changed = sorted(path for path, mark in now.items() if before.get(path) != mark)
        told: list[str] = []
        size = 0
        for path in changed:
            # A name that is told differently from what it is names no file to the host.
            if not names.is_plain(path):
                continue
            size += len(path) * 6
            if len(told) == MAXIMUM_TOLD or size > MAXIMUM_TOLD_BYTES:
                return told, True
            told.append(path)
        return told, more

    def forget(self) -> None:
        """Takes the files as they are now for known: after the host changed some of them."""
        self._seen, _ = self._marks()

    def _marks(self) -> tuple[dict[str, Mark], bool]:
        marks: dict[str, Mark] = {}
        pending: list[list[str]] = [[]]
        seen = 0
        while pending:
            parts = pending.pop()
            try:
                fd = self._files.folder(parts)
            except Failure:
                continue
            try:
                with os.scandir(fd) as found:
                    for entry in found:
                        if entry.name.startswith("."):
                            # What hides is no result; libraries keep their caches so.
                            continue
                        seen += 1
                        if seen > MAXIMUM_SEEN:
                            return marks, True
                        path = [*parts, entry.name]
                        try:
                            # That it is a folder is told by the one that it is in.
                            if entry.is_dir(follow_symlinks=False):
                                if len(path) < MAXIMUM_DEPTH and (parts or entry.name not in _unwatched):
                                    pending.append(path)
                                continue
                            about = entry.stat(follow_symlinks=False)
                        except OSError:
                            continue
                        if stat.S_ISREG(about.st_mode):
                            marks["/".join(path)] = (about.st_mtime_ns, about.st_size, about.st_ino)
            except OSError:
                # The folder went away while it was read: what is in it is gone as well.
                continue
            finally:
                os.close(fd)
        return marks, False
