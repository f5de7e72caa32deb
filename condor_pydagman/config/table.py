"""The table of knobs: one field a knob, in the order in which `.dagman.out` echoes them.

The example of a configuration file, the manual page and `condor_pydagman knobs` are made from it.
The limits, and which of them are enforced, were determined by running stock DAGMan.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from condor_pydagman.config.knob import (
    DAGMAN,
    SUBMIT,
    TRANSFER,
    Kind,
    Knob,
    Value,
    boolean,
    integer,
    real,
    text,
)
from condor_pydagman.errors import ConfigError

_OF_PLACEMENT: dict[str, Any] = {"programs": (DAGMAN, TRANSFER), "label": ""}
FORMER = frozenset({"DAGMAN_COPY_TO_SPOOL"})  # HTCondor up to 25.0 has a default of them
MAX_SUBMITS = "DAGMAN_MAX_SUBMITS_PER_INTERVAL"
_BINDINGS_ONLY = "node jobs are submitted and removed through HTCondor's Python bindings only"


class Config:
    """Values of all knobs in force.  Times in seconds; throttles: 0 means no limit.

    `explicit` are names of knobs that are set, if their defaults mean another thing than
    not set.  `remarks` are lines for `.dagman.out`: values that were brought into their range.

    The class has the table: the attribute of a knob is its description there, and its value in an
    instance.  What is not among the arguments has its default.  An instance does not change.
    """

    use_old_file_parser: bool = boolean(
        "DAGMAN_USE_OLD_FILE_PARSER",
        False,
        "Read DAG files with the parser of HTCondor before 25.",
        no_effect="there is one parser, that of the default",
    )
    use_strict: int = integer("DAGMAN_USE_STRICT", 1, "Which warnings are fatal.", 0, high=3)
    verbosity: int = integer(
        "DAGMAN_VERBOSITY", 3, "Level of detail in .dagman.out; -Debug goes before it.", 0, high=7
    )
    debug_cache_size: int = integer(
        "DAGMAN_DEBUG_CACHE_SIZE",
        5242880,
        "How much of .dagman.out stock keeps in memory during recovery.",
        unit="bytes",
        no_effect="the log is always written in large pieces, and at once when something waits",
    )
    debug_cache_enable: bool = boolean(
        "DAGMAN_DEBUG_CACHE_ENABLE",
        False,
        "Keep lines of .dagman.out in memory during recovery.",
        no_effect="the log is always written in large pieces, and at once when something waits",
    )
    submit_delay: int = integer(
        "DAGMAN_SUBMIT_DELAY", 0, "Time between two submissions.", 0, unit="seconds"
    )
    max_submit_attempts: int = integer(
        "DAGMAN_MAX_SUBMIT_ATTEMPTS", 6, "Tries to submit a node before it fails.", 1, high=16
    )
    startup_cycle_detect: bool = boolean(
        "DAGMAN_STARTUP_CYCLE_DETECT", False, "Look for a cycle before the first submit."
    )
    use_join_nodes: bool = boolean(
        "DAGMAN_USE_JOIN_NODES", True, "Put a NOOP node between many parents and many children."
    )
    report_graph_metrics: bool = boolean(
        "DAGMAN_REPORT_GRAPH_METRICS", False, "Height, width, edges and vertices in .metrics."
    )
    max_submits_per_interval: int = integer(
        MAX_SUBMITS,
        100,
        "Limit of submissions in a scan interval; 0 is none.  Where nobody sets it, 100 is shown,"
        " and jobs are submitted as fast as the schedd takes them.",
        0,
        caps=True,
        unlike_unset=True,
    )
    aggressive_submit: bool = boolean(
        "DAGMAN_AGGRESSIVE_SUBMIT",
        False,
        "Go on submitting when that has taken longer than a scan interval.",
        no_effect="submitting never keeps log events waiting, so it need not be broken off",
    )
    user_log_scan_interval: int = integer(
        "DAGMAN_USER_LOG_SCAN_INTERVAL",
        5,
        "Time between looks at the nodes log where the kernel can't tell of changes.",
        1,
        unit="seconds",
    )
    queue_update_interval: float = real(
        "DAGMAN_QUEUE_UPDATE_INTERVAL",
        5.0,
        "Time between updates of the job ad, at least; it is updated when something changed.",
        1,
        refused=True,
        unit="seconds",
        stock=300.0,
        why="people look at it",
    )
    default_priority: int = integer(
        "DAGMAN_DEFAULT_PRIORITY", 0, "Added to every node's priority; -Priority goes before it."
    )
    suppress_notification: bool = boolean(
        "DAGMAN_SUPPRESS_NOTIFICATION", False, "No mail from node jobs."
    )
    allow_events: int = integer(
        "DAGMAN_ALLOW_EVENTS",
        -1,
        "Bits of the bad job-log events that are tolerated; -1 tolerates them all.",
        label="allow_events (DAGMAN_ALLOW_EVENTS)",
        decides_states=True,
        stock=114,
        why="no event can corrupt the job table, which has the state of each proc",
    )
    retry_submit_first: bool = boolean(
        "DAGMAN_RETRY_SUBMIT_FIRST", True, "A node whose submit failed goes to the front."
    )
    retry_node_first: bool = boolean(
        "DAGMAN_RETRY_NODE_FIRST", False, "A node that is retried goes to the front."
    )
    max_jobs_idle: int = integer(
        "DAGMAN_MAX_JOBS_IDLE", 1000, "Limit of idle jobs.", 0, refused=True, caps=True
    )
    max_jobs_submitted: int = integer(
        "DAGMAN_MAX_JOBS_SUBMITTED",
        0,
        "Limit of nodes with jobs in the queue.",
        0,
        refused=True,
        caps=True,
    )
    max_pre_scripts: int = integer(
        "DAGMAN_MAX_PRE_SCRIPTS", 20, "Limit of running PRE scripts.", 0, refused=True, caps=True
    )
    max_post_scripts: int = integer(
        "DAGMAN_MAX_POST_SCRIPTS", 20, "Limit of running POST scripts.", 0, refused=True, caps=True
    )
    max_hold_scripts: int = integer(
        "DAGMAN_MAX_HOLD_SCRIPTS", 20, "Limit of running HOLD scripts.", 0, refused=True, caps=True
    )
    munge_node_names: bool = boolean(
        "DAGMAN_MUNGE_NODE_NAMES",
        True,
        "With several DAG files, prefix names with the file's number.",
        decides_states=True,
    )
    allow_any_node_name_characters: bool = boolean(
        "DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS", False, "Allow '+' in node names."
    )
    prohibit_multi_jobs: bool = boolean(
        "DAGMAN_PROHIBIT_MULTI_JOBS",
        False,
        "A node whose submit file makes several jobs fails.",
    )
    submit_depth_first: bool = boolean(
        "DAGMAN_SUBMIT_DEPTH_FIRST", False, "Newly ready nodes are submitted first."
    )
    always_run_post: bool = boolean(
        "DAGMAN_ALWAYS_RUN_POST",
        False,
        "Run POST even if PRE failed; -AlwaysRunPost goes before it.",
        decides_states=True,
    )
    condor_submit_exe: str = text(
        "DAGMAN_CONDOR_SUBMIT_EXE",
        "The condor_submit that stock runs with -SubmitMethod 0.",
        kind=Kind.PATH,
        label="DAGMAN_CONDOR_SUBMIT_EXE",
        no_effect=_BINDINGS_ONLY,
    )
    condor_rm_exe: str = text(
        "DAGMAN_CONDOR_RM_EXE",
        "The condor_rm that stock runs.",
        kind=Kind.PATH,
        label="DAGMAN_CONDOR_RM_EXE",
        no_effect=_BINDINGS_ONLY,
    )
    use_direct_submit: bool = boolean(
        "DAGMAN_USE_DIRECT_SUBMIT",
        True,
        "Submit as stock's direct submission does. False: with the checks of condor_submit, that"
        " the executable is there above all, and every failure is tried again; no condor_submit is"
        " run. -SubmitMethod goes before it.",
    )
    produce_job_credentials: bool = boolean(
        "DAGMAN_PRODUCE_JOB_CREDENTIALS",
        True,
        "Hand the credentials that a node's submit file asks for to the credd.",
    )
    default_append_vars: bool = boolean(
        "DAGMAN_DEFAULT_APPEND_VARS", False, "VARS go after the submit file's own lines."
    )
    inherit_attrs_prefix: str = text(
        "DAGMAN_INHERIT_ATTRS_PREFIX",
        "Put before the names of inherited attributes.",
        label="DAGMAN_INHERIT_ATTRS_PREFIX",
    )
    inherit_attrs: str = text(
        "DAGMAN_INHERIT_ATTRS",
        "Attributes of DAGMan's own ad that node jobs are given.",
        kind=Kind.LIST,
        label="DAGMAN_INHERIT_ATTRS",
    )
    node_record_info: str = text(
        "DAGMAN_NODE_RECORD_INFO",
        "What is added to a node job's ad; 'Retry' is its retry number, DAGManNodeRetry.",
        kind=Kind.LIST,
        no_effect="the retry number, all that it can ask for, is always there: recovery needs it",
    )
    record_machine_attrs: str = text(
        "DAGMAN_RECORD_MACHINE_ATTRS",
        "Attributes of the machine that are written into a node job's ad and log.",
        kind=Kind.LIST,
    )
    abort_duplicates: bool = boolean(
        "DAGMAN_ABORT_DUPLICATES",
        True,
        "End when another DAGMan runs the same DAG.",
        no_effect_in_stock=True,
        no_effect="the lock file always decides",
    )
    abort_on_scary_submit: bool = boolean(
        "DAGMAN_ABORT_ON_SCARY_SUBMIT",
        True,
        "End the DAG over a submit event of a cluster that is not the node's.",
        no_effect="such an event is said and ignored: it can't corrupt the job table",
    )
    remove_job_list_on_failure: bool = boolean(
        "DAGMAN_REMOVE_JOB_LIST_ON_FAILURE", True, "A failed job takes its cluster with it."
    )
    pending_report_interval: int = integer(
        "DAGMAN_PENDING_REPORT_INTERVAL",
        600,
        "Time without events before a report of what is awaited.",
        unit="seconds",
    )
    sleep_after: int = integer(
        "PYDAGMAN_SLEEP_AFTER",
        60,
        "Time without events after which DAGMan sleeps; 0 is never.",
        0,
        unit="seconds",
    )
    max_starts: int = integer(
        "PYDAGMAN_MAX_STARTS",
        8,
        "DAGMans of one user that start or recover at a time, at most, and at most two for each"
        " processor; 0 is no limit. It counts as the administrator sets it, once a DAGMan has"
        " started with it.",
        0,
    )
    check_queue_interval: int = integer(
        "DAGMAN_CHECK_QUEUE_INTERVAL",
        1800,
        "Longest time between two looks for lost jobs and edited limits; 0 or less is never.",
        unit="seconds",
        stock=28800,
        why="a lost job is found within half an hour, not after 8 hours",
    )
    print_job_table_interval: int = integer(
        "DAGMAN_PRINT_JOB_TABLE_INTERVAL",
        900,
        "Time between two job tables in .dagman.out; 0 is none.",
        0,
        refused=True,
        unit="seconds",
    )
    auto_rescue: bool = boolean(
        "DAGMAN_AUTO_RESCUE",
        True,
        "Run from the newest rescue file; -AutoRescue goes before it.",
        programs=(SUBMIT, DAGMAN),
    )
    max_rescue_num: int = integer(
        "DAGMAN_MAX_RESCUE_NUM",
        100,
        "Highest number of a rescue file; 0 writes none.",
        0,
        high=999,
        programs=(SUBMIT, DAGMAN),
    )
    reset_retries_upon_rescue: bool = boolean(
        "DAGMAN_RESET_RETRIES_UPON_RESCUE", True, "A rescue run starts with all retries."
    )
    metrics_file_version: int = integer(
        "DAGMAN_METRICS_FILE_VERSION", 2, "Format of .metrics.", 1, high=2, refused=True
    )
    default_node_log: str = text(
        "DAGMAN_DEFAULT_NODE_LOG",
        "The nodes log; @(DAG_DIR), @(DAG_FILE), @(CLUSTER), @(OWNER) and @(NODE_NAME) stand in it"
        " for the DAG's directory and file, DAGMan's cluster and owner, and its node in the DAG"
        " above.",
        default="@(DAG_DIR)/@(DAG_FILE).nodes.log",
        kind=Kind.PATH,
        label="DAGMAN_DEFAULT_NODE_LOG",
    )
    log_on_nfs_is_error: bool = boolean(
        "DAGMAN_LOG_ON_NFS_IS_ERROR",
        False,
        "Refuse a nodes log on NFS; counts only with ENABLE_USERLOG_LOCKING, and without"
        " CREATE_LOCKS_ON_LOCAL_DISK.",
    )
    generate_subdag_submits: bool = boolean(
        "DAGMAN_GENERATE_SUBDAG_SUBMITS",
        True,
        "Make a SUBDAG's submit file when its node starts; else it must be there.",
    )
    max_job_holds: int = integer(
        "DAGMAN_MAX_JOB_HOLDS",
        100,
        "Jobs of a node that may be held before the node fails; 0 is no limit.",
        0,
        high=1000000,
    )
    node_job_failure_tolerance: int = integer(
        "DAGMAN_NODE_JOB_FAILURE_TOLERANCE",
        0,
        "Jobs of a node that may fail before the node does; TOLERANCE goes before it.",
        0,
        refused=True,
        decides_states=True,
    )
    hold_claim_time: int = integer(
        "DAGMAN_HOLD_CLAIM_TIME",
        20,
        "keep_claim_idle of jobs with children.",
        0,
        high=3600,
        unit="seconds",
    )
    suppress_job_logs: bool = boolean(
        "DAGMAN_SUPPRESS_JOB_LOGS", False, "Node jobs write no log of their own."
    )
    remove_node_jobs: bool = boolean(
        "DAGMAN_REMOVE_NODE_JOBS", True, "Remove node jobs when the DAGMan job is removed."
    )
    put_failed_jobs_on_hold: bool = boolean(
        "DAGMAN_PUT_FAILED_JOBS_ON_HOLD",
        False,
        "A node that has failed for good is submitted once more, on hold, for its owner to mend.",
        decides_states=True,
    )
    remove_jobs_after_limit_change: bool = boolean(
        "DAGMAN_REMOVE_JOBS_AFTER_LIMIT_CHANGE",
        False,
        "Jobs beyond a limit of submitted nodes that was lowered leave the queue.",
    )

    # Knobs that stock does not echo.
    disable_admin_throttle_limiting: bool = boolean(
        "DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING",
        False,
        "The administrator's throttles don't cap those of a user; not read from a CONFIG file.",
        label="",
    )
    avoid_slash_tmp: bool = boolean(
        "DAGMAN_AVOID_SLASH_TMP", True, "Refuse a nodes log under /tmp.", label=""
    )
    debug: str = text(
        "DAGMAN_DEBUG", "What stands before each line of .dagman.out.", kind=Kind.LIST
    )
    max_log: int = integer(
        "MAX_DAGMAN_LOG",
        0,
        "Size at which .dagman.out would be turned over.",
        unit="bytes",
        label="",
        no_effect="condor_submit_dag sets it to 0, never, in the environment of every DAGMan",
    )
    debug_parse_timing: bool = boolean(
        "DAGMAN_DEBUG_PARSE_TIMING",
        False,
        "Say in .dagman.out how long reading the DAG files took, and how much memory.",
        label="",
    )
    remove_temp_submit_files: bool = boolean(
        "DAGMAN_REMOVE_TEMP_SUBMIT_FILES",
        True,
        "Delete the files that inline descriptions are written to for condor_submit.",
        label="",
        no_effect="no such files are written",
    )
    use_shared_port: bool = boolean(
        "DAGMAN_USE_SHARED_PORT",
        False,
        "The command socket is reached through the shared port daemon.",
        label="",
        no_effect="the command socket has a port of its own",
    )
    disable_port: bool = boolean(
        "DAGMAN_DISABLE_PORT",
        False,
        "DAGMan has no command socket: condor_submit_dag gives it `-p 0`.",
        label="",
        programs=(SUBMIT,),
    )
    insert_sub_file: str = text(
        "DAGMAN_INSERT_SUB_FILE",
        "File whose lines go into every .condor.sub; -insert_sub_file goes before it.",
        kind=Kind.PATH,
        programs=(SUBMIT,),
    )
    on_exit_remove: str = text(
        "DAGMAN_ON_EXIT_REMOVE",
        "Expression that decides whether an ended DAGMan leaves the queue.",
        default="(ExitSignal =?= 11 || (ExitCode =!= UNDEFINED && ExitCode >=0 && ExitCode <= 2))",
        kind=Kind.EXPRESSION,
        programs=(SUBMIT,),
    )
    manager_job_append_getenv: str = text(
        "DAGMAN_MANAGER_JOB_APPEND_GETENV",
        "More variables for DAGMan's own environment, or 'true' for all.",
        kind=Kind.LIST,
        programs=(SUBMIT,),
    )
    write_partial_rescue: bool = boolean(
        "DAGMAN_WRITE_PARTIAL_RESCUE",
        True,
        "False once chose whole DAG files as rescue files; condor_submit_dag warns of it.",
        label="",
        programs=(SUBMIT,),
        no_effect_in_stock=True,
        no_effect="rescue files have been partial since HTCondor 7.7",
    )
    config_file: str = text(
        "DAGMAN_CONFIG_FILE",
        "The DAG's CONFIG file; condor_submit_dag sets it in the environment of DAGMan.",
        kind=Kind.PATH,
    )

    # Knobs that stock does not have.
    restart_pre_rate: int = integer(
        "PYDAGMAN_PRE_SCRIPTS_PER_SECOND",
        0,
        "PRE scripts started in a second after a restart, at most; 0 is no limit.",
        0,
        refused=True,
    )
    ask_history: bool = boolean(
        "PYDAGMAN_ASK_HISTORY",
        True,
        "The schedd's history is asked after a restart, and before a job counts as lost.",
        label="",
    )

    max_nodes_in_cluster: int = integer(
        "PYDAGMAN_MAX_NODES_IN_CLUSTER",
        1,
        "How many nodes with one submit file are one cluster, at most; see condor_dagman(1).",
        1,
        high=10_000,
    )

    notify: str = text(
        "PYDAGMAN_NOTIFY",
        "Events that are handed to programs or URLs; see NOTIFY in dagman-language(7).", label="",
    )  # fmt: skip
    syslog_commands: bool = boolean(
        "PYDAGMAN_SYSLOG_COMMANDS",
        False,
        "Each command of condor_pydagman steer or the page goes to syslog as well, with who asks.",
        label="",
    )
    check_dag: bool = boolean(
        "PYDAGMAN_CHECK_DAG",
        True,
        "condor_submit_dag reads the DAG as DAGMan will, and submits none that would end at once.",
        label="",
        programs=(SUBMIT,),
    )

    # The knobs of data placement: the workers of DATA nodes and `condor_pydagman transfer` obey
    # them.  DAGMan reads them with its own, a DAG's CONFIG file included, and passes them on.
    placement_ways: str = text(
        "PYDAGMAN_PLACEMENT_WAYS",
        "Which ways from one URL to another are looked at, in order.",
        default="module, direct, gfal, plugin, cache",
        **_OF_PLACEMENT,
    )
    placement_modules: str = text(
        "PYDAGMAN_PLACEMENT_MODULES",
        "Directories of the site's modules, stork.transfer.http-file and the like; default:"
        " HTCondor's LIBEXEC.",
        **_OF_PLACEMENT,
    )
    placement_dir: str = text(
        "PYDAGMAN_PLACEMENT_DIR",
        "Directory (mode 1777) that all users of the access point share, for the limits on"
        " placements and the ledgers of allocations; default: one in /var/tmp.",
        **_OF_PLACEMENT,
    )
    placement_max: int = integer(
        "PYDAGMAN_PLACEMENT_MAX",
        10,
        "Placements at once, over all DAGs and users of the access point; 0 is no limit.",
        0,
        **_OF_PLACEMENT,
    )
    placement_max_per_host: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_PER_HOST",
        0,
        "Of these, how many with the same service of a host; 0 is no limit.",
        0,
        **_OF_PLACEMENT,
    )
    placement_max_per_protocol: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_PER_PROTOCOL",
        0,
        "Of these, how many with the same protocol; 0 is no limit.",
        0,
        **_OF_PLACEMENT,
    )
    placement_limits: str = text(
        "PYDAGMAN_PLACEMENT_LIMITS",
        "Limits of single hosts and protocols: data.example.org=4, s3=2.",
        **_OF_PLACEMENT,
    )
    placement_streams: int = integer(
        "PYDAGMAN_PLACEMENT_STREAMS",
        4,
        "Placements of one request file at once.",
        1,
        high=64,
        **_OF_PLACEMENT,
    )
    placement_max_retries: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_RETRIES",
        10,
        "Attempts of a placement after its first, for faults that may pass.",
        0,
        high=1000,
        **_OF_PLACEMENT,
    )
    placement_first_delay: int = integer(
        "PYDAGMAN_PLACEMENT_FIRST_DELAY",
        1,
        "Delay before the second attempt; it doubles each time.",
        0,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_max_delay: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_DELAY",
        600,
        "Longest delay before an attempt, and longest rest of a service that fails.",
        0,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_connect_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_CONNECT_TIMEOUT",
        20,
        "How long a server may take to accept a connection.",
        1,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_stall_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_STALL_TIMEOUT",
        60,
        "A connection that moves no data for so long is broken off.",
        1,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_module_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_MODULE_TIMEOUT",
        86400,
        "A module or plugin that takes longer is killed; 0 is no limit.",
        0,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_host_rest: int = integer(
        "PYDAGMAN_PLACEMENT_HOST_REST",
        10,
        "For how long a service that fails is left alone by all placements, at first.",
        0,
        unit="seconds",
        **_OF_PLACEMENT,
    )
    placement_cache_dir: str = text(
        "PYDAGMAN_PLACEMENT_CACHE_DIR",
        "Directory for transfers in two steps; default: one of the user's in /var/tmp.",
        **_OF_PLACEMENT,
    )
    placement_cache_size: str = text(
        "PYDAGMAN_PLACEMENT_CACHE_SIZE",
        "How much a user's transfers in two steps may hold there.",
        default="10 GB",
        **_OF_PLACEMENT,
    )
    placement_capacity: str = text(
        "PYDAGMAN_PLACEMENT_CAPACITY",
        "Space that can be allocated, by host, URL or directory: /scratch=500 GB, s3://out=1 TB.",
        **_OF_PLACEMENT,
    )
    placement_fsync: bool = boolean(
        "PYDAGMAN_PLACEMENT_FSYNC",
        False,
        "A placement counts as done only when its file is on the disk (fsync).",
        **_OF_PLACEMENT,
    )

    # The knobs of site matching: groups of nodes that run at one site.
    sites_interval: int = integer(
        "PYDAGMAN_SITES_INTERVAL",
        60,
        "How often the collector is asked for sites at most, for all groups of a DAG together; and"
        " how long a site rests at first that a group has left by its SITE_POLICY.",
        1,
        unit="seconds",
        label="",
    )
    sites_dir: str = text(
        "PYDAGMAN_SITES_DIR",
        "Directory (mode 1777) that all users of the access point share, for the claims of sites;"
        " default: one in /var/tmp.",
    )

    # The knobs of limits that DAGs share, and of the pace of one DAG.
    shared_limits: str = text(
        "PYDAGMAN_SHARED_LIMITS",
        "Limits that DAGs of all users of the access point share, for SHARED_LIMIT in DAG files:"
        " NAME = JOBS <n> IDLE <n> PRE <n> POST <n> STARTS-PER-MINUTE <n>; several with semicolons"
        " between them. It counts as the administrator sets it, not as a DAG does.",
    )
    applied_limits: str = text(
        "PYDAGMAN_APPLIED_LIMITS",
        "Which of the administrator's shared limits apply to DAGs that do not name them: NAME ALL,"
        " NAME USERS <user> ... or NAME GROUPS <accounting group> ...; several with semicolons"
        " between them. It counts as the administrator sets it, not as a DAG does.",
        programs=(SUBMIT, DAGMAN),
    )
    limits_dir: str = text(
        "PYDAGMAN_LIMITS_DIR",
        "Directory (mode 1777) that all users of the access point share, for what their DAGs have"
        " taken of shared limits; default: one in /var/tmp.",
    )
    max_starts_per_minute: int = integer(
        "PYDAGMAN_MAX_STARTS_PER_MINUTE",
        0,
        "Nodes of one DAG submitted in a minute, retries included, at most; 0 is no limit.",
        0,
        high=10**7,
        refused=True,
        label="",
    )
    all_restart_pre_rate: int = integer(
        "PYDAGMAN_ALL_PRE_SCRIPTS_PER_SECOND",
        0,
        "PRE scripts started in a second after a restart, over all DAGs of the access point"
        " together, at most; 0 is no limit. It counts as the administrator sets it.",
        0,
        high=10**5,
        refused=True,
        label="",
    )

    max_bundle_size: int = integer(
        "PYDAGMAN_MAX_BUNDLE_SIZE",
        1000,
        "How many nodes a bundle can have (BUNDLE); 0: none is made. See docs/bundles.md.",
        0,
        label="",
    )

    # The knobs of DAGs that grow while they run.
    max_grown_nodes: int = integer(
        "PYDAGMAN_MAX_GROWN_NODES",
        2_000_000,
        "How many nodes a DAG can grow to while it runs; 0: no limit. See docs/growth.md.",
        0,
        label="",
    )
    max_piece_mb: int = integer(
        "PYDAGMAN_MAX_PIECE_MB",
        200,
        "How large a text can be that is added to a DAG at once, with all files that it names.",
        1,
        unit="MB",
        label="",
    )

    explicit: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()

    def __init__(self, **values: Any) -> None:
        unknown = values.keys() - _DEFAULTS.keys()
        if unknown:
            raise TypeError(f"no such knob: {', '.join(sorted(unknown))}")
        vars(self).update(_DEFAULTS, **values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} can't be set: a Config does not change, see `but`")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def but(self, **values: Any) -> Config:
        """The same knobs except for these."""
        return Config(**{**vars(self), **values})

    def deciding(self) -> str:
        """The knobs that decide states and are not at their defaults, as the nodes log has them:
        `always_run_post=1 allow_events=114`; '' if there are none."""
        values = ((name, getattr(self, name)) for name in _DECIDING)
        return " ".join(f"{name}={value:d}" for name, value in values if value != _DEFAULTS[name])

    def with_deciding(self, text: str) -> Config:
        """The same but for the knobs that decide states: these have the values that such a text
        gives, or their defaults; names and values that can't be are passed over."""
        values = {name: _DEFAULTS[name] for name in _DECIDING}
        for name, value in re.findall(r"(?<!\S)(\w+)=(-?\d{1,9})(?!\S)", text):
            if name in values:
                values[name] = type(values[name])(int(value))
        return self.but(**values)

    @property
    def limits_submits(self) -> bool:
        """Whether DAGMAN_MAX_SUBMITS_PER_INTERVAL is set."""
        return MAX_SUBMITS in self.explicit or self.max_submits_per_interval != 100


