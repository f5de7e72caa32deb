"""Files that are no DAG files, or too many of them: a clear answer, in bounded memory.

The large ones are so large that their tests end only if reading takes linear time.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.lines import MAX_COMMAND_LENGTH
from tests.fuzz.rules import check_dag
from tests.waiting import LIMIT_S

pytestmark = pytest.mark.usefixtures("work_directory")


ROOT = Path(__file__).resolve().parents[2]
JOBS = "JOB A a.sub\nJOB B b.sub\n"
EDGE = "PARENT A CHILD B\n"
MEGABYTE = 1 << 20


def write(name: str, text: str | bytes) -> None:
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    Path(name).write_bytes(data)


def read(file: str = "x.dag", **options: bool) -> Dag:
    dag = build([file], DagFiles().read, BuildOptions(**options))  # type: ignore[arg-type]
    check_dag(dag)
    return dag


def first_error(file: str = "x.dag", **options: bool) -> DagFileError:
    with pytest.raises(DagFileErrors) as caught:
        read(file, **options)
    assert caught.value.detail().replace("\n", "").isprintable()
    return caught.value.errors[0]


def refused(text: str | bytes) -> str:
    write("x.dag", text)
    error = first_error()
    assert error.file == "x.dag"
    assert error.line > 0
    return error.detail()


# What is in the file.


def test_binary_junk() -> None:
    junk = bytes(range(256)) * 40
    assert "x.dag:1" in refused(junk)
    assert "x.dag:1" in refused(junk.replace(b"\0", b""))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(encoding: str) -> None:
    assert "UTF-16" in refused((JOBS + EDGE).encode(encoding))


def test_bytes_that_are_not_utf_8_are_kept_and_shown_safely() -> None:
    write("x.dag", b"JOB \xe9\xff a.sub\nJOB B b.sub\nPARENT B CHILD \xe9\xff\n")
    dag = read()
    assert dag.names == ["\udce9\udcff", "B"]
    assert list(dag.children(1)) == [0]
    assert r"\xfe" in refused(b"JOB \xff a.sub\nPARENT \xff CHILD \xfe\n")


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("", 0),
        ("\n \n\r\n", 0),
        ("# nothing\n// at all", 0),
        ("JOB A a.sub", 1),
        (JOBS.replace("\n", "\r\n"), 2),
        ("JOB A a.sub\n \\", 1),
    ],
    ids=["empty", "blank", "comments", "no-last-newline", "crlf", "cut-off"],
)
def test_odd_but_good(text: str, nodes: int) -> None:
    write("x.dag", text)
    assert len(read()) == nodes


def test_line_ends_of_cr_only() -> None:
    assert "x.dag:1 Failed to parse JOB command" in refused((JOBS + EDGE).replace("\n", "\r"))


def test_what_stands_behind_long_lines_is_read() -> None:
    children = " ".join(f"N{number}" for number in range(400_000))
    text = f'{JOBS}# {children}\nVARS A v="{children}"\n{EDGE}JOB C c.sub\nPARENT B CHILD C\n'
    write("x.dag", text)
    dag = read()
    assert dag.names == ["A", "B", "C"]
    assert dag.variables[0][0].value == children
    assert [list(dag.children(node)) for node in range(3)] == [[1], [2], []]


# What the file is.


@pytest.mark.parametrize("how", ["{}", "INCLUDE {}\n", "SPLICE S {}\n"])
@pytest.mark.parametrize("what", ["directory", "fifo", "socket", "/dev/zero", "/dev/null", "none"])
def test_no_ordinary_file(what: str, how: str) -> None:
    Path("directory").mkdir()
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        if how == "{}":
            error = first_error(what)
        else:
            write("x.dag", JOBS + how.format(what))
            error = first_error()
            assert "Processing error at x.dag:3" in error.detail()
    assert f"Failed to open {what}: " in str(error)


def test_a_fifo_whose_writer_says_nothing() -> None:
    os.mkfifo("x.dag")
    end = os.open("x.dag", os.O_RDWR)
    try:
        assert "not a regular file" in str(first_error())
    finally:
        os.close(end)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read() -> None:
    write("x.dag", JOBS)
    os.chmod("x.dag", 0)
    assert "Permission denied" in str(first_error())


def test_names_of_files_that_cannot_be() -> None:
    assert "File name too long" in refused(f"INCLUDE {'f' * 300}\n")
    assert len(refused(f"INCLUDE {'f' * 300_000}\n")) < 10_000
    assert "Not a directory" in refused("INCLUDE x.dag/y\n")


def test_a_file_that_changes_between_its_two_readings() -> None:
    write("x.dag", EDGE + JOBS)
    files = DagFiles()

    def changing(path: str) -> Iterator[str]:
        blocks = files.read(path)
        write("x.dag", "")
        return blocks

    with pytest.raises(DagFileErrors, match="was changed while it was being read"):
        build(["x.dag"], changing, BuildOptions())


def test_a_file_that_is_gone_when_it_is_read_again() -> None:
    write("x.dag", EDGE + JOBS)

    def going(path: str) -> Iterator[str]:
        try:
            return DagFiles().read(path)
        finally:
            Path(path).unlink(missing_ok=True)

    with pytest.raises(DagFileErrors, match=r"Failed to open x\.dag: Provided file path does not"):
        build(["x.dag"], going, BuildOptions())


# Very many files, and files that name themselves.


def test_thousands_of_includes() -> None:
    count = 2_000
    for number in range(count):
        write(f"i{number}", f"JOB N{number} a.sub\n")
    write("x.dag", "".join(f"INCLUDE i{number}\n" for number in range(count)))
    assert len(read()) == count


def test_thousands_of_nested_includes() -> None:
    count = 2 * sys.getrecursionlimit()
    for number in range(count):
        write(f"i{number}", f"JOB N{number} a.sub\nINCLUDE i{number + 1}\n")
    write(f"i{count}", "JOB last a.sub\n")
    assert len(read("i0")) == count + 1
    write(f"i{count // 2}", "JOB\n")
    assert str(first_error("i0")).startswith(f"ERROR: i{count // 2}:1 Failed to parse JOB command")


def test_nested_splices_with_long_names() -> None:
    for number in range(200):
        write(f"s{number}", f"JOB A a.sub\nSPLICE {'S' * 200} s{number + 1}\n")
    error = first_error("s0")
    assert "longer than" in str(error)
    assert len(error.detail()) < 20_000


@pytest.mark.parametrize("options", [{}, {"use_dag_dir": True}])
@pytest.mark.parametrize(
    "command",
    ["INCLUDE link.dag", "SPLICE S link.dag", "INCLUDE here/x.dag", "SPLICE S here/x.dag"],
)
def test_recursion_through_symlinks(command: str, options: dict[str, Any]) -> None:
    os.symlink("x.dag", "link.dag")
    os.symlink(".", "here")
    write("x.dag", f"{command}\n")
    assert str(first_error(**options)).startswith("ERROR: ")


def test_recursion_through_a_directory_that_is_itself() -> None:
    os.symlink(".", "here")
    write("x.dag", "SPLICE S x.dag DIR here\n")
    assert len(first_error().detail()) < 20_000


def test_a_file_above_a_linked_directory_is_where_it_really_is() -> None:
    Path("p/q").mkdir(parents=True)
    os.symlink("p/q", "link")
    write("x.dag", "SPLICE S y.dag DIR link\n")
    write("p/q/y.dag", "INCLUDE ../z.dag\n")
    write("p/z.dag", JOBS)
    assert read().names == ["S+A", "S+B"]


@pytest.mark.parametrize("command", ["INCLUDE {0}\nINCLUDE {0}\n", "SPLICE A {0}\nSPLICE B {0}\n"])
def test_bombs_of_thirty_levels(command: str) -> None:
    for number in range(30):
        write(f"b{number}", command.format(f"b{number + 1}"))
    write("b30", "# nothing\n")
    megabytes, answer = in_a_process("b0", most_files=5_000)
    assert "files to be read, counting each SPLICE and INCLUDE" in answer
    assert megabytes < 300


# Very long lines, each in a process of its own, whose memory is measured.

CHILD = """
import sys
from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.graph import build as reading
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build

