"""The raw bytes of the commands `put` and `mount`, on their way into files."""

from collections.abc import Callable

from .failure import Failure
from .files import Files
from .writing import Writing


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
