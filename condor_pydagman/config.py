"""The configuration knobs that DAGMan obeys: one table, read once at start.

The table is the dataclass below: one field a knob, with its name, range and meaning.  Where the
values come from (the bindings' `param`, the environment, a CONFIG file) is an adapter's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import Any

from condor_pydagman.errors import ConfigError

INT_MAX = 2147483647


def _knob(
    name: str,
    default: Any,
    doc: str,
    low: int | None = None,
    high: int = INT_MAX,
    stock: Any = None,
) -> Any:
    """A row of the table.  `stock` is stock DAGMan's default where ours differs: HTCondor's own
    table of defaults gives it for a knob that nobody has set, so it counts as not set."""
    metadata = {"knob": name, "doc": doc, "low": low, "high": high, "stock": stock}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Config:
    """Values of all knobs in force.  Times in seconds; throttles: 0 means no limit."""

    use_strict: int = _knob("DAGMAN_USE_STRICT", 1, "Which warnings are fatal.", 0, 3)
    startup_cycle_detect: bool = _knob(
        "DAGMAN_STARTUP_CYCLE_DETECT", False, "Look for a cycle before the first submit."
    )
    use_join_nodes: bool = _knob(
        "DAGMAN_USE_JOIN_NODES", True, "Put a NOOP node between many parents and many children."
    )
    munge_node_names: bool = _knob(
        "DAGMAN_MUNGE_NODE_NAMES",
        True,
        "With several DAG files, prefix names with the file's number.",
    )
    allow_any_node_name_characters: bool = _knob(
        "DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS", False, "Allow '+' in node names."
    )
    default_append_vars: bool = _knob(
        "DAGMAN_DEFAULT_APPEND_VARS", False, "VARS go after the submit file's own lines."
    )
    verbosity: int = _knob("DAGMAN_VERBOSITY", 3, "Level of detail in .dagman.out.", 0, 7)
    max_jobs_idle: int = _knob("DAGMAN_MAX_JOBS_IDLE", 1000, "Limit of idle procs.", 0)
    max_jobs_submitted: int = _knob(
        "DAGMAN_MAX_JOBS_SUBMITTED", 0, "Limit of nodes in the queue.", 0
    )
    max_pre_scripts: int = _knob("DAGMAN_MAX_PRE_SCRIPTS", 20, "Limit of running PRE scripts.", 0)
    max_post_scripts: int = _knob(
        "DAGMAN_MAX_POST_SCRIPTS", 20, "Limit of running POST scripts.", 0
    )
    max_hold_scripts: int = _knob(
        "DAGMAN_MAX_HOLD_SCRIPTS", 20, "Limit of running HOLD scripts.", 0
    )
    max_submits_per_interval: int = _knob(
        "DAGMAN_MAX_SUBMITS_PER_INTERVAL",
        0,
        "Limit of submits per scan interval; 0, our default, is as fast as the schedd takes them.",
        0,
        stock=100,
    )
    user_log_scan_interval: int = _knob(
        "DAGMAN_USER_LOG_SCAN_INTERVAL",
        5,
        "Seconds between looks at the nodes log where the kernel can't tell of changes.",
        1,
    )
    max_submit_attempts: int = _knob(
        "DAGMAN_MAX_SUBMIT_ATTEMPTS", 6, "Tries to submit a node before it fails.", 1, 16
    )
    submit_depth_first: bool = _knob(
        "DAGMAN_SUBMIT_DEPTH_FIRST", False, "Newly ready nodes are submitted first."
    )
    retry_submit_first: bool = _knob(
        "DAGMAN_RETRY_SUBMIT_FIRST", True, "A node whose submit failed goes to the front."
    )
    retry_node_first: bool = _knob(
        "DAGMAN_RETRY_NODE_FIRST", False, "A node that is retried goes to the front."
    )
    default_priority: int = _knob("DAGMAN_DEFAULT_PRIORITY", 0, "Added to every node's priority.")
    hold_claim_time: int = _knob(
        "DAGMAN_HOLD_CLAIM_TIME", 20, "keep_claim_idle of jobs with children, seconds.", 0, 3600
    )
    suppress_notification: bool = _knob(
        "DAGMAN_SUPPRESS_NOTIFICATION", False, "No mail from node jobs."
    )
    suppress_job_logs: bool = _knob(
        "DAGMAN_SUPPRESS_JOB_LOGS", False, "Node jobs write no log of their own."
    )
    always_run_post: bool = _knob("DAGMAN_ALWAYS_RUN_POST", False, "Run POST even if PRE failed.")
    remove_job_list_on_failure: bool = _knob(
        "DAGMAN_REMOVE_JOB_LIST_ON_FAILURE", True, "A failed proc takes its cluster with it."
    )
    node_job_failure_tolerance: int = _knob(
        "DAGMAN_NODE_JOB_FAILURE_TOLERANCE",
        0,
        "Procs of a node that may fail before the node does; TOLERANCE goes before it.",
        0,
    )
    remove_node_jobs: bool = _knob(
        "DAGMAN_REMOVE_NODE_JOBS", True, "Remove node jobs when the DAGMan job is removed."
    )
    reset_retries_upon_rescue: bool = _knob(
        "DAGMAN_RESET_RETRIES_UPON_RESCUE", True, "A rescue run starts with all retries."
    )
    auto_rescue: bool = _knob("DAGMAN_AUTO_RESCUE", True, "Run from the newest rescue file.")
    max_rescue_num: int = _knob(
        "DAGMAN_MAX_RESCUE_NUM", 100, "Highest number of a rescue file; 0 writes none.", 0, 999
    )
    metrics_file_version: int = _knob("DAGMAN_METRICS_FILE_VERSION", 2, "Format of .metrics.", 1, 2)
    queue_update_interval: int = _knob(
        "DAGMAN_QUEUE_UPDATE_INTERVAL",
        5,
        "Seconds between updates of the job ad, at least.",
        1,
        stock=300,
    )
    pending_report_interval: int = _knob(
        "DAGMAN_PENDING_REPORT_INTERVAL",
        600,
        "Seconds without events before a report of what is awaited.",
    )
    check_queue_interval: int = _knob(
        "DAGMAN_CHECK_QUEUE_INTERVAL",
        300,
        "Seconds between two looks at the schedd's queue for lost jobs; 0 never.",
        stock=28800,
    )
    prohibit_multi_jobs: bool = _knob(
        "DAGMAN_PROHIBIT_MULTI_JOBS", False, "A node whose submit file makes several procs fails."
    )
    max_job_holds: int = _knob(
        "DAGMAN_MAX_JOB_HOLDS",
        100,
        "Procs of a node that may be held before the node fails; 0 is no limit.",
        0,
        1000000,
    )
    allow_events: int = _knob(
        "DAGMAN_ALLOW_EVENTS",
        -1,
        "Bits of the bad job-log events that are tolerated; -1, our default, tolerates them all.",
        -1,
        stock=114,
    )
    put_failed_jobs_on_hold: bool = _knob(
        "DAGMAN_PUT_FAILED_JOBS_ON_HOLD",
        False,
        "A node that has failed for good is submitted once more, on hold, for its owner to mend.",
    )
    inherit_attrs: str = _knob(
        "DAGMAN_INHERIT_ATTRS", "", "Attributes of DAGMan's own ad that node jobs are given."
    )
    inherit_attrs_prefix: str = _knob(
        "DAGMAN_INHERIT_ATTRS_PREFIX", "", "Put before the names of inherited attributes."
    )
    record_machine_attrs: str = _knob(
        "DAGMAN_RECORD_MACHINE_ATTRS",
        "",
        "Attributes of the machine that are written into a node job's ad and log.",
    )
    report_graph_metrics: bool = _knob(
        "DAGMAN_REPORT_GRAPH_METRICS", False, "Height, width, edges and vertices in .metrics."
    )
    generate_subdag_submits: bool = _knob(
        "DAGMAN_GENERATE_SUBDAG_SUBMITS",
        True,
        "Make a SUBDAG's submit file when its node starts; else it must be there.",
    )
    print_job_table_interval: int = _knob(
        "DAGMAN_PRINT_JOB_TABLE_INTERVAL",
        900,
        "Seconds between two job tables in .dagman.out; 0 is none.",
        0,
    )
    remove_jobs_after_limit_change: bool = _knob(
        "DAGMAN_REMOVE_JOBS_AFTER_LIMIT_CHANGE",
        False,
        "Jobs beyond a limit of submitted nodes that was lowered leave the queue.",
    )
    disable_admin_throttle_limiting: bool = _knob(
        "DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING",
        False,
        "The administrator's throttles don't cap those of a user.",
    )
    submit_delay: int = _knob("DAGMAN_SUBMIT_DELAY", 0, "Seconds between two submissions.", 0)
    restart_pre_rate: int = _knob(
        "PYDAGMAN_PRE_SCRIPTS_PER_SECOND",
        0,
        "PRE scripts started in a second after a restart, at most; 0 is no limit.",
        0,
    )
    avoid_slash_tmp: bool = _knob("DAGMAN_AVOID_SLASH_TMP", True, "Refuse a nodes log under /tmp.")
    insert_sub_file: str = _knob(
        "DAGMAN_INSERT_SUB_FILE", "", "File whose lines go into every .condor.sub."
    )
    on_exit_remove: str = _knob(
        "DAGMAN_ON_EXIT_REMOVE",
        "",
        "Expression that decides whether an ended DAGMan leaves the queue.",
    )
    manager_job_append_getenv: str = _knob(
        "DAGMAN_MANAGER_JOB_APPEND_GETENV",
        "",
        "More variables for DAGMan's own environment, or 'true'.",
    )
    disable_port: bool = _knob(
        "DAGMAN_DISABLE_PORT", False, "Tell the schedd that DAGMan has no command port."
    )


def knobs() -> list[Field[Any]]:
    """The table, a dataclass field a knob; `metadata` has `knob`, `doc`, `low` and `high`."""
    return list(fields(Config))


def read(get: Callable[[str], str | None]) -> Config:
    """Build a Config from `get`, which gives a knob's text or None where nothing is set.

    Raises:
        ConfigError: a value is of the wrong type or out of range.
    """
    values: dict[str, Any] = {}
    for knob in knobs():
        text = get(knob.metadata["knob"])
        if text is None or not (text.strip() or isinstance(knob.default, str)):
            continue
        value = _value(knob, text.strip())
        if knob.metadata["stock"] is None or value != knob.metadata["stock"]:
            values[knob.name] = value
    return Config(**values)


def effective_limit(user: int, administrator: int) -> int:
    """A user's throttle, capped by the administrator's; 0 or less means no limit.

    Stock rule: the user's value counts only if it is positive and not above the administrator's.
    """
    if user > 0 and (administrator <= 0 or user < administrator):
        return user
    return max(administrator, 0)


def _value(knob: Field[Any], text: str) -> Any:
    name, default = knob.metadata["knob"], knob.default
    if isinstance(default, bool):
        return _boolean(name, text)
    if isinstance(default, int):
        return _integer(name, text, knob.metadata["low"], knob.metadata["high"])
    return text


def _boolean(name: str, text: str) -> bool:
    word = text.lower()
    if word in ("true", "t", "yes", "y", "1"):
        return True
    if word in ("false", "f", "no", "n", "0"):
        return False
    raise ConfigError(f"{name} = {text}: expected True or False; correct it in the configuration")


def _integer(name: str, text: str, low: int | None, high: int) -> int:
    try:
        number = int(float(text))
    except ValueError:
        raise ConfigError(
            f"{name} = {text}: expected an integer; correct it in the configuration"
        ) from None
    if (low is not None and number < low) or number > high:
        raise ConfigError(
            f"{name} = {text}: must be from {low} to {high}; correct it in the configuration"
        )
    return number
