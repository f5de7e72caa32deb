"""Where the throttles of a DAG were set: command line, configuration, or in the queue."""

from __future__ import annotations

from condor_pydagman.errors import PydagmanError
from condor_pydagman.monitor.found_dag import FoundDag

# Names in the job ad; attributes of Options, options of condor_submit_dag, knobs.
_ROWS = (
    ("DAGMan_MaxJobs", "max_jobs", "-MaxJobs", "DAGMAN_MAX_JOBS_SUBMITTED"),
    ("DAGMan_MaxIdle", "max_idle", "-MaxIdle", "DAGMAN_MAX_JOBS_IDLE"),
    ("DAGMan_MaxPreScripts", "max_pre", "-MaxPre", "DAGMAN_MAX_PRE_SCRIPTS"),
    ("DAGMan_MaxPostScripts", "max_post", "-MaxPost", "DAGMAN_MAX_POST_SCRIPTS"),
)


def limit_places(found: FoundDag, limits: dict[str, int], config_file: str) -> dict[str, str]:
    """Where each throttle was set, by its name in the job ad; without those that nobody knows.

    Args:
        limits: those in force.
        config_file: the DAG's CONFIG file, '' for none.
    """
    places = {}
    for attribute, field, option, knob in _ROWS:
        value = limits.get(attribute, 0)
        if not value:
            continue
        if getattr(found.options, field) == value:
            places[attribute] = f"{option} {value}, command line of DAGMan"
        else:
            places[attribute] = _place_of_knob(knob, value, config_file) or (
                f"{attribute} of DAGMan's job, changed in the queue"
            )
    return places


def _place_of_knob(knob: str, value: int, config_file: str) -> str:
    """Where a knob was set, if it has that value."""
    from condor_pydagman.adapters import knobs as adapter
    from condor_pydagman.config import knobs, read_one

    adapter.set_subsystem("DAGMAN")
    try:
        with adapter.without_config_file():
            if config_file:
                adapter.apply_config_file(config_file)
            places = adapter.places()
            row = next(row for row in knobs() if row.name == knob)
            set_to, _ = read_one(row, adapter.evaluated, places.name, places.is_set)
            if set_to != value:
                return ""
            layer, detail = places.of(knob, is_default=value == row.default)
    except PydagmanError:
        return ""
    return f"{knob}, {detail or layer}"
