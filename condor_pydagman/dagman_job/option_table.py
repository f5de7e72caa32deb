"""The one table of the options of condor_submit_dag and condor_dagman, and what -help prints of it.

Source: manual pages condor_submit_dag(1) and condor_dagman(1), and what the stock programs print.
"""

from __future__ import annotations

from enum import Enum

from condor_pydagman.named_tuple import NamedTuple


class Takes(Enum):
    """What follows an option word."""

    NOTHING = 0
    INTEGER = 1
    TEXT = 2
    LIST = 3  # a text; every use of the option adds one


class Reach(Enum):
    """How far condor_submit_dag hands an option on."""

    HERE = 0  # not handed on
    SHALLOW = 1  # to condor_dagman, for this DAG only
    DEEP = 2  # to condor_dagman and to every nested condor_submit_dag


class Option(NamedTuple):
    """One row of the table.

    Attributes:
        name: as stock spells it, without the dash.
        attribute: the attribute of `Options` that it sets.
        takes: what follows it.
        reach: how far it is handed on.
        argument: what usage lines call the argument.
        text: help line; '' hides the option from the help of condor_submit_dag.
        value: what a flag sets its attribute to.
        written: the word to hand it on with, where that is not `name`.
        daemon: whether the usage of condor_dagman shows it.
        whole: whether it must be typed whole: one of ours must not take an abbreviation from
            stock's, nor a slip of the keyboard stop DAGMan.
    """

    name: str
    attribute: str
    takes: Takes = Takes.NOTHING
    reach: Reach = Reach.HERE
    argument: str = ""
    text: str = ""
    value: bool = True
    written: str = ""
    daemon: bool = False
    whole: bool = False


_N, _I, _T, _L = Takes.NOTHING, Takes.INTEGER, Takes.TEXT, Takes.LIST
_HERE, _SHALLOW, _DEEP = Reach.HERE, Reach.SHALLOW, Reach.DEEP

