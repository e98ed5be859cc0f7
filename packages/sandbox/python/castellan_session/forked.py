"""Forks that become something else: the fork unwinds out of all that its parent was doing, forgets it, and goes on as
the interpreter or as a program, with nothing of the supervisor left within its reach."""

import fcntl
import gc
import importlib
import importlib.util
import os
import signal
from collections.abc import Callable
from typing import Protocol

_COMMON = ("numpy", "pandas", "matplotlib", "scipy", "sklearn", "statsmodels", "seaborn", "PIL", "pyarrow", "polars")
_WARM = (
    "numpy",
    "pandas",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "PIL.Image",
    "castellan._arrow_pandas",
)
_ABOVE = 16
"""Above every number that a fork's descriptors get."""

_OURS = ("castellan", "castellan._cell", "castellan_session.kernel", "linecache", "traceback", "tokenize")


class Serving(Protocol):
    """A supervisor."""

    def run(self) -> None: ...


class Become(BaseException):
    """Raised in a fork: what it is from now on, and its descriptors. Nothing but `serve` catches it."""

    def __init__(self, role: Callable[[], None], fds: dict[int, int]) -> None:
        super().__init__()
        self.role = role
        self.fds = fds


def known_packages() -> list[str]:
    """The common packages that can be imported here; none is imported for it."""
    return [name for name in _COMMON if importlib.util.find_spec(name) is not None]


def warm() -> list[str]:
    """Imports what sessions commonly use, as far as it is there; answers the common packages that are."""
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in (*_OURS, *_WARM):
        try:
            importlib.import_module(name)
        except ImportError:
            # Packages are capabilities: without them the session has the standard library.
            continue
    return known_packages()


def serve(make: Callable[[], Serving]) -> None:
    """Runs a supervisor, or what a fork of it became; never returns."""
    status = 70
    # Forks share these pages until one of them writes to them, as collecting garbage does.
    gc.collect()
    gc.freeze()
    gc.disable()
    become: tuple[Callable[[], None], dict[int, int]] | None = None
    try:
        try:
            make().run()
        except Become as raised:
            become = raised.role, raised.fds
        if become is not None:
            # What led here held the supervisor. It goes before the descriptors are arranged: whatever closes one when
            # it goes closes a copy that this process has no use for.
            del make
            gc.collect()
            gc.enable()
            role, fds = become
            arrange(fds)
            role()
        status = 0
    except BaseException:
        import traceback

        try:
            traceback.print_exc()
        except BaseException:
            # Standard error may be closed; the status says enough.
            status = 71
    finally:
        os._exit(status)


def fork(role: Callable[[], None], fds: dict[int, int]) -> int:
    """Forks off a process that is only `role`, in a session of its own, with the descriptors `fds` (new number to
    present one) and no other; answers its id."""
    pid = os.fork()
    if pid != 0:
        return pid
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    # The way out closes what it knows of.
    copies = {target: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for target, source in fds.items()}
    raise Become(role, copies)


def keep_descriptors() -> None:
    """Has no program that is started inherit a descriptor that it is not given, whoever opened it before."""
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number > 2:
            try:
                os.set_inheritable(number, False)
            except OSError:
                # It was the descriptor of the folder that is listed.
                continue


def arrange(fds: dict[int, int]) -> None:
    """Puts descriptors where they have to be and closes all others. None of the present ones is a target."""
    for target, source in fds.items():
        os.dup2(source, target, inheritable=target < 3)
    os.closerange(max(fds) + 1, 1 << 20)
