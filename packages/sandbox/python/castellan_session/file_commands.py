"""The host's commands about files: answered at once, or in pieces, as the host takes them."""

from collections import deque
from collections.abc import Callable, Iterator

from . import frames, names
from .changes import ChangedFiles, is_unwatched
from .failure import Failure
from .files import Files
from .host import Host
from .put_sink import PutSink


class FileCommands:
    """Puts, gets, lists and removes. What takes long is a number of steps that others are not kept waiting by."""

    def __init__(self, host: Host, files: Files, changes: ChangedFiles, runs: Callable[[], bool]) -> None:
        self._host = host
        self._files = files
        self._changes = changes
        self._runs = runs
        self._work: deque[Iterator[None]] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether there are steps to be gone."""
        return bool(self._work)

    def step(self) -> None:
        """Goes one step of what has waited longest."""
        work = self._work.popleft()
        try:
            next(work)
        except StopIteration:
            return
        self._work.append(work)

    def put(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        return self._writing(id, nonce, [(head["path"], head["bytes"])])

    def mount(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        prefix = head["path"]
        self._files.clear(prefix)
        return self._writing(id, nonce, [(f"{prefix}/{file['path']}", file["bytes"]) for file in head["files"]])

    def _writing(self, id: int, nonce: str, wanted: list[tuple[str, int]]) -> frames.Sink:
        def ended(failed: Failure | None) -> None:
            self._look_away(wanted[0][0] if len(wanted) == 1 else "")
            if failed is None:
                self._host.done(id, nonce)
            else:
                self._host.fail(id, nonce, failed)

        return PutSink(self._files, wanted, ended)

    def _look_away(self, path: str) -> None:
        """What the host wrote was not made by what runs; what that made in the meantime is told all the same."""
        if not self._runs() and not is_unwatched(path):
            self._changes.forget()

    def get(self, id: int, nonce: str, head: frames.Head) -> None:
        _size, pieces = self._files.get(head["path"])

        def steps() -> Iterator[None]:
            for piece in pieces:
                self._host.tell(id, nonce, "data", piece, bytes=len(piece))
                yield

        self._begin(id, nonce, head["path"], steps())

    def entries(self, id: int, nonce: str, head: frames.Head) -> None:
        entries = self._files.entries(head["path"])
        for at in range(0, len(entries), 500):
            self._host.tell(id, nonce, "entries", entries=entries[at : at + 500])
        self._host.done(id, nonce)

    def tree(self, id: int, nonce: str, head: frames.Head) -> None:
        def steps() -> Iterator[None]:
            for batch in self._files.tree(head["path"], head["maximumEntries"]):
                if batch:
                    self._host.tell(id, nonce, "entries", entries=batch)
                yield

        self._begin(id, nonce, head["path"], steps())

    def _begin(self, id: int, nonce: str, path: str, steps: Iterator[None]) -> None:
        """Goes through steps as the host takes what they send, and says at the end how it went."""

        def all_steps() -> Iterator[None]:
            try:
                yield from steps
                self._host.done(id, nonce)
            except Failure as refused:
                self._host.fail(id, nonce, refused)
            except OSError:
                self._host.fail(id, nonce, Failure("invalid", f"{names.told(path)}: it cannot be read"))

        self._work.append(all_steps())

    def remove(self, id: int, nonce: str, head: frames.Head) -> None:
        self._files.remove(head["path"])
        self._look_away(head["path"])
        self._host.done(id, nonce)
