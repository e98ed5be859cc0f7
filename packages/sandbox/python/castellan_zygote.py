"""The fork-server: a process that has imported what sessions need, and forks one off for each connection.

It runs inside of an outer sandbox (bubblewrap), never runs what a user wrote, and is what sessions die with: it is an
ancestor of theirs in a namespace of processes that ends with it. Each connection to its socket becomes the control
channel of one session. The first line that the host sends on it says what the session is (`SessionRequest`); the first
line that comes back says whether its walls are up, and from then on the channel is the supervisor's.

Standard input is the host: lines of JSON that ask for a session's memory (`{"memory": token}`), and its end is the end
of everything. Standard output is for the host: `ready`, the answers, what the watchdog has killed, and what has ended.

A system that can count a session's memory as a whole (control groups) does so itself. Elsewhere the fork-server looks
at its sessions some times a second and kills those above their limit. What the kernel keeps for their sockets it cannot
see: each of them counts with all that its buffers may hold.
"""

import errno
import gc
import json
import os
import resource
import select
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

# Isolated mode leaves the folder of the script out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import castellan_supervisor
from castellan_linux import kernel, probe, probe_network, usage, walls

# Bytes of the line that opens a session.
_REQUEST_SIZE = 64 * 1024
# Descriptors of a session here: its connection and the handle of its first process.
_EACH = 2
# Descriptors that are no session's: what a start and a look at the processes open for a moment, and connections that
# have not said yet what they want.
_RESERVED = 48
# Seconds between two looks at sessions of which one runs something, and at sessions that all wait.
_BUSY, _IDLE = 0.05, 0.4
# The part of one processor that the watchdog takes, where that does not keep it from looking at all.
_SHARE = 0.05


@dataclass
class Session:
    """A running session, from outside."""

    token: str
    connection: socket.socket
    # The first process inside: its number out here, and a handle that no other process can ever have.
    pid: int
    handle: int
    # Bytes of memory that all of it may hold; None where the system counts.
    memory: int | None
    # The size that a process of it begins with.
    baseline: usage.Size
    ticks: int = 0
    # Bytes that its sockets may hold of the kernel's memory, which no process of it has.
    buffers: int = 0


