"""Files that descriptions name: which are put into the text, and which are not opened."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from condor_pydagman.adapters import followed_files
from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.adapters.followed_files import (
    MAX_BYTES,
    Followed,
    open_known,
    owner_of,
    read_known,
)
from condor_pydagman.adapters.foreign_texts import NotRead, read
from condor_pydagman.errors import FileError, PoolError

ROOT = os.geteuid() == 0
OTHER = (12345, 12345)
JOBS = "condor_pydagman.adapters.described_jobs:commands"


def followed(text: str) -> Followed:
    return Followed(text, owner_of("."))


def number(text: str) -> int:
    return int(read(JOBS, followed(f"executable = /bin/true\n{text}\n"), 0, shape=(int, [dict]))[0])


def test_files_and_files_in_files(work_directory: Path) -> None:
    (work_directory / "one").write_text("x = 1\ninclude : two\nlast = a\\")
    (work_directory / "two").write_text("queue a from items\n")
    (work_directory / "items").write_text("b\nc\n")
    text = followed("@include : one\nqueue\n").text
    assert text.split("\n")[:2] == ["x = 1", ["queue a from (", "b", "c", ")"][0]]
    assert "last = a\\" in text.split("\n")[5]
    assert number("include : two") == 2
    assert number("Queue 2 a \\\n from  items") == 4
    assert number("queue a from [1:] items") == 1


def test_a_file_that_includes_itself_ends(work_directory: Path) -> None:
    (work_directory / "loop").write_text("include : loop\n" * 10)
    found = followed("include : loop\n")
    assert len(found.text) < 20 * MAX_BYTES
    reasons = ("it is too large", "files are included too deep")
    assert set(found.unread) == {f"loop is not read: {reason}" for reason in reasons}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("include : fifo", "fifo is not read: it is not a regular file"),
        ("queue a from fifo", "fifo is not read: it is not a regular file"),
        ("include : /dev/zero", "/dev/zero is not read: it is not a regular file"),
        ("queue a from /dev/zero", "/dev/zero is not read: it is not a regular file"),
        ("include : link", "link is not read: it is not a regular file"),
        ("queue a from link", "link is not read: it is not a regular file"),
        ("include : .", ". is not read: it is not a regular file"),
        ("include : large", "large is not read: it is too large"),
        ("queue a from large", "large is not read: it is too large"),
        ("include : $(x)", "$(x) is not read: its name has macros"),
        ("include : dir/$ENV(HOME)", "dir/$ENV(HOME) is not read: its name has macros"),
        ("queue a from $(x)", "$(x) is not read: its name has macros"),
        ("queue a matching $(x)*", "$(x)* is not read: its name has macros"),
        ("inclu\\\nde : touch ran |", "the command 'touch ran |' is not run"),
        ("INCLUDE COMMAND : touch ran", "the command 'touch ran' is not run"),
        ("queue a from touch ran |", "the command 'touch ran |' is not run"),
        ("queue a from remarks", "remarks is not read: one of its lines begins with # or )"),
        ("include : a\x1b[2J$(x)", "a\\x1b[2J$(x) is not read: its name has macros"),
    ],
)
def test_what_is_not_followed(work_directory: Path, statement: str, reason: str) -> None:
    os.mkfifo("fifo")
    (work_directory / "remarks").write_text("a\n# b\n")
    (work_directory / "real").write_text("a\n")
    (work_directory / "link").symlink_to("real")
    with open("large", "wb") as file:
        file.truncate(1 << 40)
    found = followed(statement + "\n")
    assert list(found.unread) == [reason]
    queue = "" if statement.startswith("queue") else "\nqueue"
    with pytest.raises(NotRead) as raised:  # the confined process opens no file of that name
        number(f"x = real\n{statement}{queue}")
    assert str(raised.value) == reason
    assert not (work_directory / "ran").exists()


def test_a_file_that_is_not_there_is_the_readers_mistake(work_directory: Path) -> None:
    assert not followed("include : none\n").unread
    with pytest.raises(PoolError, match="can't open file none: No such file or directory"):
        number("include : none\nqueue")
    assert number("if false\ninclude : none\nendif\nqueue") == 1


def test_the_line_of_an_included_file_that_can_not_be_read(work_directory: Path) -> None:
    (work_directory / "outer").write_text("x = 1\ninclude : inner\n")
    (work_directory / "inner").write_text("y = 1\n\n  nonsense\n")
    with pytest.raises(PoolError, match=r"^line 3 of inner, 'nonsense': expected "):
        number("include : outer\nqueue")
    with pytest.raises(PoolError, match=r"^'nonsense': expected "):
        number("nonsense\nqueue")
    (work_directory / "inner").write_text("include : outer\n")
    with pytest.raises(NotRead, match=r"outer is not read: files are included too deep"):
        number("include : outer\nqueue")


@pytest.mark.skipif(not ROOT, reason="only root makes files of other users")
def test_files_of_others_are_not_followed(work_directory: Path) -> None:
    for name in ("theirs", "dir/theirs"):
        (work_directory / name).parent.mkdir(exist_ok=True)
        (work_directory / name).write_text("SECRET = 1\n")
        os.chown(name, *OTHER)
    os.chown("dir", *OTHER)
    reason = "not read: it does not belong to the owner of the description"
    for statement in ("include : theirs", "queue a from theirs", "queue a matching theirs"):
        (said,) = followed(f"{statement}\n").unread
        assert said.endswith(reason)
    for pattern in ("dir/*", "dir/theirs", "*/theirs"):
        said = followed(f"queue a matching {pattern}\n").unread
        assert list(said) == [f"{pattern} is {reason}"]
    found = Followed("include : theirs\nqueue a matching files dir/*\n", OTHER)
    assert not found.unread
    assert found.text.split("\n")[0] == "SECRET = 1"
    assert "dir/theirs" in found.text


@pytest.mark.parametrize(
    "names",
    [
        "m/*", "files m/*", "dirs m/*", "any m/*", "FILES m/*.dat", "files m/*.dat, m/d1/*",
        "(m/*.dat m/d1/*)", "m/*/x.dat", "[1:] m/*.dat", "m/d?", "m/[ab].dat", "m/[!a].dat",
        "m/a.dat", "m/*/", "dirs m/*/", "m//*.dat", "./m/*.dat", "files */a*", "m/.h*",
    ],
)  # fmt: skip
def test_names_that_match_are_those_of_htcondor(work_directory: Path, names: str) -> None:
    (work_directory / "m/d1").mkdir(parents=True)
    (work_directory / "m/.h").mkdir()
    for name in ("a.dat", "b.dat", "d1/x.dat", ".hid.dat"):
        (work_directory / "m" / name).touch()
    (work_directory / "m/ln").symlink_to("d1")
    import htcondor2

    submit = htcondor2.Submit(f"executable = /bin/true\nqueue x matching {names}\n")
    found = followed(f"queue x matching {names}\n")
    assert not found.unread
    again = htcondor2.Submit(f"executable = /bin/true\n{found.text}")
    normal = [one["x"].replace("//", "/").replace("./m", "m") for one in submit.itemdata()]
    assert [one["x"].replace("//", "/").replace("./m", "m") for one in again.itemdata()] == normal


def test_what_would_never_end(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns for all files of the machine, rings of links, statements that are tried again and
    again."""
    monkeypatch.setattr(followed_files, "MAX_NAMES", 1000)
    for name in "ab":
        (work_directory / name).symlink_to(".")
    ring = "/".join("*" * 40)
    assert list(followed(f"queue x matching {ring}\n").unread) == [
        f"{ring} is not read: there are too many names"
    ]
    for pattern in ("/*/*/*/*/*/*/*/*", "*/" * 100_000 + "*"):
        assert followed(f"queue x matching {pattern}\n").unread
    for statement in (
        "queue x from y" + " " * 500_000 + "z",
        "include : y" + " " * 500_000 + "z",
        "include " * 100_000,
        "queue x " + "from table(" * 50_000,
        "queue x " + "from [" * 100_000,
        "queue x " + "matching " * 50_000 + "(",
    ):
        assert all(len(why) < 1200 for why in followed(statement).unread)


