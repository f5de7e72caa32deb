"""Data placement beside curl, cp and rclone, on servers of this machine.

    .venv/bin/python -m benchmarks.placements [--rounds N] [--files N] [--megabytes N] [--protocols]

Each row runs our command and its peer in turn, several times; what is told is the shortest time of
each, as other things of the machine (the disk's cache, most of all) only add to it, and their
ratio.  nginx and rclone are Debian's (apt-get install nginx-light rclone).
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers.certificates import Authority
from tests.servers.real import SERVERS, free_port

OURS = [sys.executable, "-m", "condor_pydagman.cli.pydagman", "transfer", "--quiet"]
STREAMS = 4
_NGINX = """\
daemon off; worker_processes 1; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 512; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000;
    client_body_temp_path {place}/t1; proxy_temp_path {place}/t2; fastcgi_temp_path {place}/t3;
    uwsgi_temp_path {place}/t4; scgi_temp_path {place}/t5;
    server {{ listen 127.0.0.1:{port}; root {place}; autoindex on; }}
    server {{ listen 127.0.0.1:{tls_port} ssl; root {place};
              ssl_certificate {certificate}; ssl_certificate_key {certificate}; }}
}}
"""


@contextmanager
def nginx(place: Path) -> Iterator[tuple[str, str, Path]]:
    """A web server with the files of a directory: its URLs, by http and https, without `/` at the
    end, and the authority to trust."""
    port, tls_port = free_port(), free_port()
    (place / "tls").mkdir(exist_ok=True)
    authority = Authority(place / "tls")
    text = _NGINX.format(
        place=place, port=port, tls_port=tls_port, certificate=authority.signed("127.0.0.1")
    )
    (place / "nginx.conf").write_text(text)
    server = subprocess.Popen(["nginx", "-c", str(place / "nginx.conf")])
    try:
        time.sleep(1)
        yield f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}", authority.file
    finally:
        server.terminate()
        server.wait()


def timed(
    command: Sequence[str], place: Path, environment: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Seconds, and memory in MB, of a command that writes to `out`, which is removed before."""
    if (place / "out").exists():
        _put_away(place)
    (place / "out").mkdir()
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=place,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    assert status == 0, command
    return seconds, usage.ru_maxrss * 1024 / 1e6


def _put_away(place: Path) -> None:
    """Remove what the last run has written.

    Many small files are only moved: for seconds, ext4 looks past each inode that has become free,
    and a run that makes files then takes three times as long.
    """
    if (place / "out" / "big").exists():
        shutil.rmtree(place / "out")
    else:
        (place / "out").rename(place / f"old{time.monotonic_ns()}")


def row(name: str, place: Path, rounds: int, ours: Sequence[str], peer: Sequence[str]) -> str:
    """A row of the table: shortest times, ratio of speeds, and our memory."""
    mine, theirs, memory = [], [], 0.0
    for _ in range(rounds):
        seconds, used = timed(ours, place)
        mine.append(seconds)
        memory = max(memory, used)
        theirs.append(timed(peer, place)[0])
    one, other = min(mine), min(theirs)
    return f"| {name} | {one:.2f} s | {other:.2f} s | {other / one:.2f} | {memory:.0f} MB |"


