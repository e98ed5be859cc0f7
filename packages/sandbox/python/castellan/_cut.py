"""Texts of bounded length: what a program shows can be as long as it likes."""

TEXT = 64 * 1024
"""Bytes of a value's text that are shown."""


def line(text: str, characters: int) -> str:
    """A text on one line, of so many characters at most."""
    if len(text) > characters:
        text = f"{text[: characters - 1]}…"
    return " ".join(text.split()) if "\n" in text or "\r" in text or "\t" in text else text


def text(value: str, maximum: int = TEXT) -> bytes:
    """A text as UTF-8, of so many bytes at most; what is cut off is said to be."""
    encoded = value[: maximum + 1].encode("utf-8", "backslashreplace")
    if len(encoded) <= maximum and len(value) <= maximum:
        return encoded
    note = f"\n[cut: {len(value)} characters in all]"
    kept = encoded[: maximum - len(note)].decode("utf-8", "ignore")
    return f"{kept}{note}".encode()
