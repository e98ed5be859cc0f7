"""The supervisor: answers the host's commands, one event at a time."""

import os
import platform
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, ClassVar, TypeGuard

from . import forked, frames, names, processes
from . import interpreter as interpreters
from .changes import ChangedFiles, is_unwatched
from .execution import Execution
from .failure import Failure
from .files import Files
from .leftovers import Leftovers
from .loop import Connection, Loop
from .pipes import Pipes
from .program import Program
from .put_sink import PutSink

PROTOCOL = 1
"""`protocolVersion` of `Command.ts`."""

MAXIMUM_CODE = 16 * 1024 * 1024
"""Bytes of a program."""

_RICH_FORMS = 16
_NAME = 1024


class Asked:
    """A command that waits for the interpreter: `bind` or `export`."""

    def __init__(self, id: int, nonce: str, op: str) -> None:
        self.id = id
        self.nonce = nonce
        self.op = op


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
        self._environment = environment
        self._files = Files(root)
        self._changes = ChangedFiles(self._files)
        self._loop = Loop()
        forked.keep_descriptors()
        outgoing = os.dup(control_out) if control_in == control_out else control_out
        self._host = Connection(self._loop, control_in, outgoing, self._command, self._leave)
        self._pumps: list[Iterator[None]] = []
        self._programs: dict[int, Program] = {}
        self._leftovers = Leftovers()
        self._executing: Execution | None = None
        self._token = ""
        self._asked: dict[str, Asked] = {}
        self._dataframes: list[frames.Head] = []
        self._state_lost = False
        self._broken: str | None = None
        self._throttled = False
        self._wakeups = self._watch_children()
        self._interpreter = self._start()

    # Life

    def _watch_children(self) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        # A handler has to be there for the wake-up; an interrupt of the terminal is not for this process.
        signal.signal(signal.SIGCHLD, _heard)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._loop.reads(reader, self._reap)
        return reader

    def _start(self) -> interpreters.Interpreter:
        # Before anything is flushed by a fork that this process has still to flush: it never writes to these.
        return interpreters.Interpreter(self._loop, self._take_output, self._kernel_frame, self._kernel_broken)

    def _start_surely(self) -> interpreters.Interpreter:
        """Starts an interpreter also where the session has as many processes as it may: what was killed counts until it
        is taken leave of, and what a program filled the limit with has to go."""
        try:
            return self._start()
        except BlockingIOError:
            processes.kill_all()
        while True:
            try:
                ended, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return self._start()
            program = self._programs.pop(ended, None)
            if program is not None:
                program.execution.interrupted = True
                self._program_ended(program, os.waitstatus_to_exitcode(status))

    def run(self) -> None:
        """Serves until the host is gone."""
        self._host.send(
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
            congested = self._host.congested
            if congested != self._throttled:
                self._throttle(congested)
            pumping = bool(self._pumps) and not congested
            self._loop.turn(wait=not pumping)
            if pumping:
                self._pump()

    def _throttle(self, on: bool) -> None:
        """What makes output waits while the host does not read."""
        self._throttled = on
        for source in self._sources():
            if on:
                source.pause()
            else:
                source.resume()

    def _sources(self) -> list[Connection | Pipes]:
        return [
            self._interpreter.channel,
            self._interpreter.pipes,
            *[program.pipes for program in self._programs.values()],
        ]

    def _pump(self) -> None:
        pump = self._pumps.pop(0)
        try:
            next(pump)
        except StopIteration:
            return
        self._pumps.append(pump)

    def _leave(self, _reason: str) -> None:
        """The host is gone, or speaks nonsense: everything ends."""
        processes.kill_all()
        os._exit(0)

    def _reap(self) -> None:
        try:
            while os.read(self._wakeups, 4096):
                continue
        except BlockingIOError:
            pass
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            if pid == self._interpreter.pid:
                self._kernel_ended(code)
            elif pid in self._programs:
                self._program_ended(self._programs.pop(pid), code)

    # Commands of the host

    def _command(self, head: frames.Head) -> frames.Sink:
        id, nonce, op = head.get("id"), head.get("nonce"), head.get("op")
        if type(id) is not int or type(nonce) is not str:
            raise frames.Breach("a command has no id or no nonce")
        handler = self._handlers.get(op) if isinstance(op, str) else None
        if handler is None:
            self._fail(id, nonce, Failure("invalid", "there is no such command"))
            return frames.Discard()
        try:
            sink = handler(self, id, nonce, head)
        except Failure as refused:
            self._fail(id, nonce, refused)
            sink = None
        return frames.Discard() if sink is None else sink

    def _done(self, id: int, nonce: str, **more: object) -> None:
        self._host.send({"event": "done", "id": id, "nonce": nonce, **more})

    def _fail(self, id: int, nonce: str, failed: Failure) -> None:
        self._host.send(
            {"event": "failed", "id": id, "nonce": nonce, "reason": failed.reason, "message": failed.message[:4096]}
        )

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
                    self._begin_session(execution, code)
                else:
                    self._begin_program(execution, head["language"], code, head["environment"])
            except Failure as refused:
                self._fail(id, nonce, refused)

        return frames.Collect(begin)

    def _begin_session(self, execution: Execution, code: bytes) -> None:
        if self._executing is not None:
            raise Failure("invalid", "the session's Python executes already")
        self._leftovers.mix()
        # What came since the last execution ended is no part of this one.
        self._interpreter.pipes.drain()
        self._executing = execution
        execution.report("started")
        if self._state_lost:
            self._state_lost = False
            execution.report("restarted", state_lost=True)
        self._token = self._interpreter.ask("execute", code, bytes=len(code))

    def _begin_program(self, execution: Execution, language: str, code: bytes, environment: dict[str, str]) -> None:
        if not self._programs:
            self._leftovers.begin(mixed=self._executing is not None)
        program = Program(self._loop, execution)
        program.start(language, code, {**self._environment, **environment})
        self._programs[program.pid] = program
        if self._throttled:
            program.pipes.pause()
        execution.report("started")

    def _interrupt(self, id: int, nonce: str, head: frames.Head) -> None:
        target = head["target"]
        if self._executing is not None and self._executing.id == target:
            self._executing.interrupted = True
            self._interpreter.interrupt()
        for program in self._programs.values():
            if program.execution.id == target:
                program.interrupt()
        self._done(id, nonce)

    def _kill(self, id: int, nonce: str, head: frames.Head) -> None:
        target = head["target"]
        if self._executing is not None and self._executing.id == target:
            self._restart_interpreter()
        for program in self._programs.values():
            if program.execution.id == target:
                program.kill()
        self._done(id, nonce)

    def _restart(self, id: int, nonce: str, _head: frames.Head) -> None:
        self._restart_interpreter()
        self._done(id, nonce)

    def _bind(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        asked = Asked(id, nonce, "bind")
        interpreter = self._interpreter
        token = interpreter.ask("bind", name=_text(head["name"]), bytes=head["bytes"])
        self._asked[token] = asked
        return _Forward(interpreter.channel)

    def _export(self, id: int, nonce: str, head: frames.Head) -> None:
        token = self._interpreter.ask("export", name=_text(head["name"]))
        self._asked[token] = Asked(id, nonce, "export")

    def _answer(self, _id: int, _nonce: str, head: frames.Head) -> frames.Sink | None:
        # It answers a call of the program that runs. A call of one that is over has nobody who waits for it.
        if self._executing is None or self._executing.id != head["id"]:
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
        return _Forward(self._interpreter.channel)

    def _put(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        return self._writing(id, nonce, [(head["path"], head["bytes"])])

    def _mount(self, id: int, nonce: str, head: frames.Head) -> frames.Sink:
        self._files.clear(head["path"])
        prefix = head["path"]
        return self._writing(id, nonce, [(f"{prefix}/{file['path']}", file["bytes"]) for file in head["files"]])

    def _writing(self, id: int, nonce: str, wanted: list[tuple[str, int]]) -> frames.Sink:
        def ended(failed: Failure | None) -> None:
            self._look_away(wanted[0][0] if len(wanted) == 1 else "")
            if failed is None:
                self._done(id, nonce)
            else:
                self._fail(id, nonce, failed)

        return PutSink(self._files, wanted, ended)

    def _look_away(self, path: str) -> None:
        """What the host wrote was not made by what runs; what that made in the meantime is told all the same."""
        if self._executing is None and not self._programs and not is_unwatched(path):
            self._changes.forget()

    def _get(self, id: int, nonce: str, head: frames.Head) -> None:
        _size, pieces = self._files.get(head["path"])

        def steps() -> Iterator[None]:
            for piece in pieces:
                self._host.send({"event": "data", "id": id, "nonce": nonce, "bytes": len(piece)}, piece)
                yield

        self._work(id, nonce, head["path"], steps())

    def _list(self, id: int, nonce: str, head: frames.Head) -> None:
        entries = self._files.entries(head["path"])
        for at in range(0, len(entries), 500):
            self._host.send({"event": "entries", "id": id, "nonce": nonce, "entries": entries[at : at + 500]})
        self._done(id, nonce)

    def _tree(self, id: int, nonce: str, head: frames.Head) -> None:
        def steps() -> Iterator[None]:
            for batch in self._files.tree(head["path"], head["maximumEntries"]):
                if batch:
                    self._host.send({"event": "entries", "id": id, "nonce": nonce, "entries": batch})
                yield

        self._work(id, nonce, head["path"], steps())

    def _work(self, id: int, nonce: str, path: str, steps: Iterator[None]) -> None:
        """Goes through steps as the host takes what they send, and says at the end how it went."""

        def all_steps() -> Iterator[None]:
            try:
                yield from steps
                self._done(id, nonce)
            except Failure as refused:
                self._fail(id, nonce, refused)
            except OSError:
                self._fail(id, nonce, Failure("invalid", f"{names.told(path)}: it cannot be read"))

        self._pumps.append(all_steps())

    def _remove(self, id: int, nonce: str, head: frames.Head) -> None:
        self._files.remove(head["path"])
        self._look_away(head["path"])
        self._done(id, nonce)

    def _usage(self, id: int, nonce: str, _head: frames.Head) -> None:
        self._done(id, nonce, dataframes=self._dataframes, memory=processes.memory())

    _handlers: ClassVar[dict[str, Callable[["Supervisor", int, str, frames.Head], frames.Sink | None]]] = {
        "execute": _execute,
        "interrupt": _interrupt,
        "kill": _kill,
        "restart": _restart,
        "bind": _bind,
        "export": _export,
        "answer": _answer,
        "put": _put,
        "get": _get,
        "list": _list,
        "remove": _remove,
        "mount": _mount,
        "tree": _tree,
        "usage": _usage,
    }

    # The interpreter

    def _take_output(self, stream: str, data: bytes) -> None:
        if self._executing is not None:
            self._executing.output(stream, data)

    def _kernel_frame(self, interpreter: interpreters.Interpreter, head: frames.Head) -> frames.Sink:
        if interpreter is not self._interpreter:
            return frames.Discard()
        try:
            return self._kernel_event(head)
        except (_Unfit, KeyError, TypeError):
            # The program forged it, or its interpreter is not what it was. The rest may still be in order.
            self._violated("the program wrote to the channel of its interpreter")
            return frames.Discard()

    def _violated(self, what: str) -> None:
        if self._executing is not None:
            self._executing.violate(what)

    def _kernel_event(self, head: frames.Head) -> frames.Sink:
        event, token = head["event"], head["token"]
        asked = self._asked.get(token) if isinstance(token, str) else None
        if asked is not None:
            return self._kernel_answer(token, asked, head)
        execution = self._executing
        if execution is None or token != self._token:
            raise _Unfit
        if event == "rich":
            forms: list[frames.Head] = [
                {"media_type": _name(form["media_type"]), "bytes": _count(form["bytes"])}
                for form in _list_of(head["forms"], _RICH_FORMS)
            ]
            size = _count(head.get("bytes", 0))
            if sum(form["bytes"] for form in forms) != size:
                raise _Unfit
            waits = head.get("waits") is True

            def rich(payload: bytes) -> None:
                self._interpreter.pipes.drain()
                execution.report("rich", payload, forms=forms, bytes=size)
                if waits:
                    self._interpreter.channel.send({"op": "taken", "token": self._token})

            return frames.Collect(rich)
        if event == "call":
            tables = [
                {"name": _name(table["name"]), "bytes": _count(table["bytes"])}
                for table in _list_of(head["tables"], 1000)
            ]
            call, size = _count(head["call"]), _count(head.get("bytes", 0))
            return frames.Collect(
                lambda statement: execution.report("call", statement, call=call, tables=tables, bytes=size)
            )
        if event == "data":
            # Of the tables of the call that comes next.
            execution.report("data", bytes=_count(head.get("bytes", 0)))
            return _Forward(self._host)
        if head.get("bytes", 0) != 0:
            raise _Unfit
        if event == "error":
            error = {
                "name": _text(head["name"])[:_NAME],
                "message": _text(head["message"])[: 64 * 1024],
                "traceback": [_text(line)[: 8 * 1024] for line in _list_of(head["traceback"], 200)],
            }
            self._interpreter.pipes.drain()
            execution.report("error", **_fitting(error))
            return frames.Discard()
        if event == "finished":
            self._set_dataframes(head["all"])
            changed = _list_of(head["changed"], 1000)
            told = [frame for frame in self._dataframes if frame["name"] in changed]
            outcome, code = head["outcome"], head["exit_code"]
            if outcome not in ("completed", "failed", "interrupted") or type(code) is not int or abs(code) > 255:
                raise _Unfit
            self._finish_session(outcome, code, told)
            return frames.Discard()
        raise _Unfit

    def _set_dataframes(self, told: object) -> None:
        self._dataframes = [_dataframe(frame) for frame in _list_of(told, 1000)]

    def _kernel_answer(self, token: str, asked: Asked, head: frames.Head) -> frames.Sink:
        """A frame that answers `bind` or `export`."""
        event = head["event"]
        if event == "data" and asked.op == "export":
            self._host.send(
                {"event": "data", "id": asked.id, "nonce": asked.nonce, "bytes": _count(head.get("bytes", 0))}
            )
            return _Forward(self._host)
        if head.get("bytes", 0) != 0:
            raise _Unfit
        del self._asked[token]
        if event == "done":
            if asked.op == "bind":
                frame = _dataframe(head["dataframe"])
                self._set_dataframes(head["all"])
                self._done(asked.id, asked.nonce, dataframe=frame)
            else:
                self._done(asked.id, asked.nonce)
        else:
            reason = head.get("reason")
            known = reason if reason in ("not_found", "invalid", "exhausted") else "invalid"
            self._fail(asked.id, asked.nonce, Failure(str(known), _text(head.get("message", ""))))
        return frames.Discard()

    def _finish_session(self, outcome: str, code: int, dataframes: list[frames.Head]) -> None:
        execution = self._executing
        if execution is None:
            return
        self._interpreter.pipes.drain()
        if execution.violated and outcome == "completed":
            outcome, code = "failed", code or 1
        self._executing = None
        self._token = ""
        self._finish(execution, outcome, code, dataframes)

    def _finish(self, execution: Execution, outcome: str, code: int, dataframes: list[frames.Head]) -> None:
        files, more = self._changes.look()
        if more:
            note = b"[more files were changed than are listed]\n"
            execution.report("output", note, stream="stderr", bytes=len(note))
        execution.report(
            "finished",
            outcome=outcome,
            exit_code=code,
            files=files,
            dataframes=dataframes,
            dropped_bytes=execution.dropped,
        )

    def _kernel_broken(self, interpreter: interpreters.Interpreter, reason: str) -> None:
        """The channel has ended or cannot be read on: the interpreter is of no use."""
        if interpreter is self._interpreter:
            self._broken = reason
            processes.kill(interpreter.pid, signal.SIGKILL)

    def _kernel_ended(self, code: int) -> None:
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
                execution.report("error", name="InterpreterEnded", message=_how_ended(code), traceback=[])
        self._replace(code)

    def _restart_interpreter(self) -> None:
        self._interpreter.pipes.drain()
        if self._executing is not None:
            self._executing.interrupted = True
        self._replace(-int(signal.SIGKILL))

    def _replace(self, code: int) -> None:
        """Puts a new interpreter in the place of one that ended, or has to."""
        self._interpreter.kill(frozenset(self._programs))
        self._interpreter.close()
        self._broken = None
        for asked in self._asked.values():
            self._fail(asked.id, asked.nonce, Failure("exhausted", "the session's Python had to be started anew"))
        self._asked.clear()
        self._dataframes = []
        execution, self._executing = self._executing, None
        self._interpreter = self._start_surely()
        if self._throttled:
            self._interpreter.pipes.pause()
            self._interpreter.channel.pause()
        if execution is None:
            self._state_lost = True
            return
        execution.report("restarted", state_lost=True)
        outcome = "interrupted" if execution.interrupted else "failed"
        self._finish(execution, outcome, code if code >= 0 else 128 - code, [])

    # Programs

    def _program_ended(self, program: Program, code: int) -> None:
        program.pipes.drain()
        program.pipes.close()
        execution = program.execution
        running = frozenset((self._interpreter.pid, *self._programs))
        self._leftovers.end(program.pid, running, last=not self._programs)
        status = code if code >= 0 else 128 - code
        stopped = execution.interrupted and code != 0
        self._finish(execution, "interrupted" if stopped else "completed" if code == 0 else "failed", status, [])


def _heard(_number: int, _frame: FrameType | None) -> None:
    """That a signal came is told by the wake-up."""


class _Forward:
    """Passes raw bytes on to another channel as they come."""

    def __init__(self, to: Connection) -> None:
        self._to = to

    def write(self, data: bytes) -> None:
        self._to.send_bytes(data)

    def end(self) -> None:
        pass


class _Unfit(Exception):
    """A frame of the interpreter has what it cannot have."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Unfit
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > _NAME:
        raise _Unfit
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0 or value > 1 << 53:
        raise _Unfit
    return value


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _list_of(value: object, maximum: int) -> list[Any]:
    if not _is_list(value) or len(value) > maximum:
        raise _Unfit
    return value


def _dataframe(value: Any) -> frames.Head:
    told: frames.Head = {
        "name": _name(value["name"]),
        "rows": _count(value["rows"]),
        "columns": _count(value["columns"]),
    }
    if "memory" in value:
        told["memory"] = _count(value["memory"])
    return told


def _fitting(error: frames.Head) -> frames.Head:
    """An error that fits into a line, however its letters are escaped."""
    budget = frames.MAXIMUM_LINE // 2 - 6 * (len(error["name"]) + len(error["message"]))
    kept: list[str] = []
    for line in error["traceback"]:
        budget -= 6 * len(line) + 16
        if budget < 0:
            break
        kept.append(line)
    return {**error, "traceback": kept}


def _how_ended(code: int) -> str:
    if code >= 0:
        return f"the session's Python ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "; it may have run out of memory or time" if code in (-signal.SIGKILL, -signal.SIGXCPU) else ""
    return f"the session's Python was ended by {name}{hint}"
