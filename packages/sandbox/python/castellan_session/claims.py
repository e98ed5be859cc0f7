"""What the session's Python says of itself, read with care: a program that runs in it may have forged every frame."""

import signal
from typing import Any, TypeGuard

from . import frames

_NAME = 1024
"""Characters of a name."""


class Unfit(Exception):
    """A frame of the interpreter has what it cannot have."""


def text(value: object) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise Unfit
    return value


def name(value: object) -> str:
    """A text that is no longer than a name may be."""
    if not isinstance(value, str) or len(value) > _NAME:
        raise Unfit
    return value


def count(value: object) -> int:
    """A number of things, or of bytes."""
    if type(value) is not int or value < 0 or value >= 1 << 53:
        raise Unfit
    return value


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def list_of(value: object, maximum: int) -> list[Any]:
    """A list with no more than that; each of its members is still to be read."""
    if not _is_list(value) or len(value) > maximum:
        raise Unfit
    return value


def dataframe(value: Any) -> frames.Head:
    """What is told of a dataframe, and nothing else that may stand there."""
    told: frames.Head = {
        "name": name(value["name"]),
        "rows": count(value["rows"]),
        "columns": count(value["columns"]),
    }
    if "memory" in value:
        told["memory"] = count(value["memory"])
    return told


def error(head: frames.Head) -> frames.Head:
    """An exception with its traceback, which fits into a line, however its letters are escaped."""
    kind, message = text(head["name"])[:_NAME], text(head["message"])[: 64 * 1024]
    traceback = [text(line)[: 8 * 1024] for line in list_of(head["traceback"], 200)]
    budget = frames.MAXIMUM_LINE // 2 - 6 * (len(kind) + len(message))
    kept: list[str] = []
    for line in traceback:
        budget -= 6 * len(line) + 16
        if budget < 0:
            break
        kept.append(line)
    return {"name": kind, "message": message, "traceback": kept}


def how_ended(code: int) -> str:
    """The end of an interpreter that nobody asked to end, in words."""
    if code >= 0:
        return f"the session's Python ended with exit code {code}"
    try:
        by = signal.Signals(-code).name
    except ValueError:
        by = f"signal {-code}"
    hint = "; it may have run out of memory or time" if code in (-signal.SIGKILL, -signal.SIGXCPU) else ""
    return f"the session's Python was ended by {by}{hint}"
