"""An execution as the supervisor keeps it while it goes on."""

from . import frames
from .loop import Connection


class Execution:
    """Where its reports go, and how much output it may still have."""

    def __init__(self, host: Connection, id: int, nonce: str, output_bytes: int) -> None:
        self._host = host
        self.id = id
        self._nonce = nonce
        self._left = output_bytes
        self.dropped = 0
        self.interrupted = False
        self.violated = False
        self.ended = False

    def report(self, event: str, payload: bytes = b"", **more: object) -> None:
        """Tells the host something of it."""
        head: frames.Head = {"event": event, "id": self.id, "nonce": self._nonce, **more}
        self._host.send(head, payload)

    def output(self, stream: str, data: bytes) -> None:
        """Passes output on as far as it may be, and counts the rest."""
        shown = data[: self._left]
        self._left -= len(shown)
        self.dropped += len(data) - len(shown)
        if shown:
            self.report("output", shown, stream=stream, bytes=len(shown))

    def violate(self, what: str) -> None:
        """Marks it as having broken the protocol, once."""
        if not self.violated:
            self.violated = True
            self.report("error", name="ProtocolViolation", message=what, traceback=[])
