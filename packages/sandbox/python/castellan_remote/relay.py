"""Keeps a session's supervisor while hosts come and go.

A remote sandbox lives longer than the connection to it, and longer than the host. So the supervisor does not talk to a
connection but to this relay, which listens on a socket of the sandbox; `attach.py` joins a connection to it. Whoever
attaches last has the session. One who finds it at work gets it at rest: executions of the host before are stopped, their
answers are dropped, and the `ready` frame comes again with the nonce of the new host.

`python3 -I relay.py serve <supervisor.py> <root> <socket>` serves, `python3 -I relay.py stop <socket>` ends it with all
that it started. The protocol of an attachment: the relay is sent a token,
answers `<token> resumed`, or `<token> fresh` where there are no variables of before, and is sent a nonce; each is a
line. Frames follow, in both directions.
"""

import asyncio
import json
import os
import signal
import sys

MAXIMUM_LINE = 2 * 1024 * 1024
PIECE = 256 * 1024
WHOLE = 1024 * 1024
"""Raw bytes of a frame of a host that is passed on only when it is all there; a longer one is passed on as it comes."""
GRACE = 1.0
"""Seconds that what the host before had started has to end, when it is interrupted."""
PATIENCE = 10.0
"""The same, when it is killed."""

Head = dict[str, object]
Key = tuple[object, object]

_LAST = ("done", "failed", "finished")


class Session:
    """The supervisor, and what has been asked of it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.ready: Head = {}
        self.open: dict[Key, str] = {}
        """Commands without their last answer, by id and nonce, with what they are."""
        self.wanted: set[Key] = set()
        """Those whose answers the host that is attached waits for."""
        self.at_rest = asyncio.Event()
        self.at_rest.set()
        self.lost = False
        """Nobody was told yet that the variables are gone."""
        self.torn = False
        """A host left in the midst of a frame: the supervisor waits for the rest, and can be told nothing more."""


class Relay:
    """One session and whoever is attached to it."""

    def __init__(self, supervisor: str, root: str, socket: str) -> None:
        self._supervisor = supervisor
        self._root = root
        self._socket = socket
        self._session: Session | None = None
        self._host: asyncio.StreamWriter | None = None
        self._turn = asyncio.Lock()
        self.over = asyncio.Event()

    async def attach(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one attachment until it ends."""
        before, self._host = self._host, None
        if before is not None:
            before.close()
        try:
            async with self._turn:
                token = await reader.readline()
                session = await self._rested()
                kept = session is not None and not session.lost
                writer.write(token.strip() + (b" resumed\n" if kept else b" fresh\n"))
                nonce = (await reader.readline()).strip()
                if not nonce:
                    return
                session = await self._begin(session, nonce, writer)
                await self._take(session, reader)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            # The connection is of no more use; the session waits for the next.
            return
        finally:
            self._detach(writer)

    def _detach(self, writer: asyncio.StreamWriter) -> None:
        # The next attachment may have come already.
        if self._host is writer:
            self._host = None
        writer.close()

    async def _rested(self) -> Session | None:
        """The session at rest, or nothing where a new one has to begin."""
        session = self._session
        if session is None:
            return None
        session.wanted.clear()
        if not session.torn:
            for op, patience in (("interrupt", GRACE), ("kill", PATIENCE)):
                for number, (key, asked) in enumerate(list(session.open.items())):
                    if asked == "execute":
                        self._tell(session, {"op": op, "id": -1 - number, "nonce": "relay", "target": key[0]})
                try:
                    await asyncio.wait_for(session.at_rest.wait(), patience)
                    return session
                except TimeoutError:
                    continue
        self._session = None
        session.process.kill()
        await session.process.wait()
        return None

    def _tell(self, session: Session, head: Head) -> None:
        writing = session.process.stdin
        if writing is not None:
            writing.write(json.dumps(head).encode("ascii") + b"\n")

    async def _begin(self, session: Session | None, nonce: bytes, writer: asyncio.StreamWriter) -> Session:
        self._host = writer
        if session is not None:
            session.lost = False
            frame = {**session.ready, "nonce": nonce.decode("ascii", "replace")}
            writer.write(json.dumps(frame).encode("ascii") + b"\n")
            return session
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            self._supervisor,
            self._root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=MAXIMUM_LINE,
        )
        session = self._session = Session(process)
        if process.stdin is not None:
            process.stdin.write(nonce + b"\n")
        asyncio.get_running_loop().create_task(self._give(session))
        return session

    async def _take(self, session: Session, reader: asyncio.StreamReader) -> None:
        """Passes on what the host asks."""
        writing = session.process.stdin
        if writing is None:
            return
        while True:
            line = await reader.readuntil(b"\n")
            head = json.loads(line)
            key = (head.get("id"), head.get("nonce"))
            rest = int(head.get("bytes", 0))
            if rest <= WHOLE:
                # Until it is whole, the supervisor has heard nothing of it, and nothing is torn.
                line, rest = line + await reader.readexactly(rest), 0
            if head.get("op") != "answer":
                session.open[key] = str(head.get("op"))
                session.wanted.add(key)
                session.at_rest.clear()
            writing.write(line)
            session.torn = rest > 0
            while rest > 0:
                piece = await reader.read(min(rest, PIECE))
                if not piece:
                    return
                rest -= len(piece)
                writing.write(piece)
                await writing.drain()
            session.torn = False
            await writing.drain()

    async def _give(self, session: Session) -> None:
        """Passes on what the supervisor answers, to whoever asked."""
        reading = session.process.stdout
        if reading is None:
            return
        try:
            while True:
                line = await reading.readuntil(b"\n")
                head = json.loads(line)
                to = self._addressee(session, head)
                await _send(to, line)
                rest = int(head.get("bytes", 0))
                while rest > 0:
                    piece = await reading.read(min(rest, PIECE))
                    if not piece:
                        raise asyncio.IncompleteReadError(b"", rest)
                    rest -= len(piece)
                    await _send(to, piece)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            # It ended, or what came is no frame: there is no session any more.
            pass
        if self._session is session:
            # Before the host hears of it, which would find this relay, and nobody in it.
            remove(self._socket)
            if self._host is not None:
                self._host.close()
            self.over.set()

    def _addressee(self, session: Session, head: Head) -> asyncio.StreamWriter | None:
        """Who waits for a frame; nobody where it answers a host that is gone."""
        event = head.get("event")
        if event == "ready":
            session.ready = head
            return self._host
        key = (head.get("id"), head.get("nonce"))
        if event == "restarted":
            session.lost = key not in session.wanted
        wanted = key in session.wanted or (head.get("nonce") != "relay" and key not in session.open)
        if event in _LAST:
            session.open.pop(key, None)
            session.wanted.discard(key)
            if not session.open:
                session.at_rest.set()
        return self._host if wanted else None


