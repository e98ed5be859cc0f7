"""The session's Python as a whole: one interpreter after another, of which each may end at any moment, and the execution
that goes on in it."""

import os
import signal

from . import claims, frames, processes
from .changes import ChangedFiles
from .dataframes import Dataframes
from .execution import Execution
from .failure import Failure
from .host import Host
from .interpreter import Interpreter
from .loop import Forward, Loop
from .programs import Programs

_RICH_FORMS = 16


class SessionPython:
    """Runs one program after another with the same variables, until it has to be started anew."""

    def __init__(self, loop: Loop, host: Host, changes: ChangedFiles, programs: Programs) -> None:
        self._loop = loop
        self._host = host
        self._changes = changes
        self._programs = programs
        self._dataframes = Dataframes(host)
        self._executing: Execution | None = None
        self._token = ""
        self._state_lost = False
        self._broken: str | None = None
        self._throttled = False
        self._interpreter = self._start()

    @property
    def pid(self) -> int:
        return self._interpreter.pid

    @property
    def executes(self) -> bool:
        """Whether a program runs in it."""
        return self._executing is not None

    @property
    def dataframes(self) -> list[frames.Head]:
        """The dataframes that it has."""
        return self._dataframes.all

    def throttle(self, on: bool) -> None:
        """What it says waits while the host does not read."""
        self._throttled = on
        for source in (self._interpreter.channel, self._interpreter.pipes):
            if on:
                source.pause()
            else:
                source.resume()

    # What the host asks

    def begin(self, execution: Execution, code: bytes) -> None:
        """Runs a program; raises `Failure`."""
        if self._executing is not None:
            raise Failure("invalid", "the session's Python executes already")
        self._programs.mix()
        # What came since the last execution ended is no part of this one.
        self._interpreter.pipes.drain()
        self._executing = execution
        # It runs while the rest is seen to.
        self._token = self._interpreter.ask("execute", code, bytes=len(code))
        execution.begin()
        if self._state_lost:
            self._state_lost = False
            execution.report("restarted", state_lost=True)

    def interrupt(self, target: int) -> None:
        """Does what Ctrl-C does, where that execution goes on in it."""
        if self._executing is not None and self._executing.id == target:
            self._executing.interrupted = True
            self._interpreter.interrupt()

    def kill(self, target: int) -> None:
        """Starts it anew, where that execution goes on in it."""
        if self._executing is not None and self._executing.id == target:
            self.restart()

    def restart(self) -> None:
        """Starts it anew, whatever it does."""
        self._interpreter.pipes.drain()
        if self._executing is not None:
            self._executing.interrupted = True
        self._replace(-int(signal.SIGKILL))

    def bind(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        return self._dataframes.bind(self._interpreter, id, nonce, head)

    def export(self, id: int, nonce: str, head: frames.Head) -> None:
        self._dataframes.export(self._interpreter, id, nonce, head)

    def answer(self, id: int, _nonce: str, head: frames.Head) -> frames.Sink | None:
        # It answers a call of the program that runs. A call of one that is over has nobody who waits for it.
        if self._executing is None or self._executing.id != id:
            return None
        error = head.get("error")
        self._interpreter.channel.send(
            {
                "op": "answer",
                "token": self._token,
                "call": head["call"],
                "bytes": head["bytes"],
                **({} if error is None else {"error": error}),
            }
        )
        return Forward(self._interpreter.channel)

    # What the interpreter says

    def _take_output(self, stream: str, data: bytes) -> None:
        if self._executing is not None:
            self._executing.output(stream, data)

    def _opened(self, interpreter: Interpreter, head: frames.Head) -> frames.Sink:
        if interpreter is not self._interpreter:
            return frames.Discard()
        try:
            return self._event(head)
        except (claims.Unfit, KeyError, TypeError):
            # The program forged it, or its interpreter is not what it was. The rest may still be in order.
            if self._executing is not None:
                self._executing.violate("the program wrote to the channel of its interpreter")
            return frames.Discard()

    def _event(self, head: frames.Head) -> frames.Sink:
        event, token = head["event"], head["token"]
        asked = self._dataframes.asked(token)
        if asked is not None:
            return self._dataframes.answer(asked, head)
        execution = self._executing
        if execution is None or token != self._token:
            raise claims.Unfit
        if event == "rich":
            return self._rich(execution, head)
        if event == "call":
            tables = [
                {"name": claims.name(table["name"]), "bytes": claims.count(table["bytes"])}
                for table in claims.list_of(head["tables"], 1000)
            ]
            call, size = claims.count(head["call"]), claims.count(head.get("bytes", 0))
            return frames.Collect(
                lambda statement: execution.report("call", statement, call=call, tables=tables, bytes=size)
            )
        if event == "data":
            # Of the tables of the call that comes next.
            execution.report("data", bytes=claims.count(head.get("bytes", 0)))
            return Forward(self._host.connection)
        if head.get("bytes", 0) != 0:
            raise claims.Unfit
        if event == "error":
            error = claims.error(head)
            self._interpreter.pipes.drain()
            execution.report("error", **error)
        elif event == "finished":
            self._finished(execution, head)
        else:
            raise claims.Unfit
        return frames.Discard()

    def _rich(self, execution: Execution, head: frames.Head) -> frames.Sink:
        """A display in several forms, which follow each other in the raw bytes."""
        forms: list[frames.Head] = [
            {"media_type": claims.name(form["media_type"]), "bytes": claims.count(form["bytes"])}
            for form in claims.list_of(head["forms"], _RICH_FORMS)
        ]
        size = claims.count(head.get("bytes", 0))
        if sum(form["bytes"] for form in forms) != size:
            raise claims.Unfit
        waits = head.get("waits") is True

        def rich(payload: bytes) -> None:
            self._interpreter.pipes.drain()
            execution.report("rich", payload, forms=forms, bytes=size)
            if waits:
                self._interpreter.channel.send({"op": "taken", "token": self._token})

        return frames.Collect(rich)

    def _finished(self, execution: Execution, head: frames.Head) -> None:
        self._dataframes.set(head["all"])
        changed = claims.list_of(head["changed"], 1000)
        told = [frame for frame in self._dataframes.all if frame["name"] in changed]
        outcome, code = head["outcome"], head["exit_code"]
        if outcome not in ("completed", "failed", "interrupted") or type(code) is not int or abs(code) > 255:
            raise claims.Unfit
        self._interpreter.pipes.drain()
        if execution.violated and outcome == "completed":
            outcome, code = "failed", code or 1
        self._executing = None
        self._token = ""
        execution.finish(self._changes, outcome, code, told)

    # Its lives

    def _start(self) -> Interpreter:
        # Before anything is flushed by a fork that this process has still to flush: it never writes to these.
        return Interpreter(self._loop, self._take_output, self._opened, self._channel_broken)

    def _start_surely(self) -> Interpreter:
        """Starts an interpreter also where the session has as many processes as it may: what was killed counts until it
        is taken leave of, and what a program filled the limit with has to go."""
        try:
            return self._start()
        except BlockingIOError:
            processes.kill_all()
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return self._start()
            code = os.waitstatus_to_exitcode(status)
            self._programs.ended(pid, code, interpreter=self._interpreter.pid, killed=True)

    def _channel_broken(self, interpreter: Interpreter, reason: str) -> None:
        """The channel has ended or cannot be read on: the interpreter is of no use."""
        if interpreter is self._interpreter:
            self._broken = reason
            processes.kill(interpreter.pid, signal.SIGKILL)

    def ended(self, code: int) -> None:
        """The interpreter ended by itself, or by a limit."""
        # What it sent before it ended counts, above all that it had finished.
        while self._interpreter.channel.read():
            continue
        self._interpreter.pipes.drain()
        execution = self._executing
        if execution is not None:
            if self._broken is not None and self._broken != frames.GONE:
                execution.violate(self._broken)
            else:
                execution.report("error", name="InterpreterEnded", message=claims.how_ended(code), traceback=[])
        self._replace(code)

    def _replace(self, code: int) -> None:
        """Puts a new interpreter in the place of one that ended, or has to."""
        self._interpreter.kill(self._programs.pids)
        self._interpreter.close()
        self._broken = None
        self._dataframes.lose()
        execution, self._executing = self._executing, None
        self._interpreter = self._start_surely()
        if self._throttled:
            self.throttle(True)
        if execution is None:
            self._state_lost = True
            return
        execution.report("restarted", state_lost=True)
        outcome = "interrupted" if execution.interrupted else "failed"
        execution.finish(self._changes, outcome, code if code >= 0 else 128 - code, [])
