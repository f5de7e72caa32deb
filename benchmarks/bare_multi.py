"""Many small files by libcurl's multi interface and nothing else: what a transfer can't beat.

    python -m benchmarks.bare_multi URL FILES CONNECTIONS

Fetches URL/f0, URL/f1, ... into the directory `out`: no temporary names, no checks, no journal.
"""

from __future__ import annotations

import sys

import pycurl


def main(url: str, files: int, connections: int) -> None:
    """Fetch the files."""
    multi = pycurl.CurlMulti()
    waiting = list(range(files))
    free = [pycurl.Curl() for _ in range(connections)]
    bodies: dict[pycurl.Curl, tuple[int, list[bytes]]] = {}
    while waiting or bodies:
        while waiting and free:
            easy, number, blocks = free.pop(), waiting.pop(), list[bytes]()
            easy.setopt(pycurl.URL, f"{url}/f{number}")
            easy.setopt(pycurl.WRITEFUNCTION, blocks.append)
            bodies[easy] = number, blocks
            multi.add_handle(easy)
        multi.perform()
        _, done, failed = multi.info_read()
        assert not failed, failed
        for easy in done:
            multi.remove_handle(easy)
            number, blocks = bodies.pop(easy)
            with open(f"out/f{number}", "wb") as file:
                file.writelines(blocks)
            free.append(easy)
        if not done:
            multi.select(1.0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
