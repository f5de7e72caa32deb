"""The registry of features, and what a Dag holds of one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman import feature_table, features
from condor_pydagman.engine.feature import Feature
from condor_pydagman.errors import FileError
from condor_pydagman.feature_table import FEATURES, HELPERS, TOLD, Given, home, part
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.language.commands import Job
from condor_pydagman.names import DagPaths
from tests import make
from tests.unit.graph.texts import JOBS

PLAIN = f"{JOBS}PARENT A CHILD B\n"
OF_READERS = ("shown", "outside", "explain")
FOLDERS = {path.parent.name for path in Path(features.__file__).parent.glob("*/__init__.py")}
FOLDERS -= {"common"}  # what several of them need


class Marks(FeatureData):
    """What a feature may say of nodes."""

    by_node = ("marks",)

    def __init__(self) -> None:
        self.marks: dict[int, str] = {}


def test_every_folder_is_a_feature() -> None:
    names = [feature.name for feature in FEATURES]
    assert sorted(names) == sorted(FOLDERS)


def test_parts() -> None:
    assert part("brake", "no_such_part") is None
    assert home(part("brake", "commands").Brake) == "brake"
    assert home(Job) == ""


def test_every_part_that_is_asked_for_is_one_that_features_have() -> None:
    package = Path(features.__file__).parents[1]
    calls = (
        re.compile(r'\b(?:told|offered)\("([a-z_.]+)"'),
        re.compile(r'\b(?:part|own)\([^\n,]+, "([a-z_.]+)"'),
    )
    texts = [path.read_text() for path in package.rglob("*.py")]
    asked = {name for text in texts for call in calls for name in call.findall(text)}
    assert {"run", "outside", "adapters.reopened", "steer_commands"} <= asked
    parts = {
        ".".join(path.relative_to(package / "features" / folder).with_suffix("").parts)
        for folder in (*FOLDERS, "common")
        for path in (package / "features" / folder).rglob("*.py")
    }
    assert asked <= parts


def test_every_part_that_is_named_is_there() -> None:
    for entry in FEATURES:
        for name in (*entry.parts, *["cli"] * bool(entry.subcommand)):
            assert part(entry.name, name) is not None


@pytest.mark.parametrize(
    "entry", [entry for entry in FEATURES if entry.runs], ids=lambda one: one.name
)
def test_the_records_of_a_feature_are_those_of_its_class(entry: feature_table.Entry) -> None:
    made = [one for one in vars(part(entry.name, "run")).values() if isinstance(one, type)]
    (kind,) = (one for one in made if issubclass(one, Feature) and one.name == entry.name)
    names = (*entry.records, *entry.more_records)
    assert {name for name, _ in (*kind.records, *kind.attempt_records)} == {*names}
    assert {*entry.of_no_node} <= {*names}
    assert not feature_table.ABSENT.keys() & names


def test_a_part_that_needs_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "__path__", [str(tmp_path)])
    monkeypatch.setattr(feature_table, "_guards", [])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").touch()
    (tmp_path / "broken" / "commands.py").write_text("import no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        part("broken", "commands")
    feature_table.set_guard(lambda module: None)  # a DAGMan runs, and its files have changed
    with pytest.raises(FileError, match=r"broken\.commands can't be loaded"):
        part("broken", "commands")


def test_a_plain_dag_is_read_without_any_feature() -> None:
    code = (
        "import sys; from condor_pydagman.graph.build import build, BuildOptions;"
        f" build(['x.dag'], lambda _: {PLAIN!r}, BuildOptions());"
        " print([name for name in sys.modules if name.startswith('condor_pydagman.features.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_readers_ask_no_feature_about_a_plain_dag(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("JOB A a.sub\n")
    code = (
        "import sys; from condor_pydagman.cli import pydagman;"
        " pydagman.main(['watch', '--once', '--json', 'x.dag']);"
        " print([name for name in sys.modules if name.endswith(('.shown', '.outside'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    seen, asked = done.stdout.splitlines()
    assert asked == "[]"
    assert not {"brakes", "feeder", "enough", "sites", "shared_limits"} & set(json.loads(seen))


def marked(marks: dict[int, str]) -> Marks:
    made = Marks()
    made.marks = marks
    return made


def test_what_a_dag_holds_moves_with_its_nodes() -> None:
    data = marked({0: "a", 2: "c"})
    data.renumber([2, 0, 1])
    assert data == marked({2: "a", 1: "c"})


def test_what_a_piece_brings_is_numbered_as_its_nodes() -> None:
    piece = marked({0: "a", 1: "b", 2: "of a node that is there already"})
    more = piece.numbered([7, 5])
    assert more == marked({7: "a", 5: "b"})
    data = marked({1: "c"})
    data.grow(more)
    assert data == marked({1: "c", 7: "a", 5: "b"})


def test_a_dag_without_the_feature_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Marks, "__module__", "condor_pydagman.features.brake.commands")
    dag = Dag()
    assert Marks.of(dag) == Marks()
    assert dag.features == {}
    Marks.put(dag).marks[0] = "a"
    assert list(dag.all_features()) == [marked({0: "a"})]
    assert Marks.of(dag).marks == {0: "a"}


def test_what_people_are_told_of_features() -> None:
    assert {*TOLD} == {name for name in FOLDERS for of in OF_READERS if part(name, of) is not None}


@pytest.mark.parametrize("name", [name for name, records in TOLD.items() if records])
def test_every_record_that_a_feature_traces_is_taken(name: str) -> None:
    shown = part(name, "shown")
    lines = [one.name for one in getattr(shown, "LINES", ())]
    assert {*shown.RECORDS, *lines} == {*TOLD[name]}


def test_what_is_done_outside_of_the_engine() -> None:
    assert {*HELPERS} <= FOLDERS
    for name, users in HELPERS.items():
        assert hasattr(part(name, "helper"), "open_helper")
        assert {*users} <= FOLDERS


def test_what_a_feature_begins_with_is_made_once(tmp_path: Path) -> None:
    given = Given(make.dag("A"), DagPaths(str(tmp_path / "x.dag")))
    assert (len(given), list(given)) == (0, [])
    assert given["growth"] is given["growth"]
    assert given.get("cache") == {}
    assert list(given) == ["growth", "cache"]


@pytest.mark.parametrize("name", ["sites", "brake"])
def test_most_features_begin_with_nothing(tmp_path: Path, name: str) -> None:
    assert Given(make.dag("A"), DagPaths(str(tmp_path / "x.dag"))).get(name) is None