async def _send(to: asyncio.StreamWriter | None, data: bytes) -> None:
    if to is None or to.is_closing():
        return
    try:
        to.write(data)
        await to.drain()
    except ConnectionError:
        # Its frames are lost with it; the session is not.
        return


def remove(socket: str) -> None:
    """Takes away what tells that a relay is there."""
    for path in (socket, f"{socket}.pid"):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


async def serve(supervisor: str, root: str, socket: str) -> None:
    """Serves until the supervisor has ended."""
    relay = Relay(supervisor, root, socket)
    remove(socket)
    with open(f"{socket}.pid", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    server = await asyncio.start_unix_server(relay.attach, socket, limit=MAXIMUM_LINE)
    os.chmod(socket, 0o600)
    async with server:
        await relay.over.wait()


def stop(socket: str) -> None:
    """Kills the relay of a socket, and everything that descends from it."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from castellan_session import processes

    try:
        with open(f"{socket}.pid", encoding="ascii") as file:
            relay = int(file.read())
    except (OSError, ValueError):
        return
    # First what would see the others end: the supervisor starts an interpreter anew.
    for process in [relay, *processes.descendants(relay, processes.parents())]:
        processes.kill(process, signal.SIGSTOP)
    for process in [*processes.descendants(relay, processes.parents()), relay]:
        processes.kill(process, signal.SIGKILL)
    remove(socket)


def main() -> None:
    """Serves or stops, as the first argument says."""
    if sys.argv[1] == "serve":
        asyncio.run(serve(sys.argv[2], sys.argv[3], sys.argv[4]))
    else:
        stop(sys.argv[2])


if __name__ == "__main__":
    main()
