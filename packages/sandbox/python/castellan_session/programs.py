"""The programs of a session that run in fresh processes, beside its Python."""

from .changes import ChangedFiles
from .execution import Execution
from .leftovers import Leftovers
from .loop import Loop
from .program import Program


class Programs:
    """Those that run."""

    def __init__(self, loop: Loop, changes: ChangedFiles, environment: dict[str, str]) -> None:
        self._loop = loop
        self._changes = changes
        self._environment = environment
        self._running: dict[int, Program] = {}
        self._leftovers = Leftovers()
        self._throttled = False

    @property
    def pids(self) -> frozenset[int]:
        """Their processes, without those that they started."""
        return frozenset(self._running)

    def begin(
        self, execution: Execution, language: str, code: bytes, environment: dict[str, str], *, mixed: bool
    ) -> None:
        """Starts one; `mixed` where the session's Python executes as well. Raises `Failure`."""
        if not self._running:
            self._leftovers.begin(mixed=mixed)
        program = Program(self._loop, execution)
        program.start(language, code, {**self._environment, **environment})
        self._running[program.pid] = program
        if self._throttled:
            program.pipes.pause()
        execution.report("started")

    def mix(self) -> None:
        """The session's Python executes from now on."""
        self._leftovers.mix()

    def throttle(self, on: bool) -> None:
        """Their output waits while the host does not read."""
        self._throttled = on
        for program in self._running.values():
            if on:
                program.pipes.pause()
            else:
                program.pipes.resume()

    def interrupt(self, target: int) -> None:
        """Does what Ctrl-C does to the program of that execution."""
        for program in self._of(target):
            program.interrupt()

    def kill(self, target: int) -> None:
        """Ends the program of that execution."""
        for program in self._of(target):
            program.kill()

    def _of(self, target: int) -> list[Program]:
        return [program for program in self._running.values() if program.execution.id == target]

    def ended(self, pid: int, code: int, *, interpreter: int, killed: bool = False) -> None:
        """A child has ended that may be one of them: then so does its execution, with what it left running.
        `interpreter` is the session's Python, which stays; `killed` where all had to go to make room."""
        program = self._running.pop(pid, None)
        if program is None:
            return
        execution = program.execution
        if killed:
            execution.interrupted = True
        program.pipes.drain()
        program.pipes.close()
        self._leftovers.end(pid, frozenset((interpreter, *self._running)), last=not self._running)
        status = code if code >= 0 else 128 - code
        stopped = execution.interrupted and code != 0
        outcome = "interrupted" if stopped else "completed" if code == 0 else "failed"
        execution.finish(self._changes, outcome, status, [])
