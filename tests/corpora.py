"""The two corpora: small DAGs and submit files, with the results of HTCondor's own programs.

    tests/corpus/TOPIC.dags            DAGs, of which one case is `TOPIC/NAME`
    tests/submit_corpus/TOPIC.subs     submit files, of which one case is `TOPIC-NAME`
    tests/submit_corpus/shared.files   files that the submit files use, beside those in the cases
    tests/recordings/VERSION/          what that version of HTCondor makes of both

How cases stand in the files, `tests/case_files.py` describes.  The first line of a DAG may be

    # run: [submits] [KNOB=value ...] [-option value ...] [FILE ...]

with knobs of DAGMan (their names without DAGMAN_), options of condor_dagman and the DAG files to
run, else x.dag, which is the case's main file.  `submits` asks that what condor_submit is given is
recorded too, for the nodes that have no parents or only weak ones.

To add a case, write it into the file of its topic, where those like it are, and record it:

    .venv/bin/python -m tools.record_corpus TOPIC/NAME
    .venv/bin/python -m tools.record_submit_corpus TOPIC-NAME

Without names all cases are recorded, which is what a new version of HTCondor needs: its recording
is a new file, and `diff` shows what that version changed.  Each case is recorded several times; one
that varies is named, and nothing is written.

`tests/unit/test_corpus.py` and `tests/unit/test_submit_corpus.py` compare ours with the recordings,
`tests/pool/test_corpus_stock.py` and `tests/pool/test_submit_corpus.py` the recordings with the
programs.  One test does a whole topic; with CASE=NAME in the environment it does that case alone.
"""

from __future__ import annotations

import os
import re
import shlex
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests import case_files

HERE = Path(__file__).resolve().parent
DAGS = HERE / "corpus"
SUBMIT_FILES = HERE / "submit_corpus"
MAIN = "x.dag"

_HEADER = re.compile(r"# run:(.*)")


@dataclass
class Case:
    """A DAG with its files, and how to run it.

    Attributes:
        text: all files, in one text.
        files: those files by name.
        submits: whether what condor_submit is given is recorded.
    """

    name: str
    text: str
    files: dict[str, str] = field(init=False)
    dags: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    knobs: dict[str, str] = field(default_factory=dict)
    submits: bool = False

    def __post_init__(self) -> None:
        self.files = case_files.files(self.text, MAIN)
        header = _HEADER.match(self.text)
        words = header.group(1).split() if header else []
        for word, before in zip(words, ["", *words]):
            self._take(word, before)
        self.dags = self.dags or [MAIN]

    def _take(self, word: str, before: str) -> None:
        if word == "submits":
            self.submits = True
        elif re.match(r"[A-Z_]+=", word):
            knob, value = word.split("=", 1)
            self.knobs["DAGMAN_" + knob] = value
        elif word.startswith("-") or re.match(r"-(?!UseDagDir)", before):
            self.options.append(word)
        else:
            self.dags.append(word)

    def lay_out(self, directory: Path) -> None:
        """Write the files into a new directory that anybody may write to."""
        write(self.files, directory)


@cache
def dag_cases() -> dict[str, Case]:
    """All DAGs, by `TOPIC/NAME`."""
    return {name: Case(name, text) for name, text in case_files.read_all(DAGS, "dags").items()}


@cache
def submit_files() -> dict[str, str]:
    """The texts of all submit files, by `TOPIC-NAME`: a name that a node can have."""
    texts = case_files.read_all(SUBMIT_FILES, "subs")
    return {name.replace("/", "-"): texts[name] for name in sorted(texts)}


@cache
def shared_files() -> dict[str, str]:
    """The files that the submit files use, by path."""
    return case_files.read(SUBMIT_FILES / "shared.files")


def write(files: dict[str, str], directory: Path) -> None:
    """Write files into a new directory, and let anybody write to all of it."""
    directory.mkdir(parents=True)
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for path in [directory, *directory.rglob("*")]:
        path.chmod(0o777)


def by_topic(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of cases by topic; none but that of the environment's CASE, if there is one."""
    only = os.environ.get("CASE")
    found: dict[str, list[str]] = {}
    for name in names:
        if only in (None, name):
            found.setdefault(_topic(name), []).append(name)
    if not found:
        raise ValueError(f"CASE={only}: there is no such case")
    return found


def _topic(name: str) -> str:
    topic, slash, _ = name.partition("/")
    return topic if slash else name.partition("-")[0]


def check_each(names: Iterable[str], check: Callable[[str], None]) -> None:
    """Fail if a check of a case fails, after all have been checked: with all names, and why."""
    failed = {}
    for name in names:
        try:
            check(name)
        except AssertionError as error:
            failed[name] = str(error)
        except Exception:
            failed[name] = traceback.format_exc()
    if failed:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        command = shlex.join([".venv/bin/python", "-m", "pytest", test])
        lines = [f"{name}: {why}\nCASE={name} {command}\n" for name, why in failed.items()]
        pytest.fail("\n".join([*lines, f"failed: {', '.join(failed)}"]), pytrace=False)
