"""Files are read safely, replaced whole or not at all, and locked for one DAGMan."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError
from condor_pydagman.names import DagPaths


def test_text_is_read_back_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\r\nb\xff\xc3\xa9\n")
    text = files.read_text(str(path))
    files.replace(str(tmp_path / "g"), [text])
    assert (tmp_path / "g").read_bytes() == path.read_bytes()


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(FileError, match="not a regular file"):
        files.read_text(str(tmp_path / "f"))


def test_a_directory_and_a_device_are_refused(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/dev/zero"):
        with pytest.raises((FileError, IsADirectoryError)):
            files.read_text(path)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.read_text(str(tmp_path / "nosuch"))


@pytest.mark.parametrize("durable", [True, False])
def test_replace_makes_and_replaces(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "f"
    files.replace(str(path), ["one\n", "two\n"], durable=durable)
    assert path.read_text() == "one\ntwo\n"
    files.replace(str(path), ["three\n"], durable=durable)
    assert path.read_text() == "three\n"
    assert os.listdir(tmp_path) == ["f"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_the_mode_of_the_old_file_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")
    path.chmod(mode)
    files.replace(str(path), ["new\n"], keep_mode=True)
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_text() == "new\n"


def test_a_reader_keeps_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")
    with path.open() as reader:
        files.replace(str(path), ["new, and longer\n"])
        assert reader.read() == "old\n"


def test_what_is_left_of_an_earlier_try_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "f.tmp").write_text("half of something that is much longer")
    files.replace(str(tmp_path / "f"), ["new\n"])
    assert (tmp_path / "f").read_text() == "new\n"
    assert os.listdir(tmp_path) == ["f"]


def test_a_text_that_fails_while_it_is_made_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old\n")

    def text():  # type: ignore[no-untyped-def]
        yield "half\n"
        raise OSError(5, "Input/output error")

    with pytest.raises(FileError, match="Input/output error"):
        files.replace(str(tmp_path / "f"), text())
    assert (tmp_path / "f").read_text() == "old\n"
    assert os.listdir(tmp_path) == ["f"]


def test_somebody_else_replaces_the_file_at_the_same_moment(tmp_path: Path) -> None:
    """Two condor_submit_dag of the same DAG: the last one wins, and each file is whole."""
    path = tmp_path / "f"

    def lines() -> Iterator[str]:
        yield "ours "
        files.replace(str(path), ["theirs"])
        assert path.read_text() == "theirs"
        yield "alone"

    files.replace(str(path), lines())
    assert path.read_text() == "ours alone"
    assert os.listdir(tmp_path) == ["f"]


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"can't write .*/nosuch/f: No such file"):
        files.replace(str(tmp_path / "nosuch" / "f"), ["x"])
    with pytest.raises(FileError, match=r"can't write .*/nosuch/f: No such file"):
        files.append_lines(str(tmp_path / "nosuch" / "f"), ["x"])


def test_a_link_in_the_way_of_a_replacement_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "f.tmp").symlink_to("precious")
    files.replace(str(tmp_path / "f"), ["x"])
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "f").read_text() == "x"
    assert not (tmp_path / "f").is_symlink()


@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir], ids=lambda make: make.__name__)
def test_what_is_in_the_way_of_a_replacement_is_left_alone(
    tmp_path: Path, plant: Callable[[Path], object]
) -> None:
    plant(tmp_path / "f.tmp")
    files.replace(str(tmp_path / "f"), ["x"])
    assert (tmp_path / "f").read_text() == "x"
    assert sorted(os.listdir(tmp_path)) == ["f", "f.tmp"]


def test_a_file_that_another_process_is_writing_is_left_to_it(tmp_path: Path) -> None:
    with (tmp_path / "f.tmp").open("w") as theirs:
        fcntl.flock(theirs, fcntl.LOCK_EX)
        theirs.write("half")
        files.replace(str(tmp_path / "f"), ["ours"])
    assert (tmp_path / "f").read_text() == "ours"
    assert (tmp_path / "f.tmp").read_text() == "half"
    files.replace(str(tmp_path / "f"), ["ours"])
    assert os.listdir(tmp_path) == ["f"]  # it was killed


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    for text in ("one", "two"):
        files.replace(str(tmp_path / "f"), [text])
        assert (tmp_path / "f").read_text() == text
        assert os.listdir(tmp_path) == ["f"]
    (tmp_path / "f.tmp").write_text("perhaps of a process that lives")
    files.replace(str(tmp_path / "f"), ["three"])
    assert sorted(os.listdir(tmp_path)) == ["f", "f.tmp"]


FULL = """\
import resource, sys
from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    getattr(files, sys.argv[1])(sys.argv[2], ["much longer than ten bytes\\n"] * 1000)
except FileError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["replace", "append_lines"])
def test_a_full_disk_leaves_the_old_file_without_a_piece_of_a_line(
    tmp_path: Path, how: str
) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")
    done = subprocess.run(
        [sys.executable, "-c", FULL, how, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"can't write {path}: ")
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize(
    ("number", "transient"), [("ENOSPC", True), ("EIO", True), ("EACCES", False)]
)
def test_what_may_pass_is_told_from_what_does_not(
    tmp_path: Path, number: str, transient: bool
) -> None:
    def lines() -> Iterator[str]:
        yield "half"
        raise OSError(getattr(errno, number), "a reason")

    with pytest.raises(FileError, match=r"can't write .*: a reason") as caught:
        files.replace(str(tmp_path / "f"), lines())
    assert caught.value.transient is transient


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "f"
    files.append_lines(str(path), ["one\n", "two\n"])
    files.append_lines(str(path), ["three\n"])
    assert path.read_text() == "one\ntwo\nthree\n"


def test_a_log_may_be_a_link_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("one\n")
    (tmp_path / "log").symlink_to("there")
    files.append_lines(str(tmp_path / "log"), ["two\n"])
    assert (tmp_path / "there").read_text() == "one\ntwo\n"


def test_a_log_that_links_to_nothing_makes_no_file_there(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("there")
    with pytest.raises(FileError, match=r"can't write .*/log: No such file"):
        files.append_lines(str(tmp_path / "log"), ["two\n"])
    assert not (tmp_path / "there").exists()


def _touch(directory: Path, *names: str) -> None:
    for name in names:
        (directory / name).write_text("")


def test_rescue_numbers(tmp_path: Path) -> None:
    _touch(tmp_path, "t.dag.rescue002", "t.dag.rescue010", "t.dag.rescue1000", "t.dag.rescue001")
    _touch(tmp_path, "t.dag.rescue", "t.dag.rescue01", "t.dag.rescue003.old", "xt.dag.rescue004")
    _touch(tmp_path, "tXdag.rescue005", "t.dag_multi.rescue006", "t.dag.rescue007.tmp")
    _touch(tmp_path, "t.dag.rescue000", "t.dag.rescue0003")
    paths = DagPaths(str(tmp_path / "t.dag"))
    assert files.rescue_numbers(paths) == [1, 2, 10, 1000]
    assert files.rescue_numbers(DagPaths(paths.primary, multi=True)) == [6]


def test_rescue_numbers_in_this_directory(work_directory: Path) -> None:
    _touch(work_directory, "a+b.dag.rescue001")
    assert files.rescue_numbers(DagPaths("a+b.dag")) == [1]
    assert files.rescue_numbers(DagPaths("nosuch/a+b.dag")) == []


def _lines(count: int) -> str:
    return "".join(f"JOB n{number} é.sub\r\n" for number in range(count))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a\nb\n",
        _lines(100),
        _lines(100) + "no line feed",
        "\n" * 300,
        "x" * 700,
        "x" * 700 + "\n" + "y" * 700,
        _lines(10) + "x" * 700 + "\n" + _lines(10),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 64, 100, 1 << 18])
