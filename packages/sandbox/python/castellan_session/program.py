"""A fresh process: a command of bash, or a Python program that knows nothing of the session's variables."""

import os
import signal
from collections.abc import Callable

from . import forked, processes
from .execution import Execution
from .failure import Failure
from .loop import Loop
from .pipes import Pipes

_ARGUMENT = 96 * 1024
"""Bytes that the system lets one argument have, with room to spare; longer commands come by a file in memory."""

_DEFAULTS = [signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM]


class Program:
    """One running process with its pipes."""

    def __init__(self, loop: Loop, execution: Execution) -> None:
        self.execution = execution
        self.pipes = Pipes(loop, execution.output)
        self.pid = 0

    def start(self, language: str, code: bytes, environment: dict[str, str]) -> None:
        """Starts it; raises `Failure` where the system does not allow it."""
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            out, err = self.pipes.writers
            fds = {0: null, 1: out, 2: err}
            if language == "bash":
                self.pid = _bash(code, environment, fds)
            else:
                self.pid = forked.fork(_python(code, environment), fds)
        except OSError as error:
            self.pipes.close()
            raise Failure("exhausted", f"no process can be started: {os.strerror(error.errno or 0).lower()}") from error
        except ValueError as error:
            self.pipes.close()
            raise Failure("invalid", "the command has a NUL character") from error
        finally:
            os.close(null)
        self.pipes.close_writers()

    def interrupt(self) -> None:
        """Does what Ctrl-C does."""
        self.execution.interrupted = True
        processes.kill_group(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Ends it with all that descends from it."""
        self.execution.interrupted = True
        for process in processes.descendants(self.pid, processes.parents()):
            processes.kill(process, signal.SIGKILL)
        processes.kill_group(self.pid, signal.SIGKILL)


def _bash(code: bytes, environment: dict[str, str], fds: dict[int, int]) -> int:
    actions: list[tuple[int, ...]] = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in fds.items()]
    arguments: list[bytes] = [b"bash", b"-c", code]
    script = -1
    if len(code) > _ARGUMENT:
        script = os.memfd_create("command", 0)
        with open(script, "wb", closefd=False) as file:
            file.write(code)
        os.lseek(script, 0, os.SEEK_SET)
        arguments = [b"bash", f"/dev/fd/{script}".encode()]
    try:
        # Not a fork: the pages of what was imported need not be copied for a shell.
        return os.posix_spawn(
            "/bin/bash", arguments, environment, file_actions=actions, setsid=True, setsigdef=_DEFAULTS
        )
    finally:
        if script != -1:
            os.close(script)


def _python(code: bytes, environment: dict[str, str]) -> Callable[[], None]:
    def run() -> None:
        from . import plain

        processes.open_to_others()
        processes.die_with_parent()
        plain.run(code.decode("utf-8", "replace"), environment)

    return run
