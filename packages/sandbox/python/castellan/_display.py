"""Values as they are shown."""

from typing import Any

from . import _host


def display(*values: Any) -> None:
    """Shows values, each in the richest forms that it has."""
    for value in values:
        if _host.current is not None:
            _host.current.display([("text/plain", repr(value).encode("utf-8", "backslashreplace"))])
