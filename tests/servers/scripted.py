"""A server that answers with given bytes, whatever is asked: for what no http server would say."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Sequence


class ScriptedServer:
    """Answers each connection with the next of some answers, the last one again and again.

    Args:
        resets: whether it resets each connection after its answer, which the client may not see.

    Attributes:
        asked: what each connection has sent up to the end of a head.
    """

    def __init__(self, answers: Sequence[bytes], *, resets: bool = False) -> None:
        self._answers = list(answers)
        self._resets = resets
        self.asked: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def url(self, path: str, scheme: str = "http") -> str:
        """The URL of a path."""
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    def close(self) -> None:
        """End it."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                made, _ = self._listener.accept()
            except OSError:
                return
            with made, contextlib.suppress(OSError):
                made.settimeout(10)
                head = b""
                while b"\r\n\r\n" not in head and head[:1] != b"\x16":  # nor TLS
                    data = made.recv(4096)
                    if not data:
                        break
                    head += data
                self.asked.append(head)
                made.sendall(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])
                if self._resets:
                    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextlib.contextmanager
def scripted(*answers: bytes, resets: bool = False) -> Iterator[ScriptedServer]:
    """A running server."""
    server = ScriptedServer(answers, resets=resets)
    try:
        yield server
    finally:
        server.close()
