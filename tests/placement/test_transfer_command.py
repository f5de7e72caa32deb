"""`condor_pydagman transfer`, as a person types it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.data_requests.settings import Settings
from tests.waiting import LIMIT_S


@pytest.fixture(autouse=True)
def transfer_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # its handlers would stay
    settings = Settings(directory=str(work_directory / "shared"), max_retries=0)
    monkeypatch.setattr(
        "condor_pydagman.placement.transfer_command.configured_settings", lambda: settings
    )
    (work_directory / "a").write_text("content")
    return work_directory


def transfer(*words: str) -> int:
    return pydagman.main(["transfer", *words])


def test_one_file(transfer_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert transfer("--copy", "a", "b") == 0
    assert (transfer_directory / "b").read_text() == "content"
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"done: {transfer_directory}/a -> {transfer_directory}/b: 7 bytes, ")
    assert said[1].startswith("1 placement done; 7 bytes")
    (transfer_directory / "d").mkdir()
    assert transfer("--copy", "-q", "a", "d") == 0
    assert (transfer_directory / "d" / "a").exists()
    assert transfer("--copy", "--if-exists", "fail", "a", "b") == 14


def test_a_request_file_with_macros(transfer_directory: Path) -> None:
    (transfer_directory / "sub").mkdir()
    (transfer_directory / "sub" / "x.dap").write_text(
        "dap_type = transfer\nsrc_url = ../$(what)\ndest_url = c\n"
    )
    assert transfer("-D", "what=a", "sub/x.dap") == 0
    assert (transfer_directory / "sub" / "c").read_text() == "content"


def test_json(transfer_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert transfer("--json", "--copy", "a", "b") == 0
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["state"], said["size"], said["way"]) == (
        "request_completed", 7, "direct file-file",
    )  # fmt: skip
    assert transfer("--json", "--copy", "nothing", "b") == 12
    said = json.loads(capsys.readouterr().out)
    assert said["fault"] == "missing"


def test_a_wrong_request(transfer_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (transfer_directory / "x.dap").write_text("dap_type = transfer\nsrc_ur = a\n")
    assert transfer("x.dap") == 10
    said = capsys.readouterr().err
    assert "x.dap:2:1:" in said
    assert "did you mean src_url?" in said


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing.dap"], 1, "can't read the request file nothing.dap"),
        (["--copy", "a"], 2, "--copy takes SOURCE and DESTINATION"),
        (["--copy", "http://", "b"], 2, "no host"),
        (["http://h/a", "b"], 2, "without a request file, use --copy SOURCE DESTINATION"),
        (["--copy", "--checksum", "md5:12", "a", "b"], 2, "md5 has 32 hexadecimal digits"),
        (["--copy", "--checksum", "12", "a", "b"], 2, "written like md5:<digits>"),
        (["--copy", "--checksum", f"md5:{0:032}", ".", "b/"], 2, "for one file, not for several"),
        (["--copy", "--checksum", f"md5:{0:032}", "*", "b/"], 2, "for one file, not for several"),
        (["--checksum", f"md5:{0:032}", "y.dap"], 2, "in a request file, set checksum"),
        (["--if-exists", "skip", "y.dap"], 2, "in a request file, set if_exists"),
        (["--clean", "--if-exists", "skip", "y.dap"], 2, "--if-exists is for --copy"),
        (["-D", "x", "y.dap"], 2, "must be NAME=VALUE"),
        (["--streams", "0", "y.dap"], 2, "not a number from 1 to 64"),
        (["--retries", "-1", "y.dap"], 2, "not a number from 0 to 1000"),
        ([], 2, "FILE"),
    ],
)
def test_wrong_words(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = transfer(*words)
    except SystemExit as leaving:
        found = int(str(leaving.code))
    assert found == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("scheme", ["http", "sftp"])
def test_signals_do_not_wait_for_a_server(transfer_directory: Path, scheme: str) -> None:
    """One ends a request to it; a second one is needed while an ssh client connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:  # it accepts, and says nothing
        url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/a"
        program = "import sys; from condor_pydagman.cli import pydagman; sys.exit(pydagman.main())"
        command = [sys.executable, "-c", program, "transfer", "--copy", url, "b"]
        environment = {
            **os.environ,
            "_CONDOR_PYDAGMAN_PLACEMENT_DIR": str(transfer_directory / "shared"),
        }
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, env=environment, text=True
        ) as running:
            connection, _ = server.accept()
            running.send_signal(signal.SIGINT)
            assert running.stderr is not None
            if scheme == "sftp":
                assert "press Ctrl-C again to stop at once" in running.stderr.readline()
                running.send_signal(signal.SIGINT)
            expected = 21 if scheme == "http" else -signal.SIGINT
            assert running.wait(timeout=LIMIT_S) == expected
            connection.close()


def test_messages_on_a_full_disk_stop_no_transfer(transfer_directory: Path) -> None:
    code = "import sys; from condor_pydagman.cli import pydagman; sys.exit(pydagman.main())"
    for source, expected in (("a", 0), ("none", 12)):
        words = [sys.executable, "-c", code, "transfer", "--copy", source, "b"]
        with open("/dev/full", "w") as full:
            process = subprocess.Popen(
                words,
                stderr=full,
                env={**os.environ, "_CONDOR_PYDAGMAN_PLACEMENT_DIR": str(transfer_directory)},
            )
            assert process.wait(LIMIT_S) == expected
    assert (transfer_directory / "b").read_text() == "content"


def test_clean(transfer_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [transfer_directory / f".{name}.12345678.12345678.part" for name in ("b", "c")]
    for path in parts:
        path.write_text("x")
    request = "dap_type = transfer\nsrc_url = a\ndest_url = $(to)\n"
    (transfer_directory / "x.dap").write_text(request)
    assert transfer("--clean", "-D", "to=b", "x.dap") == 0
    assert [path.exists() for path in parts] == [False, True]
    assert not (transfer_directory / "b").exists()
    assert transfer("--clean", str(transfer_directory)) == 0
    assert not any(path.exists() for path in parts)
    assert capsys.readouterr().err.splitlines() == [f"removed: {path}" for path in parts]
    for _ in range(2):
        assert transfer("--clean", "--quiet", str(transfer_directory)) == 0
        assert capsys.readouterr().err == ""
    assert transfer("--clean", str(transfer_directory)) == 0
    assert capsys.readouterr().err == "there is nothing to be removed\n"
    assert transfer("--clean", "--copy", "a", "none/b") == 0