def kilobytes():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0])

reading.MAX_FILES = int(sys.argv[2]) or reading.MAX_FILES
before = kilobytes()
try:
    answer = f"{len(build([sys.argv[1]], DagFiles().read, BuildOptions()))} nodes"
except DagFileErrors as errors:
    answer = errors.detail()
print((kilobytes() - before) / 1024, answer[:500].encode())
"""


def in_a_process(file: str, *, most_files: int = 0) -> tuple[float, str]:
    """Megabytes of memory, and what was said of the file.

    `most_files` lowers the limit of files to be read, so as to get there sooner.
    """
    done = subprocess.run(
        [sys.executable, "-c", CHILD, file, str(most_files)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=limit_memory,
    )
    Path(file).unlink()  # it may be big
    megabytes, answer = done.stdout.split(" ", 1)
    return float(megabytes), answer


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def write_big(megabytes: int, begin: str, repeated: str, end: str = "\n") -> None:
    piece = (repeated * (MEGABYTE // len(repeated))).encode()
    with open("x.dag", "wb") as file:
        file.write((JOBS + begin).encode())
        for _ in range(megabytes):
            file.write(piece)
        file.write(end.encode())


@pytest.mark.parametrize(
    ("begin", "repeated"),
    [
        ("", "x"),
        ("JOB C ", "x"),
        ("PARENT A CHILD ", "B "),
        ('VARS A k="', "v"),
        ("VARS A ", 'k="v" '),
        ("SCRIPT PRE A ", "s"),
        ("JOB C {", "x"),
        ("JOB C c\r", "JOB C c\r"),
        ("", "\0"),
    ],
)
def test_a_line_of_40_megabytes(begin: str, repeated: str) -> None:
    """Longer than a command may be."""
    assert MAX_COMMAND_LENGTH < 40 * MEGABYTE
    write_big(40, begin, repeated)
    megabytes, answer = in_a_process("x.dag")
    assert "x.dag:3 The " in answer
    assert megabytes < 280


@pytest.mark.parametrize(
    ("begin", "repeated", "end"),
    [
        ("# ", "x", "\n"),
        ("PARENT A CHILD ", "B" + 59 * " " + " \\\n", "B\n"),
        ("JOB C {\n", "x = " + 59 * "y" + "\n", "}\n"),
        ("JOB C {\n", "x = " + 59 * "y" + "\n", "\n"),
        ("", "JOB " + 58 * "y" + " x\n", "\n"),
    ],
    ids=["comment", "continued", "description", "description-without-end", "bad-lines"],
)
def test_a_file_of_20_megabytes(begin: str, repeated: str, end: str) -> None:
    write_big(20, begin, repeated, end)
    megabytes, answer = in_a_process("x.dag")
    assert "nodes" in answer or "x.dag:" in answer
    assert megabytes < 300


def test_a_file_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 8 * MEGABYTE)
    write("x.dag", JOBS)
    os.truncate("x.dag", 1 << 40)
    assert "NUL" in str(first_error())


# The same through the program.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\x7fELF\0\0junk", "The line holds a NUL character"),
        (JOBS.encode("utf-16"), "UTF-16"),
        (b"INCLUDE x.dag\n", "Recursive DAG file parsing detected with"),
        (b"JOB \xff\x1b[31m a\nPARENT \xff CHILD \x1b[31m\n", "error at x.dag:2"),
        (b"SPLICE S /dev/zero\n", "not a regular file"),
        (b"JOB A a\rJOB B b\r", "Unexpected token 'JOB'"),
    ],
    ids=["binary", "utf-16", "recursion", "not-utf-8", "device", "cr"],
)
def test_the_program_says_what_is_wrong(text: bytes, said: str) -> None:
    write("x.dag", text)
    program = [sys.executable, "-m", "condor_pydagman.cli.dagman"]
    environment = {"CONDOR_CONFIG": "/dev/null", "CONDOR_ID": "", "_CONDOR_DAGMAN_LOG": "x.out"}
    environment["_CONDOR_DAGMAN_AVOID_SLASH_TMP"] = "False"
    done = subprocess.run(
        [*program, "-f", "-l", ".", "-Dag", "x.dag", "-Dot"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
    )
    log = Path("x.out").read_text("utf-8", "surrogateescape")
    assert done.returncode == 1
    assert said in log
    assert "Traceback" not in log + done.stdout + done.stderr
    assert "Failed to parse x.dag" in log
    assert "\x1b" not in log.partition("Parsing x.dag")[2]
