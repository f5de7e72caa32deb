"""What begins a queue statement, and where its items come from: as the bindings read it."""

from __future__ import annotations

from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.language.description import Queue, queue_arguments

TABLE = "aa,bb\n1,2\n3,4\n"


@pytest.mark.parametrize(
    "statement",
    [
        *("queue", "QUEUE", "Queue 2", "queue\t2", "  queue 2", "queue x in (a b)", "queue = 3"),
        *("iter", "itera", "iterat", "iterate", "ITER 2", "Iterate x in (a b)", "iter\t2"),
        *("que\\\nue 2", "ite\\\n  rate 2", "\\\nqueue 2", "queue \\\n 2", "que\\\n# c \\\nue 2"),
        *("iter in = 3", "iter -= 3", "iter + = 3", "queue += 3", "iterate : 3", "iter 3 = 3"),
    ],
)
def test_what_begins_a_queue_statement(statement: str) -> None:
    read = htcondor2.Submit(f"a = 1\n{statement}\nb = 2\n")
    assert "b" not in read
    arguments = queue_arguments(statement)
    assert arguments is not None
    assert arguments.split() == read.getQArgs().split()


@pytest.mark.parametrize(
    "statement",
    [
        *("iter = 3", "iter=3", "iterate =", "ITERAT += 3", "iter\\\n = 3", "iter @=x\nqueue\n@x"),
        *("my.queue = 3", "+iter = 3", "queues = 3", "x = queue 2", "x = 1 \\\nqueue 2"),
    ],
)
def test_what_sets_a_macro(statement: str) -> None:
    read = htcondor2.Submit(f"{statement}\nb = 2\nqueue 7\n")
    assert (read["b"], read.getQArgs()) == ("2", "7")
    assert queue_arguments(statement) is None


@pytest.mark.parametrize(
    "statement", ["que 2", "it 2", "ite 2", "iterates 2", "queue1", "queue,2", "queue=3", "iter: 2"]
)
def test_what_is_no_statement(statement: str) -> None:
    with pytest.raises(ValueError, match="parse_up_to_q_line"):
        htcondor2.Submit(f"{statement}\n")
    assert queue_arguments(statement) is None


@pytest.mark.parametrize(
    ("arguments", "has_header", "part", "source"),
    [
        ("x in (a b)", False, None, "(a b)"),
        ("2 x,y from table(csv) t.csv", False, None, "t.csv"),
        ("from table t.csv", True, None, "t.csv"),
        ("from TABLE(header csv)t.csv", True, None, "t.csv"),
        ("from table() [1:] t.csv", True, "1:", "t.csv"),
        ("from [-1] table( csv, trim ) t.csv", False, "-1", "t.csv"),
        ("x from table(nonsense) (", True, None, "("),
        ("x matching files [1:2] *.csv", False, "1:2", "*.csv"),
        ("matching any (*.csv)", False, None, "(*.csv)"),
        ("table from s.txt", False, None, "s.txt"),
        ("x from tablet.csv", False, None, "tablet.csv"),
        ("from table", False, None, "table"),
        ("from table(header csv) cat t.csv |", True, None, "cat t.csv |"),
    ],
)
def test_where_items_come_from(
    arguments: str,
    has_header: bool,
    part: str | None,
    source: str,
) -> None:
    found = Queue(arguments).items
    assert found is not None
    assert (found.has_header, found.slice, found.source) == (has_header, part, source)


@pytest.mark.parametrize("arguments", ["", "3", "$(n)", "within (a b)", "x,in (a b)", "2in (a)"])
def test_no_items(arguments: str) -> None:
    assert Queue(arguments).items is None


@pytest.mark.parametrize(
    "options",
    [
        *("", "()", "(csv)", "(header)", "(header csv)", "(header,csv)", "(csv , trim)", "(CSV)"),
        *("(standard)", "(standard header)", "(csv trim)", "(nonsense)", "(csv header,)"),
    ],
)
def test_which_tables_have_a_header(options: str, work_directory: Path) -> None:
    (work_directory / "t.csv").write_text(TABLE)
    read = htcondor2.Submit(f"queue x,y from table{options} t.csv\n")
    names = set(next(iter(read.itemdata())))
    found = Queue(read.getQArgs()).items
    assert found is not None
    assert found.file == "t.csv"
    assert names == ({"aa", "bb"} if found.has_header else {"x", "y"})


def test_names_of_files() -> None:
    found = [Queue(f"x {where}").items for where in ("from a b", "from (a)", "from a |", "in a")]
    assert [one.file for one in found if one is not None] == ["a b", "", "", ""]
