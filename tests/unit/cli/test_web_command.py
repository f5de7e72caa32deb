"""condor_pydagman web: the server as a user starts and ends it."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from condor_pydagman.adapters import installation
from condor_pydagman.cli import pydagman, web_command
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.web.dags_list import id_of
from tests.dag_logs import DagLogs
from tests.waiting import LIMIT_S

pytest.importorskip("aiohttp")


@contextlib.contextmanager
def served(*words: str) -> Iterator[tuple[subprocess.Popen[str], str, int, str]]:
    """The process, and host, port and rest of the address that it has printed."""
    argv = [sys.executable, "-m", "condor_pydagman.cli.pydagman", "web", "--no-browser", *words]
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            host, _, path = url.removeprefix("http://").partition("/")
            name, _, port = host.partition(":")
            yield process, name, int(port), f"/{path}"
        finally:
            process.kill()


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.fixture
def dag(work_directory: Path) -> str:
    (work_directory / "t.dag").write_text("JOB A a.sub\n")
    DagLogs(work_directory).start()
    return "t.dag"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_from_the_address_to_the_end(dag: str, end: signal.Signals, address: str) -> None:
    if address == "::1" and not has_ipv6():
        pytest.skip("no IPv6 here")
    with served(dag) as (process, name, port, url):
        path, _, shown = url.partition("#/")
        assert path.startswith("/?token=")
        assert shown == id_of(find_dag(dag))
        connection = http.client.HTTPConnection(address, port, timeout=LIMIT_S)
        with contextlib.closing(connection) as browser:
            host = {"Host": f"{name}:{port}"}
            browser.request("GET", path)
            answer = browser.getresponse()
            assert (answer.status, b"only under the name" in answer.read()) == (403, True)
            browser.request("GET", path, headers=host)
            answer = browser.getresponse()
            answer.read()
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            assert answer.headers["Clear-Site-Data"] == '"storage"'
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
            browser.request("GET", "/api/dags/none", headers={"Cookie": cookie, **host})
            answer = browser.getresponse()
            answer.read()
            assert answer.status == 404
        with open(f"/proc/{process.pid}/cmdline", encoding="utf-8") as file:
            assert "token" not in file.read()
        process.send_signal(end)
        assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_what_is_no_request_is_not_told(dag: str) -> None:
    """Every user of the machine could fill the terminal with it."""
    with served(dag) as (process, _name, port, _path):
        for sent in (b"\x1b]0;x\7 / HTTP/1.1\r\n\r\n", b"A" * 10_000, b"\x16\3\1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), LIMIT_S) as client:
                client.sendall(sent)
                assert client.recv(100).startswith(b"HTTP/1.0 400 ")
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_port_that_is_taken(dag: str, capsys: pytest.CaptureFixture[str], address: str) -> None:
    """At either address: the browser may send the page's requests there."""
    if address == "::1" and not has_ipv6():
        pytest.skip("no IPv6 here")
    family = socket.AF_INET6 if address == "::1" else socket.AF_INET
    with socket.create_server((address, 0), family=family) as taken:
        port = str(taken.getsockname()[1])
        with ThreadPoolExecutor(1) as apart:  # a test's browser may have a loop in this thread
            words = ["web", "--no-browser", "--port", port, dag]
            assert apart.submit(pydagman.main, words).result() == 1
    assert f"can't listen on port {port} of {address}: " in capsys.readouterr().err


def test_a_dag_that_is_not_there(dag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["web", "--no-browser", "x.dag"]) == 1
    assert "there is no DAG file x.dag" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "x", "²"])
def test_ports_that_are_none(dag: str, port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        pydagman.main(["web", f"--port={port}", dag])
    assert left.value.code == 2
    assert "is not a number from 0 to 65535" in capsys.readouterr().err


def test_without_aiohttp(
    dag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    assert pydagman.main(["web", dag]) == 1
    assert f"{sys.executable} -m pip install aiohttp" in capsys.readouterr().err


def test_without_aiohttp_where_a_distribution_has_installed_the_program(
    dag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pip refuses, and would install the program a second time."""
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.setattr(installation, "packaged_commands", lambda: "/usr/lib/condor_pydagman/bin")
    assert pydagman.main(["web", dag]) == 1
    error = capsys.readouterr().err
    assert "install your distribution's package python3-aiohttp" in error
    assert "pip" not in error


def test_a_browser_gets_the_secret_by_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in a command line, every user can read."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    with web_command._opened("http://127.0.0.1:1/?token=secret"):
        (url,) = opened
        assert "secret" not in url
        path = Path(url.removeprefix("file://"))
        assert path.stat().st_mode & 0o777 == 0o600
        assert "url=http://127.0.0.1:1/?token=secret" in path.read_text()
    assert not path.exists()
    monkeypatch.setenv("SSH_CONNECTION", "x")
    with web_command._opened("http://127.0.0.1:1/?token=secret"):
        assert len(opened) == 1
