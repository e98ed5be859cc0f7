"""Joins a terminal, or any pair of streams, to the relay of a session.

A terminal is what a remote sandbox offers that carries bytes both ways as they are, once it is in raw mode.
`python3 -I attach.py <socket> <half> <half>`: the two halves together are the token that begins what comes out. They
are apart so that the command, which the terminal repeats, is not taken for it.
"""

import os
import socket
import sys
import termios
import threading
import time
import tty

PATIENCE = 20.0
"""Seconds for which the relay may not be there yet."""
PIECE = 64 * 1024


def connect(path: str) -> socket.socket:
    """Connects to the relay, which may have been started just now."""
    until = time.monotonic() + PATIENCE
    while True:
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.connect(path)
            return channel
        except (FileNotFoundError, ConnectionRefusedError):
            channel.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def raw(fd: int) -> None:
    """Makes a terminal carry bytes as they are."""
    if os.isatty(fd):
        tty.setraw(fd, termios.TCSANOW)


def write_all(fd: int, data: bytes) -> None:
    """Writes everything, however little is taken at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def inwards(channel: socket.socket) -> None:
    """Passes on what the host sends."""
    while True:
        data = os.read(0, PIECE)
        if not data:
            break
        channel.sendall(data)
    channel.shutdown(socket.SHUT_RDWR)


def main() -> None:
    """Passes bytes on until one side ends."""
    path, one, other = sys.argv[1:4]
    raw(0)
    channel = connect(path)
    channel.sendall(f"{one}{other}\n".encode("ascii"))
    # A direction each: what cannot get out must not hold back what comes in, an interrupt above all.
    threading.Thread(target=inwards, args=(channel,), daemon=True).start()
    while True:
        data = channel.recv(PIECE)
        if not data:
            return
        write_all(1, data)


if __name__ == "__main__":
    main()
