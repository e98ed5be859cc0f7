"""Runs a program in a terminal, which the standard streams of this process are: what Node has no means for."""

import os
import pty
import sys
import threading


def pump(source: int, target: int) -> None:
    while True:
        try:
            data = os.read(source, 65536)
        except OSError:
            return
        if not data:
            return
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]


pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
threading.Thread(target=pump, args=(0, master), daemon=True).start()
pump(master, 1)
os.close(1)
os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
