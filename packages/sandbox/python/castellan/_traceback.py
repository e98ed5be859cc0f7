"""Tracebacks as the author of a program wants them: the program's own lines, and nothing of what runs them."""

import os
import traceback

_ours = os.path.dirname(os.path.abspath(__file__)) + os.sep
_beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_session = os.path.join(_beside, "castellan_session") + os.sep
_embedded = os.path.join(_beside, "castellan_embedded") + os.sep

MAXIMUM_LINES = 120
"""Lines of a traceback; in the middle of a longer one some are left out."""

MAXIMUM_LINE = 2_000
"""Characters of a line."""

MAXIMUM_MESSAGE = 16_000
"""Characters of what an exception says."""


def _is_ours(filename: str) -> bool:
    return filename.startswith((_ours, _session, _embedded)) or filename.endswith("castellan_supervisor.py")


def _prune(told: traceback.TracebackException, seen: set[int]) -> None:
    """Takes our own frames out of an exception and of those that it came from."""
    if id(told) in seen:
        return
    seen.add(id(told))
    # A traceback that begins in the middle of our own is one of ours: it keeps its last frames out as well.
    told.stack[:] = [frame for frame in told.stack if not _is_ours(frame.filename)]
    for other in (told.__cause__, told.__context__, *(getattr(told, "exceptions", None) or ())):
        if other is not None:
            _prune(other, seen)


def _cut(lines: list[str]) -> list[str]:
    kept = [line if len(line) <= MAXIMUM_LINE else f"{line[:MAXIMUM_LINE]}…" for line in lines]
    if len(kept) <= MAXIMUM_LINES:
        return kept
    half = MAXIMUM_LINES // 2
    return [*kept[:half], f"[{len(kept) - 2 * half} lines are left out]", *kept[-half:]]


def message(error: BaseException) -> str:
    """What an exception says; the text of one that cannot say it is empty."""
    try:
        said = str(error)
    except BaseException:
        # Its `__str__` is the program's.
        return ""
    return said if len(said) <= MAXIMUM_MESSAGE else f"{said[:MAXIMUM_MESSAGE]}…"


def lines(error: BaseException, whole: bool = True) -> list[str]:
    """The lines of a traceback; `whole` with the exception's own name and message at the end."""
    try:
        told = traceback.TracebackException.from_exception(error, limit=-200, compact=True)
        _prune(told, set())
        text = list(told.format())
        if not told.stack and text and text[0].startswith("Traceback"):
            # There is nothing of the program between the heading and the exception.
            text = text[1:]
        if not whole and getattr(told, "exceptions", None) is None:
            notes = len(getattr(error, "__notes__", None) or ())
            last = len(text) - notes - 1
            text = text[:last] + text[last + 1 :]
            if len(text) == 1 and text[0].startswith("Traceback"):
                text = []
        return _cut("".join(text).rstrip("\n").split("\n") if text else [])
    except BaseException:
        # Whatever a program's exception does when it is looked at: its name is still told.
        return [type(error).__name__] if whole else []
