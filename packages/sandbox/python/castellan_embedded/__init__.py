"""The session's Python inside Pyodide: what the interpreter of a Linux session does in a process of its own, done in
one that the thread around it, written in JavaScript, hands requests to.

Nothing here touches JavaScript while it is imported: a snapshot of the memory is taken after that. `start` is called
in every session with the bridge to the thread.
"""

import io
import json
import os
import sys
import time
import types
from typing import Any, NoReturn, Protocol

from castellan import _cell, _dataframes, _display, _figures, _host, _traceback

PIECE = 1 << 20
"""Bytes that are sent to the host at once."""

MAXIMUM_RICH = 8 * 1024 * 1024 - 65536
"""Bytes of one displayed value in all its forms."""


class Bridge(Protocol):
    """What the thread offers. Contents cross as bytes and are copied."""

    def send(self, head: str, payload: "Any | None") -> None:
        """Tells the host something of the running execution; `head` is JSON."""

    def arm(self) -> None:
        """From here on an interrupt is raised."""

    def disarm(self) -> None:
        """From here on it is not."""

    def struck(self) -> bool:
        """Whether the execution that runs was interrupted."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits, or until an interrupt."""

    def call(self, tables: str, statement: "Any") -> "Any":
        """Asks the host for SQL; answers `[kind, content]`, the kind being `result`, `error` or `interrupted`."""


class EmbeddedHost:
    """What a program reaches of its host."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.open = False

    def send(self, event: str, payload: bytes = b"", **more: object) -> None:
        """Tells the host something of the execution that runs."""
        from pyodide.ffi import to_js

        flush()
        self._bridge.send(json.dumps({"event": event, **more}), to_js(payload) if payload else None)

    def display(self, forms: list[tuple[str, bytes]]) -> None:
        """Shows a value in several forms, the richest first; a form that has no room is left out."""
        if not self.open:
            return
        kept: list[tuple[str, bytes]] = []
        room = MAXIMUM_RICH
        for media_type, body in forms:
            if len(body) <= room:
                room -= len(body)
                kept.append((media_type, body))
        told = [{"media_type": media_type[:1024], "bytes": len(body)} for media_type, body in kept]
        self.send("rich", b"".join(body for _, body in kept), forms=told)

    def query(self, statement: str, tables: list[tuple[str, list[bytes]]]) -> bytes:
        """Asks the host for SQL over tables, each an Arrow IPC stream in pieces; answers one."""
        if not self.open:
            raise RuntimeError("SQL can be asked for while an execution runs")
        from pyodide.ffi import to_js

        for _, pieces in tables:
            for piece in pieces:
                for at in range(0, len(piece), PIECE):
                    self.send("data", bytes(piece[at : at + PIECE]))
        flush()
        told = [{"name": name, "bytes": sum(len(piece) for piece in pieces)} for name, pieces in tables]
        kind, content = self._bridge.call(json.dumps(told), to_js(statement.encode("utf-8", "replace")))
        if kind == "interrupted":
            raise KeyboardInterrupt
        answer = bytes(content.to_bytes())
        if kind == "error":
            raise _host.QueryFailed(answer.decode("utf-8", "replace"))
        return answer


def flush() -> None:
    """Writes what the streams still hold, as far as they are there."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # The program closed or replaced it: what it held is its own loss.
            continue


def _fresh_main() -> types.ModuleType:
    """The module that a program is."""
    import builtins

    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return module


def _no_processes(*_arguments: object, **_more: object) -> NoReturn:
    raise OSError("there are no other processes in this sandbox; shell commands run as executions of their own")