def rows(place: Path, url: str, tls_url: str, arguments: argparse.Namespace) -> Iterator[str]:
    """All rows."""
    rounds = arguments.rounds
    big, small = place / "big", place / "small"
    _fill(big, arguments.megabytes)
    small.mkdir()
    for number in range(arguments.files):
        (small / f"f{number}").write_bytes(os.urandom(1000 + number % 9000))
    size = f"{arguments.megabytes} MB"
    copy = [*OURS, "--copy"]
    get = ["curl", "-so", "out/big", f"{url}/big"]
    yield row(f"{size}, http to disk; curl", place, rounds, [*copy, f"{url}/big", "out/big"], get)
    get = ["curl", "-so", "out/big", f"{tls_url}/big"]
    yield row(
        f"{size}, https to disk; curl", place, rounds, [*copy, f"{tls_url}/big", "out/big"], get
    )
    yield row("1 kB, http to disk, mostly the start of the interpreter; curl", place, rounds,
              [*copy, f"{url}/nginx.conf", "out/x"],
              ["curl", "-so", "out/x", f"{url}/nginx.conf"])  # fmt: skip
    yield row(f"{size}, disk to disk; cp", place, rounds,
              [*copy, "big", "out/big"], ["cp", "big", "out/big"])  # fmt: skip
    yield row("1 kB, disk to disk, the start of the interpreter alone; cp", place, rounds,
              [*copy, "nginx.conf", "out/x"], ["cp", "nginx.conf", "out/x"])  # fmt: skip
    if not arguments.files:
        return
    many = f"{arguments.files} files of 1 to 10 kB"
    streams = ["--streams", str(STREAMS)]
    rclone = ["rclone", "copy", "--transfers", str(STREAMS), "--checkers", str(STREAMS)]
    for kind, source, more in (
        ("disk", str(small), ["small", "out"]),
        ("http", f"{url}/small", ["--http-url", url, ":http:small/", "out"]),
    ):
        _request(place, source, arguments.files)
        if kind == "http":
            bare = [sys.executable, "-m", "benchmarks.bare_multi", source, str(arguments.files)]
            peer = "a bare loop of libcurl's"
            yield row(f"{many}, http to disk, a request each; {peer}", place, rounds,
                      [*OURS, *streams, "many.dap"], [*bare, str(STREAMS)])  # fmt: skip
        yield row(f"{many}, {kind} to disk, a request each; rclone", place, rounds,
                  [*OURS, *streams, "many.dap"], [*rclone, *more])  # fmt: skip
        yield row(f"{many}, {kind} to disk, as a directory; rclone", place, rounds,
                  [*OURS, *streams, "--copy", f"{source}/", "out/"], [*rclone, *more])  # fmt: skip


def _fill(path: Path, megabytes: int) -> None:
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(1 << 20))


def protocol_rows(place: Path, megabytes: int) -> Iterator[str]:
    """Memory and speed by protocol: a file to a real server, and back."""
    source = place / "source"
    _fill(source, megabytes)
    for scheme, start in SERVERS.items():
        directory = place / f"server-{scheme}"
        directory.mkdir()
        with start(directory) as server:
            options = f'cred_name = "{server.credential}"; ' if server.credential else ""
            cells = []
            for ends in ((str(source), f"{server.url}a"), (f"{server.url}a", "out/a")):
                (place / "one.dap").write_text(
                    f'[ dap_type = "transfer"; {options}'
                    f'src_url = "{ends[0]}"; dest_url = "{ends[1]}" ]\n'
                )
                environment = {**os.environ, **server.environment}
                seconds, memory = timed([*OURS, "one.dap"], place, environment)
                cells.append(f"{megabytes / seconds:.0f} MB/s | {memory:.0f} MB")
        yield f"| {scheme} | {' | '.join(cells)} |"


def _request(place: Path, source: str, files: int) -> None:
    with (place / "many.dap").open("w") as file:
        for number in range(files):
            file.write(
                f'[ dap_type = "transfer"; src_url = "{source}/f{number}";'
                f' dest_url = "out/f{number}" ]\n'
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=10_000, help="0: only the big one")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--protocols", action="store_true", help="speed and memory of each")
    parser.add_argument("--directory", default="/var/tmp")
    arguments = parser.parse_args()
    missing = [name for name in ("curl", "nginx", "rclone") if not shutil.which(name)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; apt-get install nginx-light rclone curl")
    package = Path(__file__).parents[1] / "condor_pydagman"
    compileall.compile_dir(package, quiet=1)  # as an installed one is
    place = Path(tempfile.mkdtemp(dir=arguments.directory))
    place.chmod(0o755)
    try:
        if arguments.protocols:
            print("| protocol | written | memory | read | memory |\n|---|---|---|---|---|")
            for line in protocol_rows(place, min(arguments.megabytes, 300)):
                print(line, flush=True)
            return
        print("| what; peer | ours | peer | speed, of the peer's | memory |\n|---|---|---|---|---|")
        with nginx(place) as (url, tls_url, authority):
            os.environ["CURL_CA_BUNDLE"] = str(authority)  # curl and we read it before others
            for line in rows(place, url, tls_url, arguments):
                print(line, flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
