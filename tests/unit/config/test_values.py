"""From texts to values: types, ranges, stock's defaults that mean "not set".

What stock makes of each of these values was found out by running it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from condor_pydagman.config import Config, Knob, effective_limit, limited_by, read
from condor_pydagman.config.knob import TRANSFER
from condor_pydagman.errors import ConfigError


def config(**values: str) -> Config:
    return read(lambda knob: values.get(knob.name))


def config_where(is_set: Callable[[str], bool], **values: str) -> Config:
    return read(lambda knob: values.get(knob.name), is_set=is_set)


def test_nothing_set_gives_the_defaults() -> None:
    assert config() == Config()
    assert config(DAGMAN_MAX_JOBS_IDLE=" ", DAGMAN_AUTO_RESCUE="", DAGMAN_DEFAULT_NODE_LOG="") == (
        Config()
    )


def test_values_are_read_by_type() -> None:
    found = config(
        DAGMAN_USE_STRICT=" 2 ",
        DAGMAN_ALWAYS_RUN_POST="true",
        DAGMAN_INSERT_SUB_FILE="/x y",
        DAGMAN_QUEUE_UPDATE_INTERVAL="1.5",
    )
    assert found.use_strict == 2
    assert found.always_run_post is True
    assert found.insert_sub_file == "/x y"
    assert found.queue_update_interval == 1.5
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("text", "number"), [("5.7", 5), ("1e3", 1000), ("true", 1), ("+5", 5), ("010", 10)]
)
def test_what_counts_as_an_integer(text: str, number: int) -> None:
    assert config(DAGMAN_MAX_JOBS_IDLE=text).max_jobs_idle == number


@pytest.mark.parametrize(
    ("text", "value"), [("TRUE", True), ("false", False), ("0.0", False), ("2", True), ("-1", True)]
)
def test_what_counts_as_a_boolean(text: str, value: bool) -> None:
    assert config(DAGMAN_USE_JOIN_NODES=text).use_join_nodes is value


@pytest.mark.parametrize(
    ("name", "stock", "ours"),
    [
        ("DAGMAN_QUEUE_UPDATE_INTERVAL", "300", 5.0),
        ("DAGMAN_CHECK_QUEUE_INTERVAL", "28800", 1800),
        ("DAGMAN_ALLOW_EVENTS", "114", -1),
    ],
)
def test_stocks_default_is_obeyed_if_somebody_has_set_it(
    name: str, stock: str, ours: float
) -> None:
    field = name[len("DAGMAN_") :].lower()
    for is_set, want in ((name.__ne__, ours), (name.__eq__, float(stock))):
        assert getattr(config_where(is_set, **{name: stock}), field) == want


@pytest.mark.parametrize(
    ("text", "is_set", "limits"),
    [("100", False, False), ("100", True, True), ("7", True, True), ("0", True, True)],
)
def test_a_limit_of_submits_may_be_set_to_its_default(
    text: str, is_set: bool, limits: bool
) -> None:
    found = config_where(lambda _: is_set, DAGMAN_MAX_SUBMITS_PER_INTERVAL=text)
    assert (found.max_submits_per_interval, found.limits_submits) == (int(text), limits)


def test_stocks_default_counts_as_not_set_where_ours_differs() -> None:
    """HTCondor's own table gives stock's default for a knob that nobody has set."""
    assert config(DAGMAN_CHECK_QUEUE_INTERVAL="28800").check_queue_interval == 1800
    assert config(DAGMAN_ALLOW_EVENTS="114").allow_events == -1
    assert config(DAGMAN_ALLOW_EVENTS="0").allow_events == 0
    assert config(DAGMAN_ALLOW_EVENTS="113").allow_events == 113


@pytest.mark.parametrize(
    ("knob", "text", "expected"),
    [
        ("DAGMAN_USE_STRICT", "much", "a whole number from 0 to 3"),
        ("DAGMAN_MAX_JOBS_IDLE", "-1", "a whole number, 0 or more"),
        ("DAGMAN_MAX_JOBS_IDLE", "12abc", "a whole number"),
        ("DAGMAN_MAX_JOBS_IDLE", "undefined", "a whole number"),
        ("DAGMAN_MAX_JOBS_IDLE", "nan", "a whole number"),
        ("DAGMAN_MAX_JOBS_IDLE", "1e999", "a whole number"),
        ("DAGMAN_MAX_JOBS_IDLE", "3000000000", "a whole number"),
        ("DAGMAN_DEFAULT_PRIORITY", "-2147483649", "a whole number"),
        ("DAGMAN_AUTO_RESCUE", "perhaps", "True or False"),
        ("DAGMAN_AUTO_RESCUE", "yes", "True or False"),
        ("DAGMAN_AUTO_RESCUE", "T", "True or False"),
        ("DAGMAN_QUEUE_UPDATE_INTERVAL", "0.5", "a number, 1 or more"),
        ("DAGMAN_PRINT_JOB_TABLE_INTERVAL", "-1", "a whole number, 0 or more"),
        ("DAGMAN_METRICS_FILE_VERSION", "3", "a whole number from 1 to 2"),
        ("DAGMAN_NODE_JOB_FAILURE_TOLERANCE", "-1", "a whole number, 0 or more"),
        ("PYDAGMAN_PRE_SCRIPTS_PER_SECOND", "-5", "a whole number, 0 or more"),
    ],
)
def test_a_wrong_value_is_named(knob: str, text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(_only(knob, text), lambda name: "x, line 3")
    assert str(caught.value).startswith(f"ERROR: {knob} = {text} (set in x, line 3): expected ")
    assert expected in str(caught.value)


def _only(name: str, text: str) -> Callable[[Knob], str | None]:
    return lambda knob: text if knob.name == name else None


@pytest.mark.parametrize(
    ("knob", "text", "field", "meant"),
    [
        ("DAGMAN_USE_STRICT", "7", "use_strict", 3),
        ("DAGMAN_USE_STRICT", "-5", "use_strict", 0),
        ("DAGMAN_VERBOSITY", "9", "verbosity", 7),
        ("DAGMAN_MAX_RESCUE_NUM", "1000", "max_rescue_num", 999),
        ("DAGMAN_MAX_RESCUE_NUM", "-1", "max_rescue_num", 0),
        ("DAGMAN_MAX_JOB_HOLDS", "1000001", "max_job_holds", 1000000),
        ("DAGMAN_SUBMIT_DELAY", "-1", "submit_delay", 0),
        ("DAGMAN_MAX_SUBMITS_PER_INTERVAL", "-5", "max_submits_per_interval", 0),
        ("DAGMAN_HOLD_CLAIM_TIME", "3601", "hold_claim_time", 3600),
        ("DAGMAN_MAX_SUBMIT_ATTEMPTS", "0", "max_submit_attempts", 1),
    ],
)
def test_limits_that_stock_does_not_enforce(knob: str, text: str, field: str, meant: int) -> None:
    """Such a configuration runs with stock, so it must with us."""
    found = config(**{knob: text})
    assert getattr(found, field) == meant
    (remark,) = found.remarks
    assert remark.startswith(f"Note: {knob} = {text} (set in the configuration) is out of range")
    assert str(meant) in remark


@pytest.mark.parametrize(
    ("user", "administrator", "limit"),
    [(0, 20, 20), (5, 20, 5), (50, 20, 20), (5, 0, 5), (0, 0, 0), (-1, 3, 3)],
)
def test_the_administrator_caps_a_throttle(user: int, administrator: int, limit: int) -> None:
    assert effective_limit(user, administrator) == limit


def test_the_scan_interval_does_not_go_below_the_administrators() -> None:
    capped = limited_by(Config(), Config(user_log_scan_interval=2))
    assert capped.user_log_scan_interval == 5
    assert capped.remarks == (
        "Warning: Specified scan interval 2 is less than administrator limit",
    )
    assert limited_by(Config(), Config(user_log_scan_interval=9)).user_log_scan_interval == 9
    free = Config(disable_admin_throttle_limiting=True)
    assert limited_by(free, Config(user_log_scan_interval=2)).user_log_scan_interval == 2


def test_every_value_in_force_can_be_written_down_and_read_again() -> None:
    def default(knob: Knob) -> str:
        return knob.text(knob.default)

    assert read(default) == Config()


def test_a_program_reads_its_own_knobs_only() -> None:
    asked: list[str] = []

    def get(knob: Knob) -> str:
        asked.append(knob.name)
        return {"PYDAGMAN_PLACEMENT_STREAMS": "8"}.get(knob.name, "")

    assert read(get, program=TRANSFER) == Config(placement_streams=8)
    assert len(asked) > 10
    assert all(name.startswith("PYDAGMAN_PLACEMENT_") for name in asked)
