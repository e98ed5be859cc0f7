"""What a session tries when a fork-server is started: to break each wall and each limit that it is promised.

It runs in place of the supervisor, behind the very same walls, and says over the channel which ones gave way. The host
watches from its side what only it can see: that nothing reached its listener.
"""

import json
import os
import signal
from collections.abc import Callable
from typing import Any

from castellan_linux import kernel, probe_calls, probe_limits, probe_network, probe_signals, probe_surroundings


def run(channel: int, parameters: dict[str, Any]) -> None:
    """As the first process of a session: has a child try everything, and ends the session with this process."""
    child = os.fork()
    if child == 0:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        if "hold" in parameters:
            _hold(parameters["hold"], parameters["processes"])
        breaches = _attempts(parameters)
        os.write(channel, json.dumps({"breaches": breaches}).encode() + b"\n")
        os._exit(0)
    while True:
        try:
            ended, _ = os.wait()
        except ChildProcessError:
            return
        if ended == child:
            return


def _hold(size: int, processes: int) -> None:
    """Holds memory in several processes, each of them within its own limit; waits to be killed for it."""
    for _ in range(processes):
        if os.fork() == 0:
            held = bytearray(size)
            for at in range(0, size, 4096):
                held[at] = 1
            signal.pause()
    signal.pause()


def _attempts(parameters: dict[str, Any]) -> list[dict[str, str]]:
    attempts: list[tuple[str, Callable[[], str | None]]] = [
        ("environment", lambda: probe_surroundings.environment(parameters["environment"])),
        ("descriptors", probe_surroundings.descriptors),
        ("files", lambda: probe_surroundings.host_files(parameters["hidden"])),
        ("files", probe_surroundings.read_only),
        ("privileges", probe_surroundings.privileges),
        ("system_calls", probe_calls.system_calls),
        ("sockets", probe_network.families),
        ("sockets", probe_network.buffers),
        ("network", lambda: probe_network.network(parameters["port"])),
        ("sockets", probe_network.connections),
        ("supervisor", probe_surroundings.supervisor),
        ("memory", lambda: probe_limits.address_space(parameters["address_space"])),
        ("file_size", lambda: probe_limits.file_size(parameters["file_size"])),
        ("disk", lambda: probe_limits.disk(parameters["disk"], parameters["file_size"])),
        ("disk", lambda: probe_limits.entries(parameters["entries"])),
        ("descriptors", lambda: probe_limits.open_files(parameters["open_files"])),
        ("namespaces", probe_surroundings.namespaces),
        ("interrupt", probe_signals.interrupt),
        ("processes", lambda: probe_limits.processes(parameters["processes"])),
        # The last one: it kills what is left of the others.
        ("processes", probe_signals.kill_all),
    ]
    breaches: list[dict[str, str]] = []
    for promise, attempt in attempts:
        try:
            breach = attempt()
        except Exception as error:
            breach = f"could not be tried: {type(error).__name__}: {error}"
        if breach is not None:
            breaches.append({"promise": promise, "detail": breach})
    return breaches
