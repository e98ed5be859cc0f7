"""The supervisor: answers the host's commands, one event at a time."""

import os
import platform
from collections.abc import Callable

from . import children, forked, frames, processes
from .changes import ChangedFiles
from .execution import Execution
from .failure import Failure
from .file_commands import FileCommands
from .files import Files
from .host import Host
from .loop import Connection, Loop
from .programs import Programs
from .session_python import SessionPython

PROTOCOL = 1
"""`protocolVersion` of `Command.ts`."""

MAXIMUM_CODE = 16 * 1024 * 1024
"""Bytes of a program."""

HELD = 0.001
"""Seconds for which a frame may be held that says of a program that it began: most are over sooner, and told in one."""

Handler = Callable[[int, str, frames.Head], frames.Sink | None]
"""Carries a command out, by its id, its nonce and its head; answers where its raw bytes go, and raises `Failure`."""


class Supervisor:
    """One session."""

    def __init__(
        self,
        control_in: int,
        control_out: int,
        *,
        nonce: str,
        root: str,
        packages: list[str],
        environment: dict[str, str],
    ) -> None:
        processes.adopt_orphans()
        processes.close_to_others()
        os.chdir(root)
        # There is no screen: a figure is a picture.
        environment.setdefault("MPLBACKEND", "agg")
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        self._nonce = nonce
        self._packages = packages
        self._throttled = False
        files = Files(root)
        changes = ChangedFiles(files)
        self._loop = Loop()
        forked.keep_descriptors()
        outgoing = os.dup(control_out) if control_in == control_out else control_out
        self._host = Host(Connection(self._loop, control_in, outgoing, self._command, self._leave))
        self._files = FileCommands(self._host, files, changes, self._runs)
        self._programs = Programs(self._loop, changes, environment)
        children.watch(self._loop, self._child_ended)
        self._python = SessionPython(self._loop, self._host, changes, self._programs)
        self._handlers: dict[object, Handler] = {
            "execute": self._execute,
            "interrupt": self._interrupt,
            "kill": self._kill,
            "restart": self._restart,
            "bind": self._python.bind,
            "export": self._python.export,
            "answer": self._python.answer,
            "put": self._files.put,
            "get": self._files.get,
            "list": self._files.entries,
            "remove": self._files.remove,
            "mount": self._files.mount,
            "tree": self._files.tree,
            "usage": self._usage,
        }

    # Life

    def run(self) -> None:
        """Serves until the host is gone."""
        connection = self._host.connection
        connection.send(
            {
                "event": "ready",
                "nonce": self._nonce,
                "protocol": PROTOCOL,
                "python": platform.python_version(),
                "packages": self._packages,
            }
        )
        self._nonce = ""
        while True:
            congested = connection.congested
            if congested != self._throttled:
                self._throttled = congested
                # What makes output waits while the host does not read.
                self._python.throttle(congested)
                self._programs.throttle(congested)
            steps = self._files.is_busy and not congested
            held = connection.holds
            self._loop.turn(0 if steps else HELD if held else None)
            if held:
                connection.release()
            if steps:
                self._files.step()

    def _leave(self, _reason: str) -> None:
        """The host is gone, or speaks nonsense: everything ends."""
        processes.kill_all()
        os._exit(0)

    def _child_ended(self, pid: int, code: int) -> None:
        if pid == self._python.pid:
            self._python.ended(code)
        else:
            self._programs.ended(pid, code, interpreter=self._python.pid)

    def _runs(self) -> bool:
        return self._python.executes or bool(self._programs.pids)

    # Commands of the host

    def _command(self, head: frames.Head) -> frames.Sink:
        id, nonce, op = head.get("id"), head.get("nonce"), head.get("op")
        if type(id) is not int or type(nonce) is not str:
            raise frames.Breach("a command has no id or no nonce")
        handler = self._handlers.get(op) if isinstance(op, str) else None
        if handler is None:
            self._host.fail(id, nonce, Failure("invalid", "there is no such command"))
            return frames.Discard()
        try:
            sink = handler(id, nonce, head)
        except Failure as refused:
            self._host.fail(id, nonce, refused)
            sink = None
        return frames.Discard() if sink is None else sink

    def _execute(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        if head["bytes"] > MAXIMUM_CODE:
            raise Failure("invalid", f"a program has more than {MAXIMUM_CODE} bytes")
        execution = Execution(self._host, id, nonce, head["outputBytes"])
        session = head["within"] == "session"
        if session and head["language"] != "python":
            raise Failure("invalid", "the session itself runs Python only")

        def begin(code: bytes) -> None:
            try:
                if session:
                    self._python.begin(execution, code)
                else:
                    mixed = self._python.executes
                    self._programs.begin(execution, head["language"], code, head["environment"], mixed=mixed)
            except Failure as refused:
                self._host.fail(id, nonce, refused)

        return frames.Collect(begin)

    def _interrupt(self, id: int, nonce: str, head: frames.Head) -> None:
        self._python.interrupt(head["target"])
        self._programs.interrupt(head["target"])
        self._host.done(id, nonce)

    def _kill(self, id: int, nonce: str, head: frames.Head) -> None:
        self._python.kill(head["target"])
        self._programs.kill(head["target"])
        self._host.done(id, nonce)

    def _restart(self, id: int, nonce: str, _head: frames.Head) -> None:
        self._python.restart()
        self._host.done(id, nonce)

    def _usage(self, id: int, nonce: str, _head: frames.Head) -> None:
        self._host.done(id, nonce, dataframes=self._python.dataframes, memory=processes.memory())
