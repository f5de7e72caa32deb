"""The table of knobs: types, ranges, stock's defaults that mean "not set"."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from condor_pydagman.config import Config, effective_limit, knobs, read
from condor_pydagman.errors import ConfigError


def config(**values: str) -> Config:
    return read(values.get)


def test_nothing_set_gives_the_defaults() -> None:
    assert config() == Config()


def test_every_knob_has_a_name_and_a_meaning() -> None:
    names = [knob.metadata["knob"] for knob in knobs()]
    assert len(names) == len(set(names))
    assert all(knob.metadata["doc"].endswith(".") for knob in knobs())


def test_values_are_read_by_type() -> None:
    found = config(
        DAGMAN_USE_STRICT=" 2 ", DAGMAN_ALWAYS_RUN_POST="true", DAGMAN_INSERT_SUB_FILE="/x y"
    )
    assert found.use_strict == 2
    assert found.always_run_post is True
    assert found.insert_sub_file == "/x y"


def test_stocks_default_counts_as_not_set_where_ours_differs() -> None:
    """HTCondor's own table gives stock's default for a knob that nobody has set."""
    assert config(DAGMAN_MAX_SUBMITS_PER_INTERVAL="100").max_submits_per_interval == 0
    assert config(DAGMAN_MAX_SUBMITS_PER_INTERVAL="7").max_submits_per_interval == 7
    assert config(DAGMAN_CHECK_QUEUE_INTERVAL="28800").check_queue_interval == 300


@pytest.mark.parametrize(
    ("knob", "text"),
    [
        ("DAGMAN_USE_STRICT", "4"),
        ("DAGMAN_USE_STRICT", "-1"),
        ("DAGMAN_USE_STRICT", "much"),
        ("DAGMAN_MAX_RESCUE_NUM", "1000"),
        ("DAGMAN_AUTO_RESCUE", "perhaps"),
    ],
)
def test_a_wrong_value_is_named(knob: str, text: str) -> None:
    with pytest.raises(ConfigError, match=knob) as caught:
        config(**{knob: text})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("user", "administrator", "limit"),
    [(0, 20, 20), (5, 20, 5), (50, 20, 20), (5, 0, 5), (0, 0, 0), (-1, 3, 3)],
)
def test_the_administrator_caps_a_throttle(user: int, administrator: int, limit: int) -> None:
    assert effective_limit(user, administrator) == limit


def test_the_example_file_is_in_step_with_the_table() -> None:
    """If this fails, write it anew: see tools/config_example.py."""
    root = Path(__file__).resolve().parents[2]
    example = root / "etc/condor_config.d/50-condor-pydagman.config"
    text = runpy.run_path(str(root / "tools/config_example.py"))["text"]()
    assert example.read_text() == text


def test_stocks_mask_of_bad_events_counts_as_not_set() -> None:
    assert config().allow_events == -1
    assert config(DAGMAN_ALLOW_EVENTS="114").allow_events == -1
    assert config(DAGMAN_ALLOW_EVENTS="0").allow_events == 0
    assert config(DAGMAN_ALLOW_EVENTS="113").allow_events == 113


@pytest.mark.parametrize(
    ("knob", "text"),
    [
        ("DAGMAN_MAX_JOB_HOLDS", "1000001"),
        ("DAGMAN_SUBMIT_DELAY", "-1"),
        ("DAGMAN_PRINT_JOB_TABLE_INTERVAL", "-1"),
        ("DAGMAN_ALLOW_EVENTS", "-2"),
        ("DAGMAN_GENERATE_SUBDAG_SUBMITS", "2"),
        ("PYDAGMAN_PRE_SCRIPTS_PER_SECOND", "-5"),
    ],
)
def test_values_out_of_range(knob: str, text: str) -> None:
    with pytest.raises(ConfigError, match=knob):
        config(**{knob: text})
