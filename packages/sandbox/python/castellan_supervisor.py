"""The first process of a session: it starts the interpreter, reads its pipes, keeps the files, and answers the host.

Call `serve` with the isolation already in place: as the first process of a namespace of its own, or, in a test, as any
process. Whatever was imported before the call is there at once in the session, because the interpreter is a fork of
this process; nothing that a user wrote ever runs in this one. `python3 -I castellan_supervisor.py` serves the standard
streams: for tests, and for machines that are a sandbox as a whole.

The protocol is `src/protocol/{Command,Report}.ts` of the package.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if _here not in sys.path:
    # Isolated mode (`-I`) leaves the folder of the script out, and the session's own `import castellan` needs it.
    sys.path.insert(0, _here)

from castellan_session import forked, supervisor  # noqa: E402


def serve(
    control_in: int,
    control_out: int,
    nonce: str,
    root: str,
    *,
    packages: "list[str] | None" = None,
    environment: "dict[str, str] | None" = None,
) -> None:
    """Serves one session over two file descriptors (or twice the same) until the host closes them; never returns.

    `nonce` is what the first frame repeats. `root` is the folder that all paths are below; it must exist, and becomes
    the working folder. `packages` are told to the host: those that can be imported beside the standard library; absent,
    the common ones are looked for. `environment` replaces the process's own.
    """
    forked.serve(
        lambda: supervisor.Supervisor(
            control_in,
            control_out,
            nonce=nonce,
            root=root,
            packages=forked.known_packages() if packages is None else packages,
            environment=dict(os.environ) if environment is None else environment,
        )
    )


def warm() -> "list[str]":
    """Imports what sessions commonly use, once, before sessions are forked off; answers the packages that are there."""
    return forked.warm()


def main() -> None:
    """Serves the standard streams. The nonce is the first line of the input, so that no command line shows it."""
    root = sys.argv[1]
    for folder in ("library", "uploads", "outputs"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    nonce = b""
    while not nonce.endswith(b"\n"):
        byte = os.read(0, 1)
        if byte == b"":
            return
        nonce += byte
    if "--warm" in sys.argv[2:]:
        warm()
    # The standard streams become those of any other process; the control channel goes to descriptors of its own.
    control_in, control_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    serve(control_in, control_out, nonce.decode("ascii").strip(), root)


if __name__ == "__main__":
    main()
