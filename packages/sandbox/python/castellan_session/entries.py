"""What is in a folder of a session: looked at as it is, no link is followed."""

import os
import stat

from . import names

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened in the one that it is in."""

Entry = dict[str, object]
"""`ReportedEntry` of `Report.ts`."""


def entry_of(path: str, entry: "os.DirEntry[str]") -> Entry:
    """An entry as the host is told of it."""
    about = entry.stat(follow_symlinks=False)
    kind = _kind(about.st_mode)
    return {"path": names.told(path), "kind": kind, "size": about.st_size if kind == "file" else 0}


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def status_of(name: str, folder: int) -> os.stat_result | None:
    """What a name in a folder is; nothing where it is not there."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def is_folder(name: str, folder: int) -> bool:
    """Whether a name in a folder is that of a folder."""
    found = status_of(name, folder)
    return found is not None and stat.S_ISDIR(found.st_mode)
