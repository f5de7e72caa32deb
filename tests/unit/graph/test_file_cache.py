"""Files that are read again and again mean the same each time."""

from __future__ import annotations

import pytest

from condor_pydagman.graph import file_cache
from condor_pydagman.graph.file_cache import FileCache
from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.parser import CommandReader, Reading
from tests.unit.graph.texts import JOBS, Texts, build_text, problems

KEY = ("d/s", "s", False)


def read(files: FileCache, text: str, words: frozenset[str] | None = None) -> tuple[object, ...]:
    """Everything that a reading of `text` under KEY gives."""
    reading = Reading("s") if words is None else Reading("s", words=words)
    reader = files.reader(KEY, reading, lambda: CommandReader([text], reading, in_bulk=True))
    found: list[object] = []
    for item in reader:
        if isinstance(item, SimpleLines):
            found += [(command, line) for command, line in reader.commands_of(item)]
        else:
            found.append((item, reader.text()))
        found.append(reading.skipped)
    errors = [str(error) for error in reading.errors]
    return found, errors, reading.warnings, reading.skipped


@pytest.mark.parametrize(
    "text",
    [
        *("", "# no\n", "JOB A x\nRETRY A 1\n", JOBS * 20, "JOB A {\nx\n}\nFOO\n"),
        *("RETRY A 3x\n", "JOB A \\\n x\n", JOBS + "".join(f"RETRY n{n} 1\n" for n in range(40))),
    ],
)
@pytest.mark.parametrize("words", [None, frozenset({"RETRY"})])
def test_every_reading_gives_the_same(text: str, words: frozenset[str] | None) -> None:
    files = FileCache()
    first, *others = [read(files, text, words) for _ in range(5)]
    assert others == [first] * 4


def test_a_good_file_is_looked_at_twice_at_most() -> None:
    files = FileCache()
    found = [read(files, text) for text in ("JOB A x\n", "JOB A x\n", "JOB B y\n", "FOO\n")]
    assert found == [found[0]] * 4


def test_a_file_with_something_to_remark_is_not_kept() -> None:
    for text in ("FOO\n", "RETRY A 3x\n"):
        files = FileCache()
        for _ in range(3):
            read(files, text)
        found, errors, *_ = read(files, "JOB A x\n")
        assert (len(found), errors) == (2, [])  # type: ignore[arg-type]


@pytest.mark.parametrize("room", [8, 9])
def test_files_are_kept_as_long_as_there_is_room(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_cache, "MAX_LINES", room)
    files, text = FileCache(), "".join(f"RETRY n{n} 1 UNLESS-EXIT 1\n" for n in range(9))
    first = read(files, text)
    assert [read(files, text) for _ in range(3)] == [first] * 3
    assert (read(files, "JOB A x\n") == first) is (room == 9)


def test_errors_are_those_of_every_splice() -> None:
    caught = problems("".join(f"SPLICE S{n} s\n" for n in range(5)), {"s": JOBS + "RETRY Z 1\n"})
    assert [one.line for one in caught.errors] == [4] * len(caught.errors)
    assert "Failed to parse splice S0's DAG file s" in caught.detail()


def test_remarks_are_those_of_every_splice() -> None:
    text = "".join(f"SPLICE S{n} s\n" for n in range(5))
    dag = build_text(text, {"s": JOBS + "RETRY A 3x\n"})
    assert [(one.file, one.line) for one in dag.remarks] == [("s", 4)] * 5


def test_a_thousand_splices_of_one_file() -> None:
    texts = Texts({"s": JOBS + "PARENT A CHILD B\nRETRY ALL_NODES 2\nVARS A x=1\n"})
    dag = build_text("".join(f"SPLICE S{n:03} s\n" for n in range(1000)), texts.texts)
    assert len(dag) == 3000
    assert dag.names[:4] == ["S000+A", "S000+B", "S000+C", "S001+A"]
    assert [list(dag.children(node)) for node in range(0, 3000, 3)] == [
        [node + 1] for node in range(0, 3000, 3)
    ]
    assert len(dag.variables) == 1000
    assert {retry.limit for retry in dag.retries.values()} == {2}
