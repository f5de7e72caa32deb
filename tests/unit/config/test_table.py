"""The table of knobs: whole, in step with HTCondor's own, and what is generated from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.config import FORMER, Config, Kind, Knob, knobs
from condor_pydagman.config.knob import DAGMAN, SUBMIT, TRANSFER
from tools import config_example, knob_page

ROOT = Path(__file__).resolve().parents[3]
NAMES = {knob.name: knob for knob in knobs()}
# Prints the knobs of DAGMan in HTCondor's own table, with their defaults.
STOCKS = """\
import htcondor2
for name in sorted(htcondor2.param):
    if name.startswith("DAGMAN_") or name == "MAX_DAGMAN_LOG":
        htcondor2.param["ASKED"] = f"$({name})"
        print(name, htcondor2.param.get("ASKED") or "", sep="=")
"""


def test_names_are_there_once_and_say_whose_they_are() -> None:
    assert len(NAMES) == len(knobs())
    for name in NAMES:
        assert name.startswith(("DAGMAN_", "PYDAGMAN_")) or name == "MAX_DAGMAN_LOG"


@pytest.mark.parametrize("knob", knobs(), ids=list(NAMES))
def test_every_row_is_whole(knob: Knob) -> None:
    assert knob.meaning.endswith(".")
    assert not knob.no_effect.endswith(".")
    assert set(knob.programs) <= {DAGMAN, SUBMIT, TRANSFER}
    assert (knob.stock is not None) == bool(knob.why), "say why ours differs"
    assert not knob.no_effect_in_stock or knob.no_effect
    assert knob.within(knob.default) == knob.default
    kinds = {Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.REAL: float}
    assert type(knob.default) is kinds.get(knob.kind, str)


def test_the_table_is_htcondors(tmp_path: Path) -> None:
    """Every knob of DAGMan that HTCondor knows is there, with its default as stock's."""
    (tmp_path / "condor_config").write_text("")
    found = subprocess.run(
        [sys.executable, "-c", STOCKS],
        env={**os.environ, "CONDOR_CONFIG": str(tmp_path / "condor_config")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    stocks = dict(line.split("=", 1) for line in found.splitlines())
    assert len(stocks) > 50
    assert sorted(set(stocks) - set(NAMES) - FORMER) == []
    for name, default in stocks.items():
        if name in FORMER:
            continue
        knob = NAMES[name]
        if default and not name.endswith("_EXE") and "*" not in default:
            stock = knob.default if knob.stock is None else knob.stock
            assert knob.parse(default) == stock, name


def test_the_example_file_is_in_step_with_the_table() -> None:
    """If this fails, write it anew: python -m tools.generate."""
    example = ROOT / "etc/condor_config.d/50-condor-pydagman.config"
    assert example.read_text() == config_example.text()
    for knob in knobs():
        assert knob.name in config_example.text()


def test_the_manual_page_is_in_step_with_the_table() -> None:
    """If this fails, write it anew: python -m tools.generate."""
    page = (ROOT / "man/condor_pydagman_config.5").read_text()
    assert page == knob_page.text()
    for knob in knobs():
        assert f".B {knob.name}\n" in page
    assert all(line.isascii() for line in page.splitlines())


def test_the_example_file_can_be_read_with_every_line_in_force(tmp_path: Path) -> None:
    text = config_example.text()
    lines = [line[1:] for line in text.splitlines() if line.startswith(("#DAGMAN", "#PYDAGMAN"))]
    assert len(lines) > 40
    (tmp_path / "condor_config").write_text("\n".join(lines) + "\n")
    show = "from condor_pydagman.adapters import knobs\nprint(repr(knobs.load()))"
    done = subprocess.run(
        [sys.executable, "-c", show],
        env={**os.environ, "CONDOR_CONFIG": str(tmp_path / "condor_config")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Config(" in done.stdout, done.stderr
    assert "max_rescue_num=100" in done.stdout


def test_remarks_are_no_knob() -> None:
    assert "remarks" not in {name.lower() for name in NAMES}
    assert Config().remarks == ()


def test_knobs_of_data_placement_are_for_its_workers_too() -> None:
    ours = [row for name, row in NAMES.items() if name.startswith("PYDAGMAN_PLACEMENT_")]
    assert len(ours) > 15
    for row in ours:
        assert TRANSFER in row.programs
        assert not row.label  # `.dagman.out` stays as it is for DAGs without DATA nodes
    assert Config().placement_max == 10
    assert Config().but(placement_max=3).placement_max == 3


def test_what_features_do_unless_their_knobs_are_set() -> None:
    found = Config()
    assert (found.sites_interval, found.sites_dir) == (60, "")
    assert found.max_grown_nodes == 2_000_000
    assert found.max_piece_mb == 200
    limits = (found.shared_limits, found.limits_dir)
    assert not any((*limits, found.max_starts_per_minute, found.all_restart_pre_rate))
