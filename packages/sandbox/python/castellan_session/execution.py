"""An execution as the supervisor keeps it while it goes on."""

from . import frames
from .changes import ChangedFiles
from .host import Host


class Execution:
    """Where its reports go, and how much output it may still have."""

    def __init__(self, host: Host, id: int, nonce: str, output_bytes: int) -> None:
        self._host = host
        self.id = id
        self._nonce = nonce
        self._left = output_bytes
        self._dropped = 0
        self.interrupted = False
        self.violated = False

    def report(self, event: str, payload: bytes = b"", **more: object) -> None:
        """Tells the host something of it."""
        self._host.tell(self.id, self._nonce, event, payload, **more)

    def begin(self) -> None:
        """Tells that it began, with whatever comes next: a program that is over at once is told of at once."""
        self._host.hold(self.id, self._nonce, "started")

    def output(self, stream: str, data: bytes) -> None:
        """Passes output on as far as it may be, and counts the rest."""
        shown = data[: self._left]
        self._left -= len(shown)
        self._dropped += len(data) - len(shown)
        if shown:
            self.report("output", shown, stream=stream, bytes=len(shown))

    def violate(self, what: str) -> None:
        """Marks it as having broken the protocol, once."""
        if not self.violated:
            self.violated = True
            self.report("error", name="ProtocolViolation", message=what, traceback=[])

    def finish(self, changes: ChangedFiles, outcome: str, code: int, dataframes: list[frames.Head]) -> None:
        """Tells how it ended, with the files that were changed and the dataframes that it made or changed."""
        files, more = changes.look()
        if more:
            note = b"[more files were changed than are listed]\n"
            self.report("output", note, stream="stderr", bytes=len(note))
        self.report(
            "finished",
            outcome=outcome,
            exit_code=code,
            files=files,
            dataframes=dataframes,
            dropped_bytes=self._dropped,
        )
