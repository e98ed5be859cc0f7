"""A Python program in a fresh process, as `python3 -c` runs it: its exit code, its traceback on standard error."""

import builtins
import io
import os
import sys
import types

from castellan import _cell, _traceback


def standard_streams() -> None:
    """Gives a fork streams of its own over its descriptors: what its parent had belongs to the parent."""
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), encoding="utf-8", errors="replace")
    for name, fd in (("stdout", 1), ("stderr", 2)):
        raw = io.FileIO(fd, "w", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def fresh_main() -> types.ModuleType:
    """The module that a program is, in the place of the one that this process was started with."""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return module


def flush() -> None:
    """Writes what the streams still hold, as far as they are there."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # The program closed or replaced it: what it held is its own loss.
            continue


def run(code: str, environment: dict[str, str]) -> None:
    """Runs a program and ends the process with its exit code."""
    os.environ.clear()
    os.environ.update(environment)
    standard_streams()
    module = fresh_main()
    _cell.reseed()
    _cell.answer_no_input()
    sys.argv = ["-c"]
    status = 0
    try:
        exec(_cell.compiled(code, "<command>"), module.__dict__)
    except SystemExit as leaving:
        status = _cell.exit_code(leaving)
        if status == 1 and leaving.code is not None and type(leaving.code) is not int:
            print(leaving.code, file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        status = 1
        print("\n".join(_traceback.lines(error)), file=sys.stderr)
    flush()
    os._exit(status)
