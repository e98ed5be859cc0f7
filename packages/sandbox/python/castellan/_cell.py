"""Programs in a session's Python: compiled, run, their last value shown, their ending told."""

import ast
import asyncio
import builtins
import inspect
import linecache
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from . import _arrow_write, _dataframes, _display, _figures, _traceback

# A program may put something else in their place: the next one has to run all the same.
_compile = compile
_eval = eval

KEPT_SOURCES = 500
"""Programs whose source is kept, for tracebacks into functions that they defined."""

_future = 0
for _name in __import__("__future__").all_feature_names:
    _future |= getattr(__import__("__future__"), _name).compiler_flag


class Ending(NamedTuple):
    """How a program ended."""

    outcome: str
    """`completed`, `failed` or `interrupted`."""
    exit_code: int
    error: dict[str, Any] | None
    """Name, message and traceback of an exception that nothing caught."""


def _no_input(_prompt: object = "", /) -> NoReturn:
    """What `input` is where nobody sits in front of the program."""
    raise EOFError("there is nobody who could answer input() here: write the value into the program, or read a file")


def answer_no_input() -> None:
    """Has `input` say that there is nobody, in the place of an end of file."""
    builtins.input = _no_input


def completed() -> Ending:
    """The ending of a program that came to its end."""
    return Ending("completed", 0, None)


def interrupted() -> Ending:
    """The ending by the user; its exit code is the shell's for an interrupt."""
    return Ending("interrupted", 130, None)


def failed(error: BaseException, exit_code: int = 1) -> Ending:
    """The ending by an exception."""
    told = {
        "name": type(error).__name__[:200],
        "message": _traceback.message(error),
        "traceback": _traceback.lines(error, whole=False),
    }
    return Ending("failed", exit_code, told)


def exit_code(leaving: SystemExit) -> int:
    """The exit code that `sys.exit` asks for."""
    if leaving.code is None:
        return 0
    return leaving.code & 0xFF if isinstance(leaving.code, int) else 1


def reseed() -> None:
    """Gives random numbers a start of their own: forks, and copies of a memory, begin with the same."""
    import random

    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def remember_source(filename: str, code: str) -> None:
    """Has tracebacks find the lines of a program that is in no file."""
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)


def compiled(code: str, filename: str) -> Any:
    """A program as code, in whose tracebacks its lines are shown."""
    remember_source(filename, code)
    return _compile(code, filename, "exec", dont_inherit=True)


class Cells:
    """A session's Python: its variables, and what runs over them."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self.variables = variables
        self.variables["display"] = _display.display
        self._dataframes = _dataframes.Dataframes(variables)
        _figures.install()
        answer_no_input()
        self._count = 0
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._sources: OrderedDict[str, None] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, code: str) -> Ending:
        """Runs a program, shows its last value and its figures. Lets `KeyboardInterrupt` through."""
        self._count += 1
        filename = f"<cell {self._count}>"
        remember_source(filename, code)
        self._sources[filename] = None
        if len(self._sources) > KEPT_SOURCES:
            linecache.cache.pop(self._sources.popitem(last=False)[0], None)
        try:
            tree = self._compile(code, filename, ast.PyCF_ONLY_AST)
            self._dataframes.touch(tree)
            self._run_tree(tree, code, filename)
            _figures.show_all()
            return completed()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._show_what_was_drawn()
            if isinstance(error, SystemExit):
                status = exit_code(error)
                return completed() if status == 0 else failed(error, status)
            return failed(error)

    def _show_what_was_drawn(self) -> None:
        """Shows the figures of a program that failed; the program's own error is what is told."""
        try:
            _figures.show_all()
        except Exception:
            _figures.forget()

    def _compile(self, source: Any, filename: str, flags: int = 0, mode: str = "exec") -> Any:
        return _compile(source, filename, mode, flags | self._flags, dont_inherit=True)

    def _run_tree(self, tree: ast.Module, code: str, filename: str) -> None:
        last = tree.body[-1] if tree.body else None
        value: Any = None
        if isinstance(last, ast.Expr):
            tree.body.pop()
            program = self._compile(tree, filename)
            expression = self._compile(ast.Expression(last.value), filename, mode="eval")
            self._flags |= program.co_flags & _future
            self._evaluate(program)
            value = self._evaluate(expression)
        else:
            program = self._compile(tree, filename)
            self._flags |= program.co_flags & _future
            self._evaluate(program)
        if value is not None:
            self.variables["_"] = value
            if not code.rstrip().endswith(";"):
                _display.display(value)

    def _evaluate(self, program: Any) -> Any:
        value = _eval(program, self.variables)
        if program.co_flags & inspect.CO_COROUTINE:
            return self._wait(value)
        return value

    def _wait(self, coroutine: Any) -> Any:
        """Runs what a program awaits outside of any function, on one loop for all of the session."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(coroutine)

    def dataframes(self) -> _dataframes.Told:
        """The dataframes that there are, and which of them were made or changed since this was asked last."""
        return self._dataframes.look()

    def bind(self, name: str, stream: bytes) -> dict[str, Any]:
        """Makes a dataframe of an Arrow IPC stream, under a name."""
        return self._dataframes.bind(name, stream)

    def export(self, name: str) -> Iterator[_arrow_write.Bytes]:
        """A dataframe as an Arrow IPC stream, in pieces. Raises `KeyError` where there is none of that name."""
        return self._dataframes.export(name)
