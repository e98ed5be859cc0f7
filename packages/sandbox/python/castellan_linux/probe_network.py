"""What the probe tries of sockets and of the network."""

import errno
import socket

_FAMILIES = {"AF_NETLINK": 16, "AF_PACKET": 17, "AF_ALG": 38, "AF_VSOCK": 40, "AF_BLUETOOTH": 31}

_CONNECTION = 131_072
"""Bytes that a buffer of a connection may grow to by itself: what `walls` sets."""

NEIGHBOUR = "\0castellan-fork-server"
"""An address without a file, at which the fork-server has a socket: such addresses are a network's, not a file system's."""


def families() -> str | None:
    """Sockets of other families than those of files and of the Internet cannot be made."""
    for name, family in _FAMILIES.items():
        try:
            socket.socket(
                family, socket.SOCK_RAW if name in ("AF_NETLINK", "AF_PACKET") else socket.SOCK_STREAM
            ).close()
        except OSError as error:
            if error.errno == errno.EAFNOSUPPORT:
                continue
            return f"a socket of {name} failed by {errno.errorcode.get(error.errno or 0)}"
        return f"a socket of {name} was made"
    return None


def buffers() -> str | None:
    """What is counted by the number of sockets must not be larger than it is thought to be."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            before = one.getsockopt(socket.SOL_SOCKET, option)
            one.setsockopt(socket.SOL_SOCKET, option, 4 * before)
            after = one.getsockopt(socket.SOL_SOCKET, option)
            if after > before:
                return f"a socket's buffer grew from {before} to {after} bytes"
    return None


def connections() -> str | None:
    """Nor may those of a connection, which the system makes larger by itself."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other,
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as one,
    ):
        most = max(other.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), _CONNECTION)
        size = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        return None if size <= most else f"a connection's buffer has {size} bytes"


def _is_reached(family: int, address: str, port: int) -> bool:
    """Whether a connection came about; a datagram that arrives is counted by the host."""
    with socket.socket(family, socket.SOCK_STREAM) as attempt:
        attempt.settimeout(0.2)
        if attempt.connect_ex((address, port)) == 0:
            return True
    with socket.socket(family, socket.SOCK_DGRAM) as attempt:
        try:
            attempt.sendto(b"castellan", (address, port))
        except OSError:
            # Refused on its way: there is none to arrive.
            pass
    return False


def network(port: int) -> str | None:
    """Nobody is reached: neither the host at a port of its own nor the fork-server."""
    for family, address in (
        (socket.AF_INET, "127.0.0.1"),
        (socket.AF_INET6, "::1"),
        (socket.AF_INET, "169.254.169.254"),
    ):
        try:
            reached = _is_reached(family, address, port)
        except OSError as error:
            # A kernel without the family has nobody who could be reached by it.
            if error.errno == errno.EAFNOSUPPORT:
                continue
            raise
        if reached:
            return f"{address} was reached"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as attempt:
        if attempt.connect_ex(NEIGHBOUR) == 0:
            return "the fork-server's own network was reached"
    with open("/proc/self/net/dev", encoding="ascii") as file:
        interfaces = [line.split(":")[0].strip() for line in file if ":" in line]
    return None if interfaces == ["lo"] else f"there are the interfaces {', '.join(interfaces)}"
