"""Plain CPython as a peer: programs come as lines of JSON, run over the same variables, and their ending is said in a
line. Nothing stands between it and the machine, nothing is recorded, and nobody checks what comes back.

`plain.py MODULE…` imports those before it says that it is ready.
"""

import importlib
import json
import sys


def main() -> None:
    for name in sys.argv[1:]:
        importlib.import_module(name)
    variables: dict[str, object] = {"__name__": "__main__"}
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin.buffer:
        try:
            exec(compile(json.loads(line), "<cell>", "exec"), variables)
            ending = "completed"
        except KeyboardInterrupt:
            ending = "interrupted"
        except Exception as error:
            ending = f"failed {error!r}"
        sys.stdout.write(f"{ending}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
