"""From the texts of knobs that are set to the values in force, with a message for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.config.knob import Knob, Value
from condor_pydagman.config.table import Config, fields_of_knobs, knobs
from condor_pydagman.errors import ConfigError


def _nowhere(name: str) -> str:
    return "the configuration"


def _never_set(name: str) -> bool:
    return False


def read(
    get: Callable[[Knob], str | None],
    where: Callable[[str], str] = _nowhere,
    is_set: Callable[[str], bool] = _never_set,
) -> Config:
    """Build a Config from `get`, which gives a knob's text or None where nothing is set.

    Expressions have to be evaluated by then.  `where` names the place where a knob was set;
    `is_set` tells whether it is set, since `get` may give HTCondor's default as well.

    Raises:
        ConfigError: a value is of the wrong type or out of the enforced range.
    """
    values: dict[str, Any] = {}
    remarks: list[str] = []
    for name, knob in fields_of_knobs():
        value, remark = read_one(knob, get, where, is_set)
        values[name] = value
        if remark:
            remarks.append(remark)
    explicit = (knob.name for knob in knobs() if knob.unlike_unset and is_set(knob.name))
    return Config(**values, explicit=frozenset(explicit), remarks=tuple(remarks))


def read_one(
    knob: Knob,
    get: Callable[[Knob], str | None],
    where: Callable[[str], str] = _nowhere,
    is_set: Callable[[str], bool] = _never_set,
) -> tuple[Value, str]:
    """The value of one knob, and a line to show if it was brought into its range.

    Raises:
        ConfigError: it is of the wrong type or out of the enforced range.
    """
    text = (get(knob) or "").strip()
    if not text:
        return knob.default, ""
    try:
        value = knob.parse(text)
    except ConfigError:
        raise _wrong(knob, text, where) from None
    meant, remark = knob.within(value), ""
    if meant != value:
        if knob.refused:
            raise _wrong(knob, text, where)
        remark = (
            f"Note: {knob.name} = {text} (set in {where(knob.name)}) is out of range; "
            f"{meant} is taken instead, the range is {knob.range()}"
        )
    unset = meant == knob.stock and not is_set(knob.name)
    return (knob.default if unset else meant), remark


def _wrong(knob: Knob, text: str, where: Callable[[str], str]) -> ConfigError:
    return ConfigError(
        f"ERROR: {knob.name} = {text} (set in {where(knob.name)}): expected {knob.expected()};"
        f" the default is {knob.default}"
    )


def limited_by(administrator: Config, config: Config) -> Config:
    """A DAG's `config`, its scan interval not below the administrator's (stock rule)."""
    least = administrator.user_log_scan_interval
    if administrator.disable_admin_throttle_limiting or config.user_log_scan_interval >= least:
        return config
    remark = (
        f"Warning: Specified scan interval {config.user_log_scan_interval} is less than "
        "administrator limit"
    )
    return config.but(user_log_scan_interval=least, remarks=(*config.remarks, remark))


def effective_limit(user: int, administrator: int) -> int:
    """A user's throttle, capped by the administrator's; 0 or less means no limit.

    Stock rule: the user's value counts only if it is positive and not above the administrator's.
    """
    if user > 0 and (administrator <= 0 or user < administrator):
        return user
    return max(administrator, 0)
