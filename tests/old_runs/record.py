"""Plays the DAGs of `scenes.py` with the version that is checked out, and keeps what they leave."""

from __future__ import annotations

import argparse
import http.server
import os
import re
import shutil
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from condor_pydagman.pool import Pool
from tests.old_runs.readers import expectations
from tests.old_runs.runs import DIRECTORY, OPAQUE, RUNS, json_text
from tests.old_runs.scenes import SCENES, Play
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.dagmans import send

AT_ONCE = 8
ALONE = ("lost_events",)  # it empties the schedd's history
MAX_OUT_BYTES = 100_000
SERVER_PORT = 41817  # that of the DATA nodes' server, which never answers to the end
# Attributes of jobs that DAGMan or a reader of a DAG looks at, or that start something.
ATTRIBUTES = re.compile(
    r"ClusterId|ProcId|JobStatus|JobUniverse|Cmd|Args|Arguments|Iwd|UserLog|DAG\w*|Job(Batch|Prio)\w*"
    r"|(My|Match|MATCH_)\w*|PYDAGMAN_\w*|Placement\w*|ProvisionerState|OtherJobRemoveRequirements"
    r"|JobMaterialize\w*|SubmitEvent\w*|HoldReason\w*|QDate|NumJobStarts|OnExitRemove|OnExitRemoveCheck"
)
SECRET = re.compile(r"Session|Address|Capability|Environment|Env|DAG_Stats")


def main() -> int:
    """Record the scenes that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="the name under which the runs are kept")
    parser.add_argument("names", nargs="*", help="of scenes (default: all)")
    parser.add_argument(
        "--only-expect",
        action="store_true",
        help="play nothing: write what this version makes of the runs of that version",
    )
    parser.add_argument(
        "--base",
        type=Path,
        default=Path("/dags"),
        help="where the DAGs run; their files must have no other path of the machine"
        " (default: %(default)s)",
    )
    arguments = parser.parse_args()
    names = arguments.names or list(SCENES)
    if arguments.only_expect:
        return _expect_all(arguments.version, names)
    base: Path = arguments.base
    base.mkdir(exist_ok=True)
    base.chmod(0o1777)
    pool = Pool(base / "pool")
    pool.start(slots=64)
    try:
        good = _record(pool, base, arguments.version, names)
    finally:
        pool.stop()
        shutil.rmtree(pool.directory, ignore_errors=True)
    return _expect_all(arguments.version, names) or int(not good)


def _expect_all(version: str, names: list[str]) -> int:
    for kept in (RUNS / version).iterdir():
        if kept.name in names:
            _expect(kept)
    return 0


def _expect(kept: Path) -> None:
    (kept / "expected.json").write_text(json_text(expectations(kept)), encoding="utf-8")


def _record(pool: Pool, base: Path, version: str, names: list[str]) -> bool:
    _serve()
    recorder = _Recorder(pool, base, version)
    together = [name for name in names if name not in ALONE]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        good = list(threads.map(recorder.one, together))
    good += [recorder.one(name) for name in names if name in ALONE]
    return all(good)


def _serve() -> None:
    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * 10)
            time.sleep(600)

        do_HEAD = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", SERVER_PORT), Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()


class _Recorder:
    def __init__(self, pool: Pool, base: Path, version: str) -> None:
        self.access_point, self.base, self.version = AccessPoint(pool), base, version

    def one(self, name: str) -> bool:
        work = self.base / name.replace("_", "-")
        shutil.rmtree(work, ignore_errors=True)
        play = Play(self.access_point, new_directory(work))
        try:
            SCENES[name](play)
            self.keep(name, play)
        except Exception:
            print(f"{name}: {traceback.format_exc()}", flush=True)
            return False
        finally:
            pid = play.pid()
            if pid:
                send(pid)
            if play.cluster:
                self.access_point.run("condor_rm", str(play.cluster), check=False)
        print(f"{name}: kept", flush=True)
        return True

    def keep(self, name: str, play: Play) -> None:
        """Copy what is there, without paths and names of this machine."""
        target = RUNS / self.version / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        which = f"ClusterId == {play.cluster} || DAGManJobId == {play.cluster}"
        ads = [_kept(ad) for ad in self.access_point.queue(which)]
        (target / "queue.json").write_text(self.scrubbed(play.work, json_text(ads)))
        for path in sorted(play.work.rglob("*")):
            within = path.relative_to(play.work)
            if path.is_file() and not _is_left_out(path):
                self._copy(path, target / self.scrubbed(play.work, str(within)), play.work)

    def _copy(self, path: Path, target: Path, work: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        if b"\0" in data:
            assert data.startswith(b"SQLite"), f"{path} is no text"
            target = target.with_name(target.name + ".sql")
            data = _dump(path).encode()
        text = data.decode("utf-8", "surrogateescape")
        if path.name.endswith(".dagman.out"):  # long lines, which nobody reads back
            text = re.sub(r".* DAGMan Runtime Statistics: .*\n", "", text)
        if path.suffix != OPAQUE:
            text = self.scrubbed(work, text)
        target.write_text(text, errors="surrogateescape")
        target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)

    def scrubbed(self, work: Path, text: str) -> str:
        checkout = str(Path(__file__).resolve().parents[2])
        words = {
            str(work): DIRECTORY,
            str(self.access_point.pool.directory): "/pool",
            str(Path(sys.prefix)): "/opt/pydagman",
            checkout: "/opt/checkout",
            os.path.expanduser("~"): "/home/dagman",
            socket.getfqdn(): "ap.example.org",
            socket.gethostname(): "ap.example.org",
        }
        for real, neutral in words.items():
            text = text.replace(real, neutral)
        prefix = r"/home/dagman/\.cache/condor_pydagman/htcondor/[^/]*/usr"
        text = re.sub(prefix, "/usr", text)
        text = re.sub(r'"PATH": "[^"]*"', '"PATH": "/opt/pydagman/bin:/usr/bin:/bin"', text)
        text = re.sub(r"<127\.0\.0\.1:[^>\s]*>", "<192.0.2.17:9618>", text)
        return re.sub(r"(?i)(secret|session)(\w*) ?= ?\S+", r"\1\2=x", text)


def _kept(ad: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in ad.items()
        if ATTRIBUTES.fullmatch(name) and not SECRET.search(name)
    }


def _is_left_out(path: Path) -> bool:
    name = path.name
    return (
        name in ("ledger", "told")
        or name.startswith("hold.")
        or path.stat().st_size > MAX_OUT_BYTES
    )


def _dump(path: Path) -> str:
    import sqlite3

    with sqlite3.connect(path) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        return "\n".join([f"PRAGMA user_version={version};", *database.iterdump(), ""])


if __name__ == "__main__":
    sys.exit(main())
