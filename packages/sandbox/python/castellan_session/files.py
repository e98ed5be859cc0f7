"""The files of a session, below one folder. Programs change them at any moment, so nothing here goes by a whole path:
each folder is opened in the one before it, links are not followed, and what is no plain file is not opened."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from . import failure, names
from .failure import Failure

MAXIMUM_DEPTH = 64
"""Folders within each other that are walked."""

MAXIMUM_LISTED = 10_000
"""Entries of one folder that are listed."""

PIECE = 256 * 1024
"""Bytes of a file that are read at once."""

BATCH = 500
"""Entries that are told at once."""

_folder = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_file = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Entry = dict[str, object]


def segments(path: str) -> list[str]:
    """The names that a path leads through; the root's is empty."""
    if path == "":
        return []
    parts = path.split("/")
    for part in parts:
        if part in ("", ".", "..") or "\0" in part or len(part.encode("utf-8", "surrogatepass")) > 255:
            raise Failure("invalid", "a path has a name that no file can have")
        if any(0xD800 <= ord(letter) <= 0xDFFF for letter in part):
            raise Failure("invalid", "a path is no Unicode")
    if len(parts) > MAXIMUM_DEPTH:
        raise Failure("invalid", f"a path leads through more than {MAXIMUM_DEPTH} folders")
    return parts


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


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
        os.set_inheritable(at, False)
        try:
            for part in parts:
                try:
                    below = os.open(part, _folder, dir_fd=at)
                except FileNotFoundError:
                    if not make:
                        raise
                    os.mkdir(part, 0o755, dir_fd=at)
                    below = os.open(part, _folder, dir_fd=at)
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

    def put(self, path: str) -> "Writing":
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
            fd = os.open(parts[-1], _file, dir_fd=folder)
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(folder)
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            os.close(fd)
            raise Failure("invalid", f"{names.told(path)}: it is no file")
        return about.st_size, _pieces(fd, about.st_size)

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
                    entries.append(_entry("/".join([*parts, entry.name]), entry))
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
            about = _stat(parts[-1], parent)
            if about is not None and not stat.S_ISDIR(about.st_mode):
                os.unlink(parts[-1], dir_fd=parent)
        except OSError as error:
            raise failure.of(error, names.told(path)) from error
        finally:
            os.close(parent)
        fd = self.folder(parts, make=True)
        try:
            _empty(fd)
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
                        told = _entry(path, entry)
                        if told["kind"] == "file":
                            for _ in _digest(fd, entry.name, told):
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


def _entry(path: str, entry: "os.DirEntry[str]") -> Entry:
    about = entry.stat(follow_symlinks=False)
    kind = _kind(about.st_mode)
    return {"path": names.told(path), "kind": kind, "size": about.st_size if kind == "file" else 0}


def _stat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _pieces(fd: int, size: int) -> Iterator[bytes]:
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


def _digest(folder: int, name: str, told: Entry) -> Iterator[None]:
    """Reads a file once for its size and its digest."""
    fd = os.open(name, _file, dir_fd=folder)
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        told["kind"] = "other"
        return
    digest = hashlib.sha256()
    size = 0
    for piece in _pieces(fd, about.st_size):
        digest.update(piece)
        size += len(piece)
        yield
    told["size"] = size
    told["digest"] = digest.hexdigest()


def _empty(top: int) -> None:
    """Removes everything in a folder with three descriptors and no recursion, however deep it is: a folder that is not
    empty moves up to the top under a new name, and its turn comes."""
    counter = 0
    while True:
        with os.scandir(top) as found:
            below = [entry.name for entry in found]
        if not below:
            return
        for name in below:
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            try:
                fd = os.open(name, _folder, dir_fd=top)
            except PermissionError:
                # It is our own, and closed to ourselves.
                os.chmod(name, 0o700, dir_fd=top)
                fd = os.open(name, _folder, dir_fd=top)
            try:
                os.fchmod(fd, 0o700)
                with os.scandir(fd) as found:
                    inner = [entry.name for entry in found]
                for deeper in inner:
                    if _is_folder(deeper, fd):
                        counter += 1
                        os.rename(deeper, f".castellan-removed-{os.getpid()}-{counter}", src_dir_fd=fd, dst_dir_fd=top)
                    else:
                        os.unlink(deeper, dir_fd=fd)
            finally:
                os.close(fd)
            os.rmdir(name, dir_fd=top)


def _is_folder(name: str, folder: int) -> bool:
    about = _stat(name, folder)
    return about is not None and stat.S_ISDIR(about.st_mode)


class Writing:
    """A file on its way in: under another name until all of it is there. It owns the descriptor of its folder."""

    def __init__(self, folder: int, name: str, temporary: str) -> None:
        self._folder = folder
        self._name = name
        self._temporary = temporary
        try:
            self._fd = os.open(temporary, _new, 0o644, dir_fd=folder)
        except OSError as error:
            os.close(folder)
            raise failure.of(error, names.told(name)) from error

    def write(self, data: bytes | memoryview) -> None:
        """Writes the next bytes; whoever gets a `Failure` calls `abandon`."""
        view = memoryview(data)
        try:
            while len(view) > 0:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise failure.of(error, names.told(self._name)) from error

    def commit(self) -> None:
        """Puts the file in its place."""
        os.close(self._fd)
        try:
            os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except IsADirectoryError as error:
            self._forget()
            raise Failure("invalid", f"{names.told(self._name)}: a folder is there") from error
        except OSError as error:
            self._forget()
            raise failure.of(error, names.told(self._name)) from error
        os.close(self._folder)

    def abandon(self) -> None:
        """Leaves what was there before."""
        os.close(self._fd)
        self._forget()

    def _forget(self) -> None:
        try:
            os.unlink(self._temporary, dir_fd=self._folder)
        except OSError:
            # A program may have taken it away: then there is nothing to remove.
            pass
        os.close(self._folder)


class PutSink:
    """Takes the raw bytes of files that follow one another, and says at the end how it went."""

    def __init__(self, files: Files, wanted: list[tuple[str, int]], then: Callable[[Failure | None], None]) -> None:
        self._files = files
        self._wanted = wanted
        self._then = then
        self._index = 0
        self._writing: Writing | None = None
        self._left = 0
        self._failed: Failure | None = None

    def _next(self) -> None:
        """Opens the next file that has bytes; those without are made on the way."""
        while self._failed is None and self._writing is None and self._index < len(self._wanted):
            path, size = self._wanted[self._index]
            self._index += 1
            try:
                self._writing = self._files.put(path)
                self._left = size
                if size == 0:
                    self._commit()
            except Failure as refused:
                self._fail(refused)

    def _commit(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.commit()

    def _fail(self, refused: Failure) -> None:
        self._failed = refused
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.abandon()

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view) > 0 and self._failed is None:
            self._next()
            writing = self._writing
            if writing is None:
                if self._failed is None:
                    self._failed = Failure("invalid", "there are more bytes than files")
                return
            piece = view[: self._left]
            view = view[len(piece) :]
            self._left -= len(piece)
            try:
                writing.write(piece)
                if self._left == 0:
                    self._commit()
            except Failure as refused:
                self._fail(refused)

    def end(self) -> None:
        self._next()
        if self._failed is None and self._writing is not None:
            self._fail(Failure("invalid", "there are fewer bytes than the files have"))
        self._then(self._failed)
