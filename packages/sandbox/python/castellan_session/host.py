"""The host, as the supervisor answers it."""

from . import frames
from .failure import Failure
from .loop import Connection


class Host:
    """Reports that answer a command: they name it, and repeat its nonce."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def tell(self, id: int, nonce: str, event: str, payload: bytes = b"", **more: object) -> None:
        """Something on the way to the answer."""
        head: frames.Head = {"event": event, "id": id, "nonce": nonce, **more}
        self.connection.send(head, payload)

    def hold(self, id: int, nonce: str, event: str) -> None:
        """The same, but it may wait a moment for what comes next."""
        self.connection.hold({"event": event, "id": id, "nonce": nonce})

    def done(self, id: int, nonce: str, **more: object) -> None:
        """It was done."""
        self.tell(id, nonce, "done", b"", **more)

    def fail(self, id: int, nonce: str, failed: Failure) -> None:
        """It was not done, and why."""
        self.tell(id, nonce, "failed", reason=failed.reason, message=failed.message[:4096])
