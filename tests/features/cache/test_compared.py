"""What of two submit descriptions makes a difference to CACHE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from condor_pydagman.adapters.descriptions import BINDINGS
from condor_pydagman.errors import PoolError
from condor_pydagman.features.cache.adapters import compared
from condor_pydagman.features.cache.adapters.compared import DO_NOT_COUNT, one_name, values
from condor_pydagman.language import submit_commands
from tests.features.cache.authors import written

TEXT = """\
executable = bin/$(what)
what = run
arguments = --seed $(seed) -n 5
seed = 1
environment = "A=1 B=2"
transfer_input_files = x, y
container_image = a.sif
request_memory = 1G
request_cpus = 2
+Site = "x"
priority = 3
queue
"""


def facts(text: str, counts: str = "", ignores: str = "") -> Mapping[str, str]:
    return values(text, counts.split(), ignores.split())[1]


def changed(text: str, counts: str = "", ignores: str = "", first: str = TEXT) -> str:
    """Names of what differs from the first text, with blanks between them."""
    old, new = facts(first, counts, ignores), facts(text, counts, ignores)
    return " ".join(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


def edited(*edits: str, of: str = TEXT) -> str:
    for edit in edits:
        old, arrow, new = edit.partition(" -> ")
        assert arrow
        assert old in of
        of = of.replace(old, new)
    return of


@pytest.mark.parametrize(
    "edit",
    [
        "executable -> # why\n\nEXECUTABLE",
        "arguments =  -> arguments   =   ",
        "--seed $(seed) -n 5 -> --seed   1 \\\n   -n  5",
        "seed = 1\n -> seed = 7\nseed = 1\n",
        "priority = 3 -> unused = x",
        "request_memory = 1G -> request_memory = 2G\nrequest_disk = 1G\nRequestGpus = 1",
        "request_cpus = 2 -> accounting_group = g\nretry_until = 3\nmax_retries = 1\nrank = Memory",
        '"A=1 B=2" -> "B=2  A=1"',
        '"A=1 B=2" -> A=1;B=2',
        '--seed $(seed) -n 5 -> "--seed 1 -n 5"',
        "x, y -> x,y,",
        "+Site -> My.SITE",
        "executable -> universe = Vanilla\nexecutable",
        "+Site -> +AccountingGroup = 3\nMy.RequestMemory = 2\n+JobPrio = 4\n+Site",
        "+Site -> +Rank = 3\nMY.Requirements = true\n+PeriodicHold = false\n+Site",
        "container_image -> ContainerImage",
        "queue\n -> queue 1\n",
    ],
)
def test_what_makes_no_difference(edit: str) -> None:
    assert changed(edited(edit)) == ""
    lines = TEXT.splitlines(keepends=True)
    assert changed("".join((*reversed(lines[:-1]), lines[-1]))) == ""


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ("what = run -> what = walk", "executable"),
        ('"A=1 B=2" -> "A=1 B=2 A=3"', "environment"),
        ('"A=1 B=2" -> A=1;B=2 C', "environment"),
        ("seed = 1 -> seed = 2", "arguments"),
        ("seed = 1 -> seed = 1\nseed = 2", "arguments"),
        ("$(seed) -> '$(seed)'", "arguments"),
        ('--seed $(seed) -n 5 -> "--seed\u00a01 -n 5"', "arguments"),
        ("+Site -> box_oauth_permissions = a\n+Site", "box_oauth_permissions"),
        ("$(seed) -> $ENV(SEED)", "arguments"),
        ("A=1 -> A=2", "environment"),
        ("environment -> getenv = true\nenvironment", "getenv"),
        ("x, y -> y, x", "transfer_input_files"),
        ("a.sif -> b.sif", "container_image"),
        ('"x" -> "y"', "+site"),
        ("+Site -> +Log = 1\nMY.hold = 2\n+Priority = 3\n+Site", "+hold +log +priority"),
        ("+Site -> +request_memory = 5\n+Args = 1\n+Site", "+args +request_memory"),
        ("executable -> universe = local\nexecutable", "universe"),
        ("queue -> queue 2", "queue"),
        ("queue -> queue seed in (1 2)", "arguments queue"),
        ("seed = 1 -> input = f", "arguments input"),
    ],
)
def test_what_makes_a_difference(edit: str, names: str) -> None:
    assert changed(edited(edit)) == names


def test_quotes_that_belong_to_the_text_count() -> None:
    first = edited('--seed $(seed) -n 5 -> "a"')
    assert changed(edited('"a" -> """a"""', of=first), first=first) == "arguments"
    assert changed(edited('"a" -> a', of=first), first=first) == ""


@pytest.mark.parametrize(
    ("name", "first", "second", "is_same"),
    [
        ("arguments", "\"a 'b  c'   d\"", "\"a  'b  c' d\"", True),
        ("arguments", "\"a 'b  c'\"", "\"a b'  'c\"", True),
        ("arguments", "\"a 'b  c'\"", "\"a 'b c'\"", False),
        ("arguments", "\"a 'b c'\"", '"a b c"', False),
        ("arguments", "\"''\"", "", False),
        ("arguments", "\"'b c'\"", "'b c'", False),
        ("arguments", '"a ""b"""', 'a \\"b\\"', True),
        ("environment", "\"A='x  y' B=2\"", "\"B=2   A='x  y'\"", True),
        ("environment", "\"A='x  y' B=2\"", "A=x  y;B=2;", True),
        ("environment", "\"A='x  y'\"", "\"A='x y'\"", False),
        ("environment", "A='x y'", "\"A='x y'\"", False),
    ],
)
def test_quotes_mean_what_they_mean_to_condor(
    name: str, first: str, second: str, is_same: bool
) -> None:
    one, other = (f"executable = e\n{name} = {value}\nqueue\n" for value in (first, second))
    assert changed(other, first=one) == ("" if is_same else name)


