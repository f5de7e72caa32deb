"""Where a knob was set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.adapters.knobs import KnobSource, KnobSources


def configured(**values: str) -> Callable[[str], str | None]:
    return {"SUBSYSTEM": "DAGMAN", **values}.get


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONDOR_CONFIG", str(tmp_path / "root"))
    (tmp_path / "root").write_text("A = 1\nDAGMAN_X = 2\n# DAGMAN_X = 4\nDAGMAN_XY = 5\n")
    return tmp_path


def test_the_last_file_and_line_win(pool: Path) -> None:
    (pool / "d").mkdir()
    for name in ("10-a", "20-b", "30-c~"):
        (pool / "d" / name).write_text("dagman_x=1\nDAGMAN_X @=e\n3\n@e\n")
    places = KnobSources("", frozenset(), configured(LOCAL_CONFIG_DIR=str(pool / "d")))
    assert places.of("DAGMAN_X") == KnobSource("configuration", f"{pool}/d/20-b, line 2")
    assert places.of("DAGMAN_XY") == KnobSource("configuration", f"{pool}/root, line 4")
    (pool / "local").write_text("DAGMAN_X : 3\n")
    local = configured(LOCAL_CONFIG_DIR=str(pool / "d"), LOCAL_CONFIG_FILE=f"/no, {pool}/local")
    assert KnobSources("", frozenset(), local).of("DAGMAN_X").detail == f"{pool}/local, line 1"


def test_what_is_set_for_another_program_does_not_count(pool: Path) -> None:
    (pool / "root").write_text("TOOL.DAGMAN_X = 3\n")
    assert KnobSources("", frozenset(), configured()).of("DAGMAN_X") == KnobSource("default")


def test_what_is_set_for_this_program_alone_goes_before_all_else(pool: Path) -> None:
    (pool / "root").write_text("DAGMAN.DAGMAN_X = 3\n")
    (pool / "own").write_text("DAGMAN_X = 4\n")
    places = KnobSources(str(pool / "own"), frozenset(), configured())
    assert places.of("DAGMAN_X") == KnobSource("configuration", f"{pool}/root, line 1")


def test_the_order_of_layers(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = pool / "own"
    own.write_text("\nDAGMAN_Y = 3\n")
    places = KnobSources(str(own), frozenset({"DAGMAN_Z"}), configured())
    monkeypatch.setenv("_condor_Dagman_X", "7")
    monkeypatch.setenv("_CONDOR_DAGMAN_Y", "7")
    assert places.of("DAGMAN_X") == KnobSource("environment", "_condor_Dagman_X")
    assert places.of("DAGMAN_Y") == KnobSource("CONFIG file", f"{own}, line 2")
    assert places.of("DAGMAN_Z") == KnobSource("CONFIG file", str(own)), "set by an include, say"
    assert places.of("DAGMAN_N", is_default=False) == KnobSource("configuration")
    assert places.name("DAGMAN_X") == "the environment, as _condor_Dagman_X"
    assert places.name("DAGMAN_N") == "the configuration"


def test_knobs_that_are_set_are_shown(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTCondor itself takes a knob that is set to its default for one that is not set."""
    places = KnobSources("", frozenset({"DAGMAN_Z"}), configured())
    assert [places.is_set(f"DAGMAN_{name}") for name in "XYZ"] == [True, False, True]
    monkeypatch.setenv("_CONDOR_DAGMAN_Y", "7")
    assert places.is_set("DAGMAN_Y")


def test_what_an_included_file_sets(pool: Path) -> None:
    (pool / "inner").write_text("DAGMAN_Y = 3\ninclude : $(HERE)/inner\n")
    (pool / "root").write_text("include ifexist : $(HERE)/inner\ninclude : /none/cmd |\n")
    places = KnobSources("", frozenset(), configured(HERE=str(pool)))
    assert places.of("DAGMAN_Y") == KnobSource("configuration", f"{pool}/inner, line 1")
    places = KnobSources(str(pool / "root"), frozenset(), configured(HERE=str(pool)))
    assert places.of("DAGMAN_Y") == KnobSource("CONFIG file", f"{pool}/inner, line 1")


def test_included_files_are_followed_so_deep(pool: Path) -> None:
    for depth in range(10):
        text = f"DAGMAN_{depth} = 3\ninclude : $(HERE)/{depth + 1}\n"
        (pool / f"{depth}").write_text(text)
    places = KnobSources(str(pool / "0"), frozenset(), configured(HERE=str(pool)))
    found = [depth for depth in range(10) if places.of(f"DAGMAN_{depth}").layer == "CONFIG file"]
    assert found == [*range(9)]


def test_files_that_cannot_be_read(pool: Path) -> None:
    (pool / "root").unlink()
    local = configured(LOCAL_CONFIG_DIR=str(pool / "none"), LOCAL_CONFIG_FILE="/none")
    assert KnobSources("/none", frozenset(), local).of("DAGMAN_X") == KnobSource("default")
