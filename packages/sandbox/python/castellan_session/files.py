"""The files of a session, below one folder. Programs change them at any moment, so nothing here goes by a whole path:
each folder is opened in the one before it, links are not followed, and what is no plain file is not opened."""

import os
import stat
from collections.abc import Iterator

from . import contents, failure, names
from .contents import FILE
from .emptying import empty
from .entries import FOLDER, Entry, entry_of, status_of
from .failure import Failure
from .paths import MAXIMUM_DEPTH, segments
from .writing import Writing

MAXIMUM_LISTED = 10_000
"""Entries of one folder that are listed."""

BATCH = 500
"""Entries that are told at once."""


class Files:
    """Operations on files below a root. Every one raises `Failure` where it cannot be done."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._counter = 0

    def close(self) -> None:
        os.close(self._root)

    def folder(self, parts: list[str], make: bool = False) -> int:
        """Opens a folder; the caller closes it."""
        at = os.dup(self._root)
        try:
            for part in parts:
                try:
                    below = os.open(part, FOLDER, dir_fd=at)
                except FileNotFoundError:
                    if not make:
                        raise
                    os.mkdir(part, 0o755, dir_fd=at)
                    below = os.open(part, FOLDER, dir_fd=at)
                except NotADirectoryError as error:
                    if not make:
                        raise
                    at_path = names.told("/".join(parts))
                    raise Failure("invalid", f"{at_path}: a file or a link is where a folder has to be") from error
                os.close(at)
                at = below
            return at
        except OSError as error:
            os.close(at)
            raise failure.of(error, names.told("/".join(parts))) from error
        except Failure:
            os.close(at)
            raise

    def put(self, path: str) -> Writing:
        """Writes a file, in the place of what is there, once all of it has come."""
        parts = segments(path)
        if not parts:
            raise Failure("invalid", "the root is no file")
        self._counter += 1
        return Writing(self.folder(parts[:-1], make=True), parts[-1], f".castellan-{os.getpid()}-{self._counter}")

    def get(self, path: str) -> tuple[int, Iterator[bytes]]:
        """The size of a file and its content, in pieces."""
        parts = segments(path)
        if not parts:
            raise Failure("invalid", "the root is no file")
        folder = self.folder(parts[:-1])
        try:
            fd = os.open(parts[-1], FILE, dir_fd=folder)
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(folder)
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            os.close(fd)
            raise Failure("invalid", f"{names.told(path)}: it is no file")
        return about.st_size, contents.pieces(fd, about.st_size)

    def entries(self, path: str) -> list[Entry]:
        """The entries of a folder."""
        parts = segments(path)
        fd = self.folder(parts)
        try:
            entries: list[Entry] = []
            with os.scandir(fd) as found:
                for entry in found:
                    if len(entries) == MAXIMUM_LISTED:
                        raise Failure("too_many_files", f"the folder has more than {MAXIMUM_LISTED} entries")
                    entries.append(entry_of("/".join([*parts, entry.name]), entry))
            return entries
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(fd)

    def remove(self, path: str) -> None:
        """Removes a file, or whatever is there that is no folder."""
        parts = segments(path)
        if not parts:
            raise Failure("invalid", "the root cannot be removed")
        folder = self.folder(parts[:-1])
        try:
            os.unlink(parts[-1], dir_fd=folder)
        except IsADirectoryError as error:
            raise Failure("invalid", f"{names.told(path)}: it is a folder") from error
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(folder)

    def clear(self, path: str) -> None:
        """Makes a folder empty, whatever is in it; makes it where it is not there."""
        parts = segments(path)
        if not parts:
            raise Failure("invalid", "the root cannot be replaced")
        parent = self.folder(parts[:-1], make=True)
        try:
            about = status_of(parts[-1], parent)
            if about is not None and not stat.S_ISDIR(about.st_mode):
                os.unlink(parts[-1], dir_fd=parent)
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(parent)
        fd = self.folder(parts, make=True)
        try:
            empty(fd)
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(fd)

    def tree(self, path: str, maximum: int) -> Iterator[list[Entry]]:
        """Everything below a folder, files with their digests, a few at a time."""
        parts = segments(path)
        pending: list[list[str]] = [[]]
        count = 0
        batch: list[Entry] = []
        while pending:
            below = pending.pop()
            try:
                fd = self.folder([*parts, *below])
            except Failure as gone:
                # What went away, or was made something else, since it was seen is told by the next reader.
                if below and gone.reason == "not_found":
                    continue
                raise
            try:
                with os.scandir(fd) as found:
                    entries: list[os.DirEntry[str]] = []
                    for entry in found:
                        count += 1
                        if count > maximum:
                            raise Failure("too_many_files", f"there are more than {maximum} files and folders")
                        entries.append(entry)
                for entry in entries:
                    path = "/".join([*below, entry.name])
                    told: Entry = {"path": names.told(path), "kind": "other", "size": 0}
                    yields = 0
                    try:
                        # A folder that may be read and not be entered has names, of what nobody can look at.
                        told = entry_of(path, entry)
                        if told["kind"] == "file":
                            for _ in contents.digest(fd, entry.name, told):
                                yields += 1
                                if yields % 16 == 0:
                                    yield []
                    except FileNotFoundError:
                        continue
                    except PermissionError:
                        told["kind"] = "other"
                    if told["kind"] == "directory":
                        if len(below) + len(parts) + 1 >= MAXIMUM_DEPTH:
                            raise Failure(
                                "too_many_files", f"there are more than {MAXIMUM_DEPTH} folders within each other"
                            )
                        pending.append([*below, entry.name])
                    batch.append(told)
                    if len(batch) >= BATCH:
                        yield batch
                        batch = []
            except OSError as error:
                raise failure.of(error, names.told("/".join([*parts, *below]))) from error
            finally:
                os.close(fd)
        yield batch
