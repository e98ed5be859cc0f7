"""Paths below the root of a session's files, as the host says them."""

from .failure import Failure

MAXIMUM_DEPTH = 64
"""Folders within each other that are walked."""


def segments(path: str) -> list[str]:
    """The names that a path leads through; the root's is empty."""
    if path == "":
        return []
    parts = path.split("/")
    for part in parts:
        if part in ("", ".", "..") or "\0" in part or len(part.encode("utf-8", "surrogatepass")) > 255:
            raise Failure("invalid", "a path has a name that no file can have")
        if any(0xD800 <= ord(letter) <= 0xDFFF for letter in part):
            raise Failure("invalid", "a path is no Unicode")
    if len(parts) > MAXIMUM_DEPTH:
        raise Failure("invalid", f"a path leads through more than {MAXIMUM_DEPTH} folders")
    return parts
