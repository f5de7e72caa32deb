"""Words and logs by chance for the waiter, built with sanitizers: it refuses them, or waits and
wakes; it never does what C does not define."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.contract import test_waiter as program
from tests.contract.test_waiter import END, IMAGE_SIZE, SANITIZED, START_AGAIN, launch
from tests.waiting import LIMIT_S

pytestmark = pytest.mark.long

COUNT = 400
EXECUTED, TRIES_AGAIN = 0, 7  # exit codes
ENDS = (EXECUTED, TRIES_AGAIN, START_AGAIN)
# What it has been told to say, where that is to go to its standard error.
TOLD = r"(?:\d\d/\d\d/\d\d \d\d:\d\d:\d\d .*\n)*"
# It does not try for minutes to execute what is not there.
HASTY = f"""\
#define _GNU_SOURCE
#include <unistd.h>
#define sleep(seconds) _exit({TRIES_AGAIN})
"""
REST = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
# Its words, and what follows them, as its first comment has it.
TEXT = program.SOURCE.read_text(encoding="utf-8")
FORM = r"(?m)^ \*   ([a-z]+)((?: [A-Z]+| 0\|1)+) "
FORMS = {word: values.split() for word, values in re.findall(FORM, TEXT)}
NUMBERS = ("0", "1", "2", "33", "999", "65537", "-1", "", " 1", "9" * 400)
NUMBERS += tuple(map(str, (2**31, 2**32 + 1, 2**63 - 1, 2**63)))
PATHS = ("log", "log", "fifo", "loop", "directory", "missing", "", "/", "\xff" * 5000)
TEXTS = ("reason", "%s", "", "x" * 5000)
JUNK = (*PATHS, *NUMBERS, "0x10", "nan", "inf", "-1e99")
TAILS = (IMAGE_SIZE, IMAGE_SIZE * 900, IMAGE_SIZE[:-2], END, "...\n", "\n...\n", "\0", "00", "6 ")


def test_forms() -> None:
    assert FORMS.keys() == set(re.findall(r'strcmp\(what, "(\w+)"\)', TEXT))


def test_whatever_it_is_told(tmp_path: Path, notices: list[str]) -> None:
    waiter, random = program.compiled(tmp_path, SANITIZED, notices, HASTY), Random(1)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "directory").mkdir()
    ends: Counter[int] = Counter()
    for number in range(COUNT):
        told = words(random)
        log = "".join(random.choices(TAILS, k=random.randrange(9)))
        (tmp_path / "log").write_text(log, encoding="latin-1")
        process = launch(waiter, told, **REST, cwd=tmp_path)
        process.terminate()  # which ends any wait
        said = process.communicate(timeout=LIMIT_S)[1]
        assert process.returncode in ENDS, (number, told, log, said)
        assert re.fullmatch(TOLD, said), (number, told, log, said)
        ends[process.returncode] += 1
    assert all(ends[code] > COUNT / 50 for code in ENDS), ends


def words(random: Random) -> bytes:
    """Right ones with odd values, of which half are damaged."""
    found: list[str] = []
    for word in random.choices(sorted(FORMS.keys() - {"exec"}), k=random.randrange(12)):
        found += [word, *(value(form, random) for form in FORMS[word])]
    found += ["exec", random.choice(("/bin/true", "/bin/true", *PATHS))]
    told = bytearray(b"".join(word.encode("latin-1") + b"\0" for word in found))
    if random.random() < 0.5:
        return bytes(told)
    for _ in range(random.randrange(1, 4)):
        at, length = random.randrange(len(told)), random.choice((0, 1, 1, 9, 5000))
        told[at : at + length] = random.choice((b"", b"\0", b"x", random.randbytes(9), bytes(told)))
        told = told or bytearray(b"\0")
    return bytes(told)


def value(form: str, random: Random) -> str:
    """A value; mostly one of the right kind."""
    if random.random() < 0.05:
        return random.choice(JUNK)
    return random.choice({"PATH": PATHS, "TEXT": TEXTS}.get(form, NUMBERS))
