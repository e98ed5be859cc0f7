"""The dataframes of the session's Python: which there are, and those that go in and out of it."""

from . import claims, frames
from .failure import Failure
from .host import Host
from .interpreter import Interpreter
from .loop import Forward


class Asked:
    """A command that waits for the interpreter: `bind` or `export`."""

    def __init__(self, id: int, nonce: str, op: str) -> None:
        self.id = id
        self.nonce = nonce
        self.op = op


class Dataframes:
    """Those of one interpreter; another one has none."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._asked: dict[str, Asked] = {}
        self.all: list[frames.Head] = []

    def bind(self, interpreter: Interpreter, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        """Passes a table on that becomes one."""
        token = interpreter.ask("bind", name=claims.text(head["name"]), bytes=head["bytes"])
        self._asked[token] = Asked(id, nonce, "bind")
        return Forward(interpreter.channel)

    def export(self, interpreter: Interpreter, id: int, nonce: str, head: frames.Head) -> None:
        """Asks for one as a table."""
        token = interpreter.ask("export", name=claims.text(head["name"]))
        self._asked[token] = Asked(id, nonce, "export")

    def asked(self, token: object) -> Asked | None:
        """The command that a frame with this token answers, where it is one."""
        return self._asked.get(token) if isinstance(token, str) else None

    def answer(self, asked: Asked, head: frames.Head) -> frames.Sink:
        """Passes on what the interpreter answers; raises `claims.Unfit` where that is no answer."""
        event = head["event"]
        if event == "data" and asked.op == "export":
            self._host.tell(asked.id, asked.nonce, "data", bytes=claims.count(head.get("bytes", 0)))
            return Forward(self._host.connection)
        if head.get("bytes", 0) != 0:
            raise claims.Unfit
        del self._asked[head["token"]]
        try:
            self._end(asked, head)
        except (claims.Unfit, KeyError, TypeError):
            # It was forged, and no other answer is taken for one: nobody is kept waiting for it.
            forged = Failure("invalid", "the session's Python did not say what became of the dataframe")
            self._host.fail(asked.id, asked.nonce, forged)
            raise
        return frames.Discard()

    def _end(self, asked: Asked, head: frames.Head) -> None:
        if head["event"] != "done":
            reason = head.get("reason")
            known = reason if reason in ("not_found", "invalid", "exhausted") else "invalid"
            self._host.fail(asked.id, asked.nonce, Failure(str(known), claims.text(head.get("message", ""))))
        elif asked.op == "bind":
            frame = claims.dataframe(head["dataframe"])
            self.set(head["all"])
            self._host.done(asked.id, asked.nonce, dataframe=frame)
        else:
            self._host.done(asked.id, asked.nonce)

    def set(self, told: object) -> None:
        """Takes over which there are from now on, as the interpreter tells it."""
        self.all = [claims.dataframe(frame) for frame in claims.list_of(told, 1000)]

    def lose(self) -> None:
        """The interpreter is gone, and they with it: whoever waits for one is told."""
        for asked in self._asked.values():
            self._host.fail(asked.id, asked.nonce, Failure("exhausted", "the session's Python had to be started anew"))
        self._asked.clear()
        self.all = []
