"""Our reading of every submit file of tests/submit_corpus, compared with what stock made of it:
whether it can be submitted at all, and how many jobs it makes.

What the jobs are like, tests/pool/test_submit_corpus.py compares: only a schedd can tell.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman.adapters import descriptions
from condor_pydagman.config import Config
from condor_pydagman.errors import PoolError
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import template_of
from condor_pydagman.lint.lint_world import DiskWorld
from condor_pydagman.records.job_description import Workflow, describe
from tests import recordings
from tests.corpora import by_topic, check_each, submit_files
from tools.record_submit_corpus import FILE, lay_out

RECORDED: dict[str, Any] = recordings.load(FILE)
TEXTS = submit_files()
# What only the configuration of a pool, or the making of an ad, can tell.
CONFIGURED = {"use-template", "use-template-arguments"}
# What is not read in a confined process: commands, names with macros, a list of odd items.
NOT_FOLLOWED = {f"include-command-{how}" for how in ("fails", "into", "script", "word")}
NOT_FOLLOWED |= {f"queue-from-command{how}" for how in ("", "-fails", "-false", "-no-blank")}
NOT_FOLLOWED |= {"include-macro", "queue-from-file-macro", "queue-from-file-remarks"}
NOT_FOLLOWED |= {"include-directory", "queue-table-command"}
IN_THE_AD = "failed to create job classad"
# What only a schedd can tell: values with line ends have no place in the ad that it is sent.
IN_THE_QUEUE = {"values-multi-line", "values-multi-line-crlf", "values-multi-line-space-before"}
IN_THE_QUEUE |= {"include-multi-line", "queue-late-empty"}
# An empty item among others: the bindings have no word for how many there are.
IN_THE_QUEUE |= {"queue-from-file-remarks", "queue-from-lines-remark"}
TOPICS = by_topic(name for name in RECORDED if name not in CONFIGURED | IN_THE_QUEUE)


@pytest.fixture(scope="module")
def corpus_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("corpus") / "files"
    lay_out(TEXTS, directory)
    return directory


class Schedd:
    """Counts the jobs of a description, which it reads as `htcondor2.Schedd.submit` does."""

    def submit(self, description: Any) -> int:
        pairs = "".join(f"{key} = {value}\n" for key, value in description.items())
        read = descriptions.parse(f"{pairs}\nqueue {description.getQArgs()}\n")
        return descriptions.procs_of(read)


def described(name: str) -> str:
    dag = Dag(files=["t.dag"])
    node = dag.add_node(name, f"{name}.sub")
    dag.finish()
    flow = Workflow(12, "/run/./t.dag.nodes.log", Config(), "t.dag+12", "12.0")
    return describe(dag, node, template_of(TEXTS[name]), flow)


def jobs(name: str) -> int:
    text = described(name)
    try:
        return int(descriptions.submit(Schedd(), descriptions.parse(text), text))
    except (PoolError, *descriptions.BINDINGS):
        return 0


@pytest.mark.parametrize("topic", TOPICS)
def test_as_many_jobs_as_stock_makes(
    topic: str, corpus_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus_files)

    def check(name: str) -> None:
        stock = RECORDED[name]
        if stock.get("error", "").startswith(IN_THE_AD) or name.startswith("queue-late"):
            assert jobs(name) > 0
        else:
            assert jobs(name) == len(stock.get("jobs", ()))

    check_each(TOPICS[topic], check)


def test_every_case_is_recorded() -> None:
    """Run tools/record_submit_corpus.py after adding a case."""
    assert set(TEXTS) == set(RECORDED)


def test_line_ends_reach_the_schedd() -> None:
    text = 'text @=end\na\nb\n@end\nMy.Seen = "$(text)"\nqueue\n'
    assert htcondor2.Submit(text)["text"] == "a\nb"
    assert jobs("values-multi-line") == 1


def test_the_checker_takes_what_stock_takes(
    corpus_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for an executable that only the queue statement's items name."""
    monkeypatch.chdir(corpus_files)
    world = DiskWorld()
    wrong, unread = {}, set()
    for name in set(RECORDED) - CONFIGURED - {"queue-variable-executable"}:
        if "jobs" not in RECORDED[name]:
            continue
        Path("this.sub").write_text(TEXTS[name])
        reading = world.reading(world.read_text("this.sub"), "", name, "this.sub")
        if reading.problem:
            wrong[name] = reading.problem
        if reading.unread:
            unread.add(name)
    assert wrong == {}
    assert unread == NOT_FOLLOWED