OPTIONS = (
    Option("AllowVersionMismatch", "allow_version_mismatch", _N, _DEEP, daemon=True,
           text="Run a DAG that another version of condor_submit_dag prepared"),
    Option("AlwaysRunPost", "always_run_post", _N, _SHALLOW, daemon=True,
           text="Run a node's POST script even if its PRE script failed"),
    Option("Append", "append", _L, argument="<command>",
           text="Add this submit command to *.condor.sub"),
    Option("AutoRescue", "auto_rescue", _I, _DEEP, "<0|1>", daemon=True,
           text="Run from the newest rescue file (0=False | 1=True)"),
    Option("Batch-Name", "batch_name", _T, argument="<name>", daemon=True,
           text="Name of the batch in condor_q"),
    Option("check_dag", "check_dag", whole=True,
           text="Check the DAG before it is submitted, whatever its size"),
    Option("choose_all", "choose_all", _N, _SHALLOW, daemon=True, whole=True,
           text="Run all nodes, whatever CHOOSE lines say"),
    Option("choose_from", "choose_from", _L, _SHALLOW, "<nodes>", daemon=True, whole=True,
           text="Run these nodes, and what depends on them"),
    Option("choose_only", "choose_only", _L, _SHALLOW, "<nodes>", daemon=True, whole=True,
           text="Run these nodes, and what they need"),
    Option("choose_until", "choose_until", _L, _SHALLOW, "<nodes>", daemon=True, whole=True,
           text="Run nothing that comes after these nodes"),
    Option("Config", "config", _T, argument="<filename>",
           text="DAGMan configuration file for this DAG"),
    Option("CsdVersion", "csd_version", _T, _SHALLOW, "<Version String>", daemon=True),
    Option("Dag", "dag_files", _L, _SHALLOW, "<NAME.dag>", daemon=True),
    Option("DAGMan", "dagman", _T, _DEEP, "<path>", written="dagman",
           text="Full path of the condor_dagman to run"),
    Option("Debug", "debug", _I, _SHALLOW, "<level>", daemon=True,
           text="Level of detail in *.dagman.out (0 to 7)"),
    Option("do_recurse", "do_recurse", _N, _DEEP,
           text="Also write the *.condor.sub files of all sub-DAGs"),
    Option("dont_suppress_notification", "suppress_notification", _N, _DEEP, value=False,
           daemon=True, text="Let node jobs send mail as their submit files say"),
    Option("DontAlwaysRunPost", "always_run_post", _N, _SHALLOW, value=False, daemon=True,
           text="Don't run a node's POST script if its PRE script failed"),
    Option("DoRecovery", "do_recovery", _N, _SHALLOW, written="DoRecov", daemon=True,
           text="Start in recovery mode"),
    Option("DoRescueFrom", "do_rescue_from", _I, _DEEP, "<N>", daemon=True,
           text="Run from the rescue file of this number"),
    Option("Dot", "dot", daemon=True),
    Option("DryRun", "dry_run", daemon=True),
    Option("Force", "force", _N, _DEEP, written="force",
           text="Overwrite the files of an earlier run, set rescue files aside"),
    Option("import_env", "import_env", _N, _DEEP,
           text="Copy the current environment into *.condor.sub"),
    Option("include_env", "include_env", _L, _DEEP, "<variables>",
           text="Comma separated list of variables to take over from the environment"),
    Option("insert_env", "insert_env", _L, _DEEP, "<key=value>",
           text="Variables to set in DAGMan's environment, separated by semicolons"),
    Option("insert_sub_file", "insert_sub_file", _T, argument="<filename>",
           text="Add the lines of this file to *.condor.sub"),
    Option("load_save", "load_save", _T, _SHALLOW, "<filename>", daemon=True,
           text="Run from this save point file"),
    Option("Lockfile", "lockfile", _T, _SHALLOW, "<filename>", daemon=True,
           text="Accepted for compatibility; the lock file is always *.lock"),
    Option("MaxHold", "max_hold", _I, argument="<N>", daemon=True,
           text="Accepted for compatibility; use DAGMAN_MAX_HOLD_SCRIPTS"),
    Option("MaxIdle", "max_idle", _I, _SHALLOW, "<N>", daemon=True,
           text="Submit no more while this many jobs are idle"),
    Option("MaxJobs", "max_jobs", _I, _SHALLOW, "<N>", daemon=True,
           text="Number of nodes that may have jobs in the queue at once"),
    Option("MaxPost", "max_post", _I, _SHALLOW, "<N>", daemon=True,
           text="Number of POST scripts to run at once"),
    Option("MaxPre", "max_pre", _I, _SHALLOW, "<N>", daemon=True,
           text="Number of PRE scripts to run at once"),
    Option("no_check_dag", "check_dag", value=False, whole=True,
           text="Submit the DAG unchecked"),
    Option("no_recurse", "do_recurse", value=False,
           text="Leave sub-DAGs to condor_dagman (default)"),
    Option("no_submit", "no_submit", text="Write *.condor.sub, but don't submit it"),
    Option("Notification", "notification", _T, _DEEP, "<option>", written="notification",
           text="When to mail about the DAGMan job (always|complete|error|never)"),
    Option("outfile_dir", "outfile_dir", _T, _DEEP, "<path>",
           text="Directory for *.dagman.out"),
    Option("Priority", "priority", _I, _SHALLOW, "<priority>", daemon=True,
           text="Added to the priority of every node"),
    Option("Remote", "remote", _T, argument="<schedd name>",
           text="Submit to the schedd of this name, with a copy of condor_dagman (spooling)"),
    Option("RescueFile", "rescue_file", _T, _SHALLOW, "<filename>", daemon=True,
           text="Run from this rescue file"),
    Option("schedd-address-file", "schedd_address_file", _T, argument="<path>",
           text="Find the schedd by this address file"),
    Option("schedd-daemon-ad-file", "schedd_daemon_ad_file", _T, argument="<path>",
           text="Find the schedd by this daemon ad file"),
    Option("SetupOnly", "setup_only", _N, _SHALLOW, daemon=True),
    Option("SubmitMethod", "submit_method", _I, _DEEP, "<value>", daemon=True,
           text="0: with the checks of condor_submit, which is not run; 1 (default): without"),
    Option("suppress_notification", "suppress_notification", _N, _DEEP, daemon=True,
           text="No mail from node jobs"),
    Option("terse", "terse", text="Print only the job id of DAGMan"),
    Option("update_submit", "update_submit", _N, _DEEP, daemon=True,
           text="Rewrite *.condor.sub if it is there, keeping its -Max options"),
    Option("UseDagDir", "use_dag_dir", _N, _DEEP, daemon=True,
           text="Run each DAG in its own directory"),
    Option("Valgrind", "valgrind", text="Run condor_dagman under valgrind"),
    Option("Verbose", "verbose", _N, _DEEP, written="verbose",
           text="Accepted for compatibility; messages are always complete"),
)  # fmt: skip

WAIT_FOR_DEBUG = Option("WaitForDebug", "wait_for_debug", daemon=True, whole=True)
LETTERS = {"a": "Append", "f": "Force", "r": "Remote", "v": "Verbose"}


def submit_usage() -> str:
    """What `condor_submit_dag -help` prints."""
    rows = [("-help", "print usage info and exit"), ("-version", "print version and exit")]
    rows += [(f"-{o.name} {o.argument}".rstrip(), o.text) for o in OPTIONS if o.text]
    lines = [
        "Usage: condor_submit_dag [options] dag_file [dag_file_2 ... dag_file_n]",
        "  where dag_file1, etc., is the name of a DAG input file",
        "  and where [options] is one or more of:",
    ]
    lines += [f"    {left:<30} ({text})" for left, text in rows]
    return "\n".join(lines) + "\n"


def dagman_usage() -> str:
    """What condor_dagman prints after a wrong command line."""
    lines = ["Usage: condor_dagman -p 0 -f -l .", "\t[-Help]", "\t[-Version]", "\t[-WaitForDebug]"]
    for option in OPTIONS:
        if option.daemon:
            lines.append("\t[" + f"-{option.name} {option.argument}".rstrip() + "]")
    lines += ["Where NAME is the name of your DAG file.", "Default -Debug is -Debug 3"]
    return "\n".join(lines) + "\n"
