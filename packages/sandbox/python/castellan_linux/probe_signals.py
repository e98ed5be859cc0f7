"""What the probe tries of signals: those that have to arrive, and those that must not."""

import os
import signal
import time


def interrupt() -> str | None:
    """An interrupt ends a loop that runs, and in time."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            os.write(telling, b".")
            while True:
                pass
        except KeyboardInterrupt:
            os._exit(7)
    os.read(told, 1)
    os.close(told)
    os.close(telling)
    os.kill(child, signal.SIGINT)
    for _ in range(500):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended == child:
            return None if os.waitstatus_to_exitcode(status) == 7 else "an interrupt ended a process in another way"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return "an interrupt did not end a loop"


def kill_all() -> str | None:
    """A signal to everybody reaches nobody but the session's own, and not its first process."""
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    os.kill(-1, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        os.kill(1, 0)
    except OSError:
        return "the first process of the session was killed"
    return None