_TABLE = {name: row for name, row in vars(Config).items() if isinstance(row, Knob)}
_DEFAULTS: dict[str, Any] = {name: knob.default for name, knob in _TABLE.items()}
_DECIDING = [name for name, knob in _TABLE.items() if knob.decides_states]
_DEFAULTS.update(explicit=Config.explicit, remarks=Config.remarks)


def fields_of_knobs() -> list[tuple[str, Knob]]:
    """The table: name of the field, and the description of its knob."""
    return list(_TABLE.items())


def knobs() -> list[Knob]:
    """The table without the fields' names."""
    return [knob for _, knob in fields_of_knobs()]


# From the texts of knobs that are set to the values in force, with a message for each mistake.


def _nowhere(name: str) -> str:
    return "the configuration"


def _never_set(name: str) -> bool:
    return False


def read(
    get: Callable[[Knob], str | None],
    where: Callable[[str], str] = _nowhere,
    is_set: Callable[[str], bool] = _never_set,
    program: str = "",
) -> Config:
    """Build a Config from `get`, which gives a knob's text or None where nothing is set.

    Expressions have to be evaluated by then.  `where` names the place where a knob was set;
    `is_set` tells whether it is set, since `get` may give HTCondor's default as well.  With
    `program`, those that others read stay at their defaults.

    Raises:
        ConfigError: a value is of the wrong type or out of the enforced range.
    """
    wanted = [row for row in fields_of_knobs() if not program or program in row[1].programs]
    values: dict[str, Any] = {}
    remarks: list[str] = []
    for name, knob in wanted:
        values[name], remark = read_one(knob, get, where, is_set)
        if remark:
            remarks.append(remark)
    explicit = (knob.name for _, knob in wanted if knob.unlike_unset and is_set(knob.name))
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