def test_blocks_are_the_file(
    tmp_path: Path, text: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", size)
    path = tmp_path / "f"
    path.write_bytes(text.encode())
    blocks = list(files.DagFiles().read(str(path)))
    assert "".join(blocks) == text == files.read_text(str(path))
    assert all(block.endswith("\n") for block in blocks[:-1])


def test_blocks_are_small_and_end_between_characters(tmp_path: Path) -> None:
    path = tmp_path / "f"
    text = _lines(60_000)
    path.write_bytes(text.encode() + b"\xff\xc3\n")
    blocks = list(files.DagFiles().read(str(path)))
    assert len(blocks) > 3
    assert max(map(len, blocks)) <= files.BLOCK_BYTES
    assert "".join(blocks) == text + "\udcff\udcc3\n"


def test_a_line_without_end_comes_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 10)
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    path = tmp_path / "f"
    path.write_text("x" * 5000)
    blocks = list(files.DagFiles().read(str(path)))
    assert "".join(blocks) == "x" * 5000
    assert len(blocks) > 1
    assert max(map(len, blocks)) < 500


@pytest.mark.parametrize("change", ["longer", "replaced", "gone", "shorter"])
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 64)
    path = tmp_path / "f"
    path.write_text(_lines(100))
    os.utime(path, (1, 1))
    blocks = files.DagFiles().read(str(path))
    assert next(blocks)
    if change == "gone":
        path.unlink()
    elif change == "replaced":
        files.replace(str(path), [_lines(100)])
    else:
        with path.open("a" if change == "longer" else "w") as file:
            file.write("more\n")
    with pytest.raises((FileError, FileNotFoundError), match=r"was changed|No such file"):
        list(blocks)


def test_very_many_files_can_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 16)
    path = tmp_path / "f"
    path.write_text(_lines(10))
    begun = [files.DagFiles().read(str(path)) for _ in range(5000)]
    for blocks in begun:
        next(blocks)
    assert len("".join(begun[-1])) > 16


@pytest.mark.parametrize("size", [64, 1 << 18])
def test_a_file_that_is_read_twice_while_another_is_read(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", size)
    path = tmp_path / "f"
    path.write_bytes(_lines(50).encode())
    first, second = files.DagFiles().read(str(path)), files.DagFiles().read(str(path))
    found = [next(first)]
    assert "".join(second) == _lines(50)
    assert "".join(found + list(first)) == _lines(50)


def test_work_inside_a_directory_ends_where_it_began(tmp_path: Path) -> None:
    home = os.getcwd()
    with pytest.raises(ZeroDivisionError), files.working_directory(str(tmp_path)):
        assert os.getcwd() == str(tmp_path)
        raise ZeroDivisionError
    with pytest.raises(FileNotFoundError), files.working_directory(str(tmp_path / "nosuch")):
        pass
    with files.working_directory(""):
        assert os.getcwd() == home
    assert os.getcwd() == home
