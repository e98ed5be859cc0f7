"""A file of a session that the host writes."""

import os

from . import failure, names
from .failure import Failure

_new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
