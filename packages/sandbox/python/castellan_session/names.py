"""Names of files as they are told to the host."""

_control = {code: f"\\x{code:02x}" for code in [*range(0x20), 0x7F, *range(0x80, 0xA0)]}


def told(name: str) -> str:
    """A name on one line and in Unicode: bytes that are no UTF-8, and control characters, are written as `\\xNN`.

    What was written so begins with a backslash, which no path that the host accepts has: it names nothing there.
    """
    if name.isprintable():
        return name
    return "".join(
        f"\\x{ord(letter) - 0xDC00:02x}" if 0xDC80 <= ord(letter) <= 0xDCFF else letter
        for letter in name.translate(_control)
    )


def is_plain(name: str) -> bool:
    """Whether a name is told as it is."""
    return told(name) == name