class Kernel:
    """One life of the session's Python."""

    def __init__(self, bridge: Bridge, environment: str) -> None:
        self._bridge = bridge
        os.environ.clear()
        os.environ.update(json.loads(environment))
        # What is printed is seen at once, also by those who follow a program that never ends.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", write_through=True)
        self._streams = (sys.stdout, sys.stderr)
        self._host = EmbeddedHost(bridge)
        _host.current = self._host
        # The memory that this began with is the same in every session: random numbers start anew, hashes of text
        # cannot (no secret hangs on them here, and the dictionaries of a session are its own).
        _cell.reseed()
        # The thread's sleep ends at an interrupt, the interpreter's does not; and a command of the system would be
        # the end of the interpreter.
        time.sleep = self._sleep
        os.system = _no_processes
        self._cells = _cell.Cells(_fresh_main().__dict__)
        sys.argv = [""]

    def _sleep(self, seconds: float, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        flush()
        self._bridge.sleep(float(seconds))

    def execute(self, code: str) -> str:
        """Runs a program in the session; answers its ending as JSON."""
        for name, stream in zip(("stdout", "stderr"), self._streams):
            present = getattr(sys, name, None)
            if present is None or getattr(present, "closed", False):
                setattr(sys, name, stream)
        self._host.open = True
        ending = _cell.interrupted()
        try:
            try:
                self._bridge.arm()
                ending = self._cells.run(code)
            finally:
                self._bridge.disarm()
        except KeyboardInterrupt as stopped:
            # A program may raise one itself, as a library may.
            ending = _cell.interrupted() if self._bridge.struck() else _cell.failed(stopped)
        flush()
        if ending.error is not None:
            self._host.send("error", **ending.error)
        told = self._cells.dataframes()
        _figures.forget()
        self._host.open = False
        return json.dumps({"outcome": ending.outcome, "exit_code": ending.exit_code, **_told(told)})

    def execute_alone(self, code: str, environment: str) -> str:
        """Runs a program as `python3 -c` does, in an interpreter that is thrown away afterwards."""
        os.environ.update(json.loads(environment))
        sys.argv = ["-c"]
        _cell.answer_no_input()
        self._host.open = True
        outcome, status = "completed", 0
        try:
            try:
                self._bridge.arm()
                exec(_cell.compiled(code, "<command>"), _fresh_main().__dict__)
            finally:
                self._bridge.disarm()
        except SystemExit as leaving:
            status = _cell.exit_code(leaving)
            if status == 1 and leaving.code is not None and type(leaving.code) is not int:
                print(leaving.code, file=sys.stderr)
        except KeyboardInterrupt:
            outcome, status = "interrupted" if self._bridge.struck() else "failed", 130
        except BaseException as error:
            status = 1
            print("\n".join(_traceback.lines(error)), file=sys.stderr)
        flush()
        self._host.open = False
        if outcome == "completed" and status != 0:
            outcome = "failed"
        return json.dumps({"outcome": outcome, "exit_code": status, "dataframes": [], "changed": []})

    def bind(self, name: str, stream: Any) -> str:
        """Makes a dataframe of an Arrow IPC stream; answers the protocol's `done` or `failed` as JSON."""
        try:
            bound = self._cells.bind(name, stream.to_bytes())
        except MemoryError:
            return _failed("exhausted", "the dataframe has no room in the session's memory")
        except Exception as error:
            return _failed("invalid", f"the dataframe cannot be made: {type(error).__name__}: {error}")
        return json.dumps({"event": "done", "dataframe": bound, "dataframes": self._cells.dataframes().all})

    def export(self, name: str) -> str:
        """Hands a dataframe out in `data` frames; answers the protocol's `done` or `failed` as JSON."""
        try:
            for piece in self._cells.export(name):
                for at in range(0, len(piece), PIECE):
                    self._host.send("data", bytes(piece[at : at + PIECE]))
        except KeyError:
            return _failed("not_found", f"the session has no dataframe {name}")
        except MemoryError:
            return _failed("exhausted", "the session has no memory to hand the dataframe out")
        except Exception as error:
            return _failed("invalid", f"the dataframe cannot be handed out: {type(error).__name__}: {error}")
        return json.dumps({"event": "done"})


def _told(told: _dataframes.Told) -> dict[str, Any]:
    return {"dataframes": told.all, "changed": list(told.changed)}


def _failed(reason: str, message: str) -> str:
    return json.dumps({"event": "failed", "reason": reason, "message": message[:4096]})


def start(bridge: Bridge, environment: str) -> Kernel:
    """Begins the life of a session's Python."""
    return Kernel(bridge, environment)


def warm() -> None:
    """Imports what programs commonly use, before a snapshot is taken of the memory."""
    for name in _COMMON:
        __import__(name)
    _display.display()


_COMMON = (
    "asyncio",
    "base64",
    "calendar",
    "collections",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "glob",
    "hashlib",
    "html",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "pathlib",
    "pprint",
    "pyodide.ffi",
    "random",
    "re",
    "shutil",
    "sqlite3",
    "statistics",
    "string",
    "struct",
    "tempfile",
    "textwrap",
    "traceback",
    "typing",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "zipfile",
    "zlib",
    "zoneinfo",
)