class ForkServer:
    """Accepts connections, forks sessions off, watches them, and takes them away."""

    def __init__(
        self, listener: socket.socket, system_calls: bytes, packages: list[str], descriptors: int, socket_bytes: int
    ) -> None:
        self._listener = listener
        self._descriptors = descriptors
        self._socket_bytes = socket_bytes
        self._system_calls = system_calls
        self._owner = (os.getuid(), os.getgid())
        self._packages = packages
        self._poll = select.poll()
        # Connections that have not said yet what they want.
        self._waiting: dict[int, tuple[socket.socket, bytes]] = {}
        # Sessions by their connection and by their handle.
        self._sessions: dict[int, Session] = {}
        self._handles: dict[int, Session] = {}
        self._commands = b""
        # What every fork begins with: the fork-server itself hardly grows.
        self._size = usage.size_of(os.getpid())
        self._interval = _IDLE
        self._next_look = 0.0

    def run(self) -> None:
        """Serves until the host closes standard input."""
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._listener, select.POLLIN)
        self._tell({"ready": True, "packages": self._packages, "python": sys.version.split()[0]})
        while True:
            for descriptor, _ in self._poll.poll(self._patience()):
                if descriptor == 0:
                    if not self._hear():
                        return
                elif descriptor == self._listener.fileno():
                    self._accept()
                elif descriptor in self._waiting:
                    self._read_request(descriptor)
                elif descriptor in self._handles:
                    self._bury(self._handles[descriptor])
                elif descriptor in self._sessions:
                    # The host has hung up: the session ends at once, whatever it is doing.
                    self._poll.unregister(descriptor)
                    self._kill(self._sessions[descriptor])
            self._watch()

    def _tell(self, message: dict[str, Any]) -> None:
        os.write(1, json.dumps(message).encode() + b"\n")

    def _hear(self) -> bool:
        """Reads the host's commands; false once there is no host."""
        data = os.read(0, 65536)
        if data == b"":
            return False
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            token = json.loads(line)["memory"]
            self._tell({"memory": token, "bytes": self._memory(token)})
        return True

    def _memory(self, token: str) -> int | None:
        for session in self._handles.values():
            if session.token == token:
                tree = usage.trees({session.pid}, self._size.address_space)[session.pid]
                return usage.exact_memory(tree.members, session.pid, session.baseline)
        return None

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        self._waiting[connection.fileno()] = (connection, b"")
        self._poll.register(connection, select.POLLIN)

    def _read_request(self, descriptor: int) -> None:
        connection, begun = self._waiting[descriptor]
        # The host sends one line and waits for the answer, so that nothing of what follows is taken here.
        try:
            data = connection.recv(_REQUEST_SIZE)
        except OSError:
            # It has hung up.
            data = b""
        line = begun + data
        if data != b"" and not line.endswith(b"\n") and len(line) < _REQUEST_SIZE:
            self._waiting[descriptor] = (connection, line)
            return
        del self._waiting[descriptor]
        self._poll.unregister(descriptor)
        if not line.endswith(b"\n"):
            connection.close()
            return
        request = json.loads(line)
        try:
            self._make_sure_of_room()
            self._open(connection, request)
        except OSError as error:
            # No process or descriptor is to be had now: that is one session's misfortune, not the others'.
            self._say_no_walls(connection.fileno(), error)
            connection.close()
            self._tell({"ended": request["token"]})

    def _make_sure_of_room(self) -> None:
        """Refuses a session for which there are no descriptors, before there are none for those that it has."""
        if _EACH * (len(self._handles) + 1) + _RESERVED > self._descriptors:
            raise OSError(
                errno.EMFILE,
                f"{len(self._handles)} sessions are open, and {self._descriptors} open files are the limit (RLIMIT_NOFILE)",
                "file descriptors",
            )

    def _open(self, connection: socket.socket, request: dict[str, Any]) -> None:
        pid = kernel.fork_into(walls.OWN)
        if pid == 0:
            self._become_session(connection, request)
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            # It cannot be watched: it ends. No process of that number is another one before it is waited for.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        session = Session(
            token=request["token"],
            connection=connection,
            pid=pid,
            handle=handle,
            memory=request["memory"],
            baseline=self._size,
        )
        self._sessions[connection.fileno()] = session
        self._handles[session.handle] = session
        self._poll.register(session.handle, select.POLLIN)
        # Whether it is still there, not what it says.
        self._poll.register(connection, select.POLLRDHUP)
        self._interval = _BUSY

    def _become_session(self, connection: socket.socket, request: dict[str, Any]) -> None:
        """In the first process of new namespaces: becomes the session. Never returns."""
        channel = 3
        try:
            os.dup2(connection.fileno(), channel)
            # Nothing of other sessions, of the host or of the fork-server goes in.
            os.closerange(channel + 1, 1 << 20)
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(null, standard)
            os.close(null)
            walls.enter(request["user"], request["group"], self._owner, request["control_group"])
            walls.close_behind(walls.Limits(**request["limits"]), self._system_calls)
        except BaseException as error:
            self._say_no_walls(channel, error)
            os._exit(1)
        try:
            os.write(channel, b'{"walls":true}\n')
            if request["program"] == "probe":
                probe.run(channel, request["parameters"])
            else:
                self._serve(channel, request["nonce"])
        finally:
            os._exit(1)

    @staticmethod
    def _say_no_walls(channel: int, error: BaseException) -> None:
        step = getattr(error, "filename", None) or type(error).__name__
        reason = getattr(error, "strerror", None) or str(error)
        message = {"walls": False, "step": str(step), "reason": str(reason)}
        try:
            os.write(channel, json.dumps(message).encode() + b"\n")
        except OSError:
            # Nobody listens any more.
            pass

    def _serve(self, channel: int, nonce: str) -> None:
        for folder in ("library", "uploads", "outputs"):
            os.mkdir(f"{walls.FILES}/{folder}")
        os.mkdir(os.environ["HOME"], 0o700)
        castellan_supervisor.serve(channel, channel, nonce, walls.FILES, packages=self._packages)

    @staticmethod
    def _kill(session: Session) -> None:
        # With the first process of its namespace, every other one of it ends.
        signal.pidfd_send_signal(session.handle, signal.SIGKILL)

    def _bury(self, session: Session) -> None:
        os.waitpid(session.pid, 0)
        self._poll.unregister(session.handle)
        os.close(session.handle)
        del self._handles[session.handle]
        descriptor = session.connection.fileno()
        del self._sessions[descriptor]
        try:
            self._poll.unregister(descriptor)
        except KeyError:
            # The host had hung up.
            pass
        # The host hears of the end by this, and only now: nothing of the session is left.
        session.connection.close()
        self._tell({"ended": session.token})

    def _patience(self) -> float | None:
        if all(session.memory is None for session in self._handles.values()):
            return None
        return max(0.0, self._next_look - time.monotonic()) * 1000

    def _watch(self) -> None:
        now = time.monotonic()
        watched = {session.pid: session for session in self._handles.values() if session.memory is not None}
        if not watched or now < self._next_look:
            return
        busy = False
        for pid, tree in usage.trees(set(watched), self._size.address_space).items():
            session = watched[pid]
            if tree.ticks != session.ticks:
                busy = True
                session.buffers = self._socket_bytes * usage.sockets_of(pid)
            session.ticks = tree.ticks
            if session.memory is None:
                continue
            limit = session.memory - session.buffers
            if tree.coarse_memory <= limit:
                continue
            if usage.exact_memory(tree.members, session.pid, session.baseline, limit) > limit:
                self._tell({"killed": session.token, "reason": "memory"})
                self._kill(session)
        took = time.monotonic() - now
        self._interval = _BUSY if busy else min(_IDLE, self._interval * 2)
        # A look takes long where there are many processes, which is when the next one must not be far.
        self._next_look = time.monotonic() + max(self._interval, min(took / _SHARE, _IDLE))


def _leave_threads_behind() -> None:
    """Goes on in a fork, which has one thread, where a library has started others: what they hold would be held for ever
    in sessions."""
    if len(os.listdir("/proc/self/task")) == 1:
        return
    child = os.fork()
    if child != 0:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def main() -> None:
    """`castellan_zygote.py SOCKET FILTER BYTES`: listens there, with that filter of system calls for sessions.

    BYTES is what the buffers of one socket hold at most.
    """
    path, filter_path, socket_bytes = sys.argv[1:]
    os.umask(0o022)
    # Each session takes some: as many as whoever runs the host allows.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with open(filter_path, "rb") as file:
        system_calls = file.read()
    packages = castellan_supervisor.warm()
    # Sessions have no epoll, as this process has: what was imported here has taken it for granted.
    selectors.__dict__["DefaultSelector"] = selectors.PollSelector
    _leave_threads_behind()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(128)
    # Each session's network is its own: the self-test knocks here, and nobody opens.
    neighbour = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    neighbour.bind(probe_network.NEIGHBOUR)
    gc.collect()
    # What is here now is shared by every session; the collector of none of them touches it.
    gc.freeze()
    kernel.join_pages()
    ForkServer(listener, system_calls, packages, most, int(socket_bytes)).run()


if __name__ == "__main__":
    main()
