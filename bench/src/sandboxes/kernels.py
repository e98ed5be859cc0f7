"""ipykernel as a peer, driven by jupyter_client as notebooks drive it: orders come as lines of JSON, and what they took
in milliseconds goes back as lines of JSON. An execution is over when its reply is there and its kernel says that it is
idle, so that all of its output was seen.
"""

import json
import sys
import time
from typing import Any

import zmq
from jupyter_client import KernelManager

PATIENCE = 120.0
"""Seconds that anything may take."""


class Kernel:
    """A kernel and its client."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel()
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def send(self, code: str) -> str:
        message: str = self.client.execute(code, allow_stdin=False)
        return message

    def wait_for_output(self, message: str) -> None:
        """Waits until something was printed."""
        while True:
            told = self.client.get_iopub_msg(timeout=PATIENCE)
            if told["parent_header"].get("msg_id") == message and told["msg_type"] == "stream":
                return

    def wait(self, message: str) -> dict[str, Any]:
        """Waits for the end of an execution; answers its reply."""
        while True:
            told = self.client.get_iopub_msg(timeout=PATIENCE)
            if (
                told["parent_header"].get("msg_id") == message
                and told["msg_type"] == "status"
                and told["content"]["execution_state"] == "idle"
            ):
                break
        return self.reply(message)

    def reply(self, message: str) -> dict[str, Any]:
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == message:
                content: dict[str, Any] = reply["content"]
                return content

    def run(self, code: str) -> None:
        completed(self.wait(self.send(code)))

    def interrupt(self, code: str) -> float:
        message = self.send(code)
        self.wait_for_output(message)
        # It printed: now it has to come to what is interrupted.
        time.sleep(0.05)
        started = time.perf_counter()
        self.manager.interrupt_kernel()
        reply = self.wait(message)
        took = milliseconds(started)
        if reply.get("ename") != "KeyboardInterrupt":
            raise RuntimeError(f"it was not interrupted: {reply}")
        return took

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def completed(reply: dict[str, Any]) -> None:
    if reply["status"] != "ok":
        raise RuntimeError(f"an execution failed: {reply}")


def milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000


kernels: dict[int, Kernel] = {}


def together(each: int, code: str) -> float:
    """All kernels at once, each its next execution as soon as the last is over."""
    poller = zmq.Poller()
    by_socket = {}
    for kernel in kernels.values():
        poller.register(kernel.client.shell_channel.socket, zmq.POLLIN)
        by_socket[kernel.client.shell_channel.socket] = kernel
    left = dict.fromkeys(by_socket, each)
    started = time.perf_counter()
    waiting = {socket: kernel.send(code) for socket, kernel in by_socket.items()}
    while waiting:
        for socket, _ in poller.poll(PATIENCE * 1000):
            kernel = by_socket[socket]
            completed(kernel.wait(waiting.pop(socket)))
            left[socket] -= 1
            if left[socket] > 0:
                waiting[socket] = kernel.send(code)
    return milliseconds(started)


def carry_out(order: dict[str, Any]) -> float:
    op = order["op"]
    started = time.perf_counter()
    if op == "open":
        kernels[order["kernel"]] = Kernel()
    elif op == "run":
        kernels[order["kernel"]].run(order["code"])
    elif op == "interrupt":
        return kernels[order["kernel"]].interrupt(order["code"])
    elif op == "together":
        return together(order["each"], order["code"])
    elif op == "close":
        kernels.pop(order["kernel"]).close()
    else:
        raise ValueError(op)
    return milliseconds(started)


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    try:
        for line in sys.stdin:
            order = json.loads(line)
            try:
                answer: dict[str, Any] = {"id": order["id"], "milliseconds": carry_out(order)}
            except Exception as error:
                answer = {"id": order["id"], "error": repr(error)}
            print(json.dumps(answer), flush=True)
    finally:
        for kernel in kernels.values():
            kernel.close()


if __name__ == "__main__":
    main()