def test_blanks_behind_a_value_count_without_quotes() -> None:
    first = edited('"A=1 B=2" -> A=1;B=2')
    assert changed(edited("A=1; -> A=1 ;", of=first), first=first) == "environment"
    assert changed(edited("A=1; -> A=1; ", of=first), first=first) == ""


def test_the_last_value_of_a_variable_counts() -> None:
    first = edited("A=1 B=2 -> A=1 B=2 A=3")
    assert changed(edited("A=1 B=2 A=3 -> A=3 B=2", of=first), first=first) == ""
    assert changed(edited("A=1 B=2 A=3 -> A=3 B=2 A=1", of=first), first=first) == "environment"


def test_items_count_also_behind_the_first() -> None:
    first = edited("queue -> queue seed from (\n 1\n 2\n)")
    assert changed(edited(" 2\n ->  3\n", of=first), first=first) == "arguments queue"
    numbered = edited("$(seed) -> $(Process)", "queue -> queue 2")
    assert changed(edited("$(Process) -> 0", of=numbered), first=numbered) == "arguments"


def test_values_that_nobody_knows_before_are_compared_as_they_are_written() -> None:
    first = edited("$(seed) -> $RANDOM_CHOICE(1,2,3) $(YEAR) $(Cluster) $ENV(X)")
    for _ in range(5):
        assert changed(first, first=first) == ""
    assert changed(edited("$ENV(X) -> $ENV(Y)", of=first), first=first) == "arguments"


def test_authors_write_the_same_in_many_ways() -> None:
    rng = Random(7)
    by_version = {version: facts(written(rng, version)) for version in range(3)}
    for number in range(200):
        version = number % 3
        text = written(rng, version)
        assert facts(text) == by_version[version], text
    assert len({str(one) for one in by_version.values()}) == 3


def test_names_that_a_line_adds_or_takes() -> None:
    assert changed(edited("1G -> 2G"), counts="requestmemory") == "request_memory"
    by_attribute = edited("request_memory = 1G -> +RequestMemory = 1")
    edit = edited("RequestMemory = 1 -> RequestMemory = 2", of=by_attribute)
    assert changed(edit, counts="request_memory", first=by_attribute) == "+requestmemory"
    assert changed(edited("seed = 1 -> seed = 2"), ignores="arguments") == ""
    assert changed(edited("+Site -> +Other"), ignores="my.site +other") == ""
    assert changed(edited("-n 5 -> -n 5\nversion = 2"), counts="version") == "version"


def test_what_is_ignored_makes_no_difference_where_others_use_it() -> None:
    """A number of threads that is among the arguments."""
    first = edited("-n 5 -> --threads $(request_cpus)")
    again = edited("request_cpus = 2 -> request_cpus = 8", of=first)
    assert changed(again, first=first) == "arguments"
    assert changed(again, first=first, ignores="request_cpus") == ""
    assert changed(edited("--threads -> --cpus", of=again), ignores="request_cpus") == "arguments"


@pytest.mark.parametrize(
    "queue",
    [
        "queue x from nowhere.txt",
        "queue 1001",
        "include : nowhere\nqueue",
        "queue seed from (\n1\n\n2\n)",
        "if $(RETRY)\narguments = 2\nendif\nqueue",
        "if $ENV(DEBUG:0)\narguments = 2\nendif\nqueue",
        "arguments = $CHOICE(RETRY, a, b)\nqueue",
        "a_0 = 1\narguments = $(a_$(retry))\nqueue",
        "a_2026 = 1\narguments = $(a_$(YEAR))\nqueue",
    ],
)
def test_what_is_not_compared(queue: str) -> None:
    with pytest.raises((PoolError, *BINDINGS)):
        facts(edited(f"queue -> {queue}"))


def test_a_choice_by_what_is_known_is_compared() -> None:
    first = edited("queue -> if defined X\narguments = 2\nendif\nqueue")
    assert changed(edited("arguments = 2 -> arguments = 3", of=first), first=first) == ""
    assert facts(edited("queue -> log = $(RETRY).log\nif version > 8.0.0\nendif\nqueue"))


def test_the_page_has_what_does_not_count() -> None:
    page = (Path(__file__).parents[3] / "docs" / "caching.md").read_text("utf-8")
    listed = page.partition("<!-- do not count -->")[2].partition("<!-- end -->")[0]
    assert re.findall(r"`([^`]+)`", listed) == compared._DO_NOT_COUNT.split()


def test_names() -> None:
    assert DO_NOT_COUNT < submit_commands.ALL
    assert {"request_memory", "priority", "accounting_group", "max_retries"} < DO_NOT_COUNT
    made_of = "executable arguments environment getenv input universe transfer_input_files shell"
    assert DO_NOT_COUNT.isdisjoint((*made_of.split(), "container_image", "docker_image", "output"))
    assert one_name("My.Site") == one_name("+SITE") == "+site"
    assert one_name("Cmd") == one_name("executable") == "executable"