def test_a_description_without_end(work_directory: Path) -> None:
    with open("large.sub", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileError, match="too large"):
        read_known("large.sub", owner_of("."))


@pytest.mark.skipif(not ROOT, reason="only root reads what others can't")
def test_what_the_owner_of_the_dag_cannot_read(
    work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is made of a secret, and opened, tells it to whom that name belongs."""
    parents = [one for one in work_directory.parents if not one.stat().st_mode & stat.S_IXOTH]
    monkeypatch.setattr(os, "geteuid", lambda: 4711)  # root's own DAG may name all files
    modes = {one: one.stat().st_mode for one in (work_directory, *parents)}
    work_directory.chmod(0o755)
    for one in parents:
        one.chmod(0o755)
    try:
        secret = work_directory / "secret"
        secret.write_text("KEY = 1\n")
        (work_directory / "link").symlink_to("secret")
        for mode, opens in ((0o600, False), (0o640, False), (0o604, True), (0o644, True)):
            secret.chmod(mode)
            for name in ("secret", "link"):
                assert can_read(name, OTHER) == opens
        os.chown(secret, 0, OTHER[1])
        secret.chmod(0o640)
        assert can_read("link", OTHER)
        assert not can_read("link", (1, 1))
        with monkeypatch.context() as patch:
            patch.setattr(pwd, "getpwuid", lambda user: SimpleNamespace(pw_name=f"user{user}"))
            patch.setattr(os, "getgrouplist", lambda name, group: [group, OTHER[1]])
            assert can_read("link", (2, 2))  # which is in that group, too
        os.chown(secret, *OTHER)
        secret.chmod(0o600)
        assert can_read("link", OTHER)
        os.chown(secret, 0, 0)
        secret.chmod(0o644)
        work_directory.chmod(0o700)
        assert not can_read("link", OTHER)
        assert can_read("link", (0, 0))
        dags = DagFiles()
        (work_directory / "x.dag").write_text("INCLUDE secret\n")
        os.chown("x.dag", *OTHER)
        assert "".join(dags.read("x.dag"))
        with pytest.raises(PermissionError, match="the owner of the DAG may not read it"):
            dags.read("secret")
        runs = DagFiles(trusted=True)
        assert "".join(runs.read("x.dag")) + "".join(runs.read("secret"))
    finally:
        for one, mode in modes.items():
            one.chmod(mode & 0o7777)


def can_read(name: str, reader: tuple[int, int]) -> bool:
    try:
        open_known(name, reader).close()
    except PermissionError:
        return False
    return True
