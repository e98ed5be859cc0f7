"""The interpreter of a session: takes requests of the supervisor one after another, keeps the program's variables.

The program shares this process with it. Whatever it breaks here is its own session's: the supervisor believes nothing.
"""

import mmap
import os
import sys
import threading

from castellan import _cell, _figures, _host

from . import frames, plain
from .interrupts import Interrupts
from .kernel_channel import Channel

Piece = bytes | bytearray | memoryview


class Kernel:
    """One life of the session's Python."""

    def __init__(self, fd: int, word: mmap.mmap) -> None:
        self._pid = os.getpid()
        self._interrupts = Interrupts(word)
        self._interrupts.install()
        self._channel = Channel(fd, self._interrupts)
        plain.standard_streams()
        self._streams = (sys.stdout, sys.stderr)
        self._host = SessionHost(self._channel)
        _host.current = self._host
        _cell.reseed()
        self._cells = _cell.Cells(plain.fresh_main().__dict__)
        sys.argv = [""]

    def run(self) -> None:
        """Answers requests until the supervisor is gone."""
        while True:
            try:
                head, payload = self._channel.receive()
            except EOFError:
                os._exit(0)
            token = head["token"]
            op = head["op"]
            if op == "execute":
                self._execute(token, head["sequence"], payload)
            elif op == "bind":
                self._bind(token, head["name"], payload)
            elif op == "export":
                self._export(token, head["name"])
            # After the answer: nobody waits for it.
            self._restore()

    def _execute(self, token: str, sequence: int, payload: bytes) -> None:
        self._host.token = token
        code = payload.decode("utf-8", "replace")
        try:
            ending = self._interrupts.run(sequence, lambda: self._cells.run(code))
        except KeyboardInterrupt as stopped:
            ending = _cell.interrupted() if self._interrupts.struck else _cell.failed(stopped)
        if os.getpid() != self._pid:
            # The program forked, and this is the other one: it has no session.
            plain.flush()
            os._exit(ending.exit_code)
        plain.flush()
        self._host.waits = False
        if ending.error is not None:
            self._send(token, "error", **ending.error)
        told = self._cells.dataframes()
        self._host.token = ""
        self._host.waits = True
        self._send(
            token,
            "finished",
            outcome=ending.outcome,
            exit_code=ending.exit_code,
            all=told.all,
            changed=told.changed,
        )

    def _restore(self) -> None:
        """Puts back what the next execution needs and this one may have taken away."""
        _figures.forget()
        self._interrupts.install()
        for name, stream in zip(("stdout", "stderr"), self._streams):
            present = getattr(sys, name, None)
            if present is None or getattr(present, "closed", False):
                setattr(sys, name, stream)

    def _bind(self, token: str, name: str, payload: bytes) -> None:
        try:
            bound = self._cells.bind(name, payload)
        except MemoryError:
            self._refuse(token, "exhausted", "the dataframe has no room in the session's memory")
        except Exception as error:
            self._refuse(token, "invalid", f"the dataframe cannot be made: {type(error).__name__}: {error}")
        else:
            self._send(token, "done", dataframe=bound, all=self._cells.dataframes().all)

    def _export(self, token: str, name: str) -> None:
        try:
            for piece in self._cells.export(name):
                self._send(token, "data", piece, bytes=len(piece))
        except KeyError:
            self._refuse(token, "not_found", f"the session has no dataframe {name}")
        except MemoryError:
            self._refuse(token, "exhausted", "the session has no memory to hand the dataframe out")
        except Exception as error:
            self._refuse(token, "invalid", f"the dataframe cannot be handed out: {type(error).__name__}: {error}")
        else:
            self._send(token, "done")

    def _refuse(self, token: str, reason: str, message: str) -> None:
        self._send(token, "failed", reason=reason, message=message[:4096])

    def _send(self, token: str, event: str, payload: Piece = b"", **more: object) -> None:
        self._channel.send({"event": event, "token": token, **more}, payload)


class SessionHost:
    """What a program reaches of its host: it shows values, and asks for SQL over its dataframes."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._calls = 0
        # One wait at a time: a thread must not take the answer that another waits for.
        self._lock = threading.RLock()
        self.token = ""
        self.waits = True

    def display(self, forms: list[tuple[str, bytes]]) -> None:
        """Shows a value in several forms, the richest first."""
        token = self.token
        if token == "":
            # A thread that goes on after its execution ended has nobody to show anything to.
            return
        with self._lock:
            self._display(token, forms)

    def _display(self, token: str, forms: list[tuple[str, bytes]]) -> None:
        plain.flush()
        waits = self.waits
        kept = _fitting(forms)
        payload = b"".join(body for _, body in kept)
        told = [{"media_type": media_type, "bytes": len(body)} for media_type, body in kept]
        self._channel.send(
            {"event": "rich", "token": token, "forms": told, "bytes": len(payload), "waits": waits}, payload
        )
        if waits:
            # What is printed after it comes after it.
            self._receive("taken", 0)

    def query(self, statement: str, tables: list[tuple[str, list[Piece]]]) -> bytes:
        """Asks the host for SQL over tables, each an Arrow IPC stream in pieces; answers such a stream."""
        token = self.token
        if token == "":
            raise RuntimeError("SQL can be asked for while an execution runs")
        with self._lock:
            return self._query(token, statement, tables)

    def _query(self, token: str, statement: str, tables: list[tuple[str, list[Piece]]]) -> bytes:
        self._calls += 1
        plain.flush()
        told = [{"name": name, "bytes": sum(len(piece) for piece in pieces)} for name, pieces in tables]
        for _, pieces in tables:
            for piece in pieces:
                for at in range(0, len(piece), _PIECE):
                    part = piece[at : at + _PIECE]
                    self._channel.send({"event": "data", "token": token, "bytes": len(part)}, part)
        text = statement.encode("utf-8", "replace")
        self._channel.send(
            {"event": "call", "token": token, "call": self._calls, "tables": told, "bytes": len(text)}, text
        )
        head, payload = self._receive("answer", self._calls)
        error = head.get("error")
        if error is not None:
            raise _host.QueryFailed(error)
        return payload

    def _receive(self, op: str, call: int) -> tuple[frames.Head, bytes]:
        while True:
            head, payload = self._channel.receive()
            # What answers an earlier wait, which an interrupt ended, is nobody's.
            if head["op"] == op and head["token"] == self.token and head.get("call", 0) == call:
                return head, payload


_PIECE = 1 << 20


def _fitting(forms: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The forms that fit into one frame; those that are left out are the ones that do not."""
    kept: list[tuple[str, bytes]] = []
    size = 0
    for media_type, body in forms:
        if size + len(body) <= frames.MAXIMUM_PAYLOAD:
            size += len(body)
            kept.append((media_type, body))
    return kept
