"""The command lines of condor_submit_dag and condor_dagman: one option table for both.

condor_submit_dag writes condor_dagman's command line, and either may be called by the other's stock
version, so both must know every option, its abbreviations and where it is handed on.  Source:
manual pages condor_submit_dag(1) and condor_dagman(1), and what the stock programs print.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from condor_pydagman.errors import UsageError
from condor_pydagman.feature_table import CHOOSES, part
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag

# The arguments that condor_dagman's command line begins with: those of an HTCondor daemon.
#
# Stock condor_dagman is a DaemonCore program, and condor_submit_dag puts `-f -l .` (and `-p 0`)
# before DAGMan's own options.  Stock takes any word that begins with a letter of such an option, so
# that a `-lockfile`, `-priority` or `-alwaysrunpost` in first place is lost; we take whole words
# only.

_FLAGS = frozenset(("f", "b", "q", "t", "d", "foreground", "background", "quiet", "terminal"))
_WITH_VALUE = frozenset(
    (
        *("a", "append", "c", "config", "l", "log", "local-name", "p", "port", "pidfile"),
        *("r", "runfor", "sock"),
    )
)
_PORT = frozenset(("p", "port"))
_KILL = frozenset(("k", "kill"))
_VERSION = frozenset(("v", "version"))


class DaemonCore(NamedTuple):
    """What the leading arguments say, of which DAGMan obeys only the wish for the version and the
    port: it runs in the foreground, in the directory where it was started, and logs where
    `_CONDOR_DAGMAN_LOG` says, as stock does.
    """

    rest: tuple[str, ...]  # the arguments behind them: DAGMan's own
    version: bool = False  # whether the version is to be printed, and nothing else done
    port: int | None = None  # of the command socket; 0: there is to be none; None: any


def split(argv: Sequence[str]) -> DaemonCore:
    """Take the daemon's arguments from the front of a command line (program name left out).

    Raises:
        UsageError: one of them lacks its value, or asks for what DAGMan can't do.
    """
    at, port = 0, None
    while at < len(argv) and argv[at].startswith("-"):
        word, at = argv[at][1:], at + 1
        if word in _VERSION:
            return DaemonCore((), version=True)
        if word in _KILL:
            raise UsageError("-k (kill the daemon of a pid file) is not for DAGMan; use condor_rm")
        if word in _WITH_VALUE:
            if at == len(argv):
                raise UsageError(f"DaemonCore: ERROR: -{word} needs another argument")
            if word in _PORT and argv[at].isdigit():
                port = int(argv[at])
            at += 1
        elif word not in _FLAGS:
            return DaemonCore(tuple(argv[at - 1 :]), port=port)
    return DaemonCore(tuple(argv[at:]), port=port)


# How option words are compared, and suggestions for unknown ones: the nearest option.

MIN_PREFIX_LENGTH = 3  # characters for a prefix to count as an abbreviation


class UnknownOption(UsageError):
    """A word that is no option; `near` is one that may have been meant, with its dash, or ''."""

    def __init__(self, message: str, near: str) -> None:
        super().__init__(message)
        self.near = near


def nearest(typed: str, known: Iterable[str]) -> str:
    """The one of `known` that may have been meant, '' if none is near; dashes before words, letter
    case and what follows a `=` don't count."""
    import difflib  # late: most command lines are right

    words = {_bare(word): word for word in known}
    bare = _bare(typed)
    near = [bare] if bare in words else [word for word in words if word.startswith(bare)]
    if not near or len(bare) < MIN_PREFIX_LENGTH:
        near = difflib.get_close_matches(bare, list(words), 1, 0.65)
    return words[near[0]] if near else ""


def one_spelling(word: str) -> str:
    """An option word as all its spellings have it: one or two dashes, any case, `-` or `_`."""
    return word.lstrip("-").lower().replace("-", "_")


def _bare(word: str) -> str:
    return one_spelling(word.partition("=")[0])


# The one table of the options of condor_submit_dag and condor_dagman, and what -help prints of it.
#
# Source: manual pages condor_submit_dag(1) and condor_dagman(1), and what the stock programs print.


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
    """One row of the table."""

    name: str  # as stock spells it, without the dash
    attribute: str  # the attribute of `Options` that it sets
    takes: Takes = Takes.NOTHING  # what follows it
    reach: Reach = Reach.HERE  # how far it is handed on
    argument: str = ""  # what usage lines call the argument
    text: str = ""  # help line; '' hides the option from the help of condor_submit_dag
    value: bool = True  # what a flag sets its attribute to
    written: str = ""  # the word to hand it on with, where that is not `name`
    daemon: bool = False  # whether the usage of condor_dagman shows it
    # whether it must be typed whole: one of ours must not take an abbreviation from stock's, nor a
    # slip of the keyboard stop DAGMan
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
    Option("bundle", "bundle", _N, _DEEP, daemon=True, whole=True,
           text="Run short nodes many to a job, as BUNDLE lines do"),
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


INT_MIN, INT_MAX = -2147483648, 2147483647


class MisplacedOption(UsageError):
    """An option after a DAG file; stock condor_submit_dag reports it on stdout, not stderr."""


class OldArguments(UsageError):
    """A -Max option of an existing submit file is wrong (-update_submit)."""


# Pairs that can't be used together; the one found first in the table speaks.
_EXCLUSIVE = (
    ("load_save", "DoRecovery"),
    ("load_save", "DoRescueFrom"),
    ("load_save", "RescueFile"),
    ("RescueFile", "DoRescueFrom"),
    ("choose_all", "choose_from"),
    ("choose_all", "choose_until"),
    ("choose_all", "choose_only"),
)


class Options(NamedTuple):
    """What a command line says.  None stands for "not given" where that makes a difference.

    Not a dataclass: those take ten times as long to make, and condor_submit_dag is to be quick.
    """

    dag_files: tuple[str, ...] = ()
    allow_version_mismatch: bool = False
    always_run_post: bool | None = None
    append: tuple[str, ...] = ()
    auto_rescue: int | None = None
    batch_name: str = ""
    bundle: bool = False
    check_dag: bool | None = None
    choose_all: bool = False
    choose_from: tuple[str, ...] = ()
    choose_only: tuple[str, ...] = ()
    choose_until: tuple[str, ...] = ()
    config: str = ""
    csd_version: str = ""
    dagman: str = ""
    debug: int | None = None
    do_recovery: bool = False
    do_recurse: bool | None = None
    do_rescue_from: int = 0
    dot: bool = False
    dry_run: bool = False
    force: bool = False
    import_env: bool = False
    include_env: tuple[str, ...] = ()
    insert_env: tuple[str, ...] = ()
    insert_sub_file: str = ""
    load_save: str = ""
    lockfile: str = ""
    max_hold: int | None = None
    max_idle: int | None = None
    max_jobs: int | None = None
    max_post: int | None = None
    max_pre: int | None = None
    no_submit: bool = False
    notification: str = ""
    outfile_dir: str = ""
    priority: int = 0
    remote: str = ""
    rescue_file: str = ""
    schedd_address_file: str = ""
    schedd_daemon_ad_file: str = ""
    setup_only: bool = False
    submit_method: int | None = None
    suppress_notification: bool | None = None
    terse: bool = False
    update_submit: bool = False
    use_dag_dir: bool = False
    valgrind: bool = False
    verbose: bool = False
    wait_for_debug: bool = False
    port: int | None = None  # of condor_dagman's command socket; 0 is none
    show: str = ""  # 'help' or 'version': print that and do nothing else

    def paths(self) -> DagPaths:
        """Names of the files that belong to these DAG files; there must be at least one."""
        return DagPaths(self.dag_files[0], len(self.dag_files) > 1, self.outfile_dir)


class SubmitOptions(Options):
    """The command line of condor_submit_dag."""


class DagmanOptions(Options):
    """The command line of condor_dagman.

    What only a nested condor_submit_dag obeys (`force`, `import_env`, ...) is kept for that;
    condor_dagman itself ignores it.
    """


def parse_submit(argv: Sequence[str]) -> SubmitOptions:
    """Parse condor_submit_dag's arguments (program name left out).

    Raises:
        MisplacedOption: an option comes after a DAG file.
        UsageError: anything else that stock refuses.
    """
    found = _scan(argv, _SUBMIT, daemon=False)
    options = SubmitOptions(**found.values)
    if options.show:
        return options
    if options.do_rescue_from < 0:
        raise UsageError("-DoRescueFrom value must be non-negative; aborting.")
    if not any(options.dag_files):
        raise UsageError(f"ERROR: no dag file specified; aborting.{_taken(argv)}")
    return options


def _taken(argv: Sequence[str]) -> str:
    """That an option has taken the last word, which may have been meant as the DAG file."""
    option, word = ("", "", *argv)[-2:]
    if not word or word.startswith("-") or not option.startswith("-"):
        return ""
    return f"\n       {word} is taken as the value of {option}"


_OTHER_VERSION = (
    "\nIf another version of HTCondor wrote this command line, write it anew: "
    "condor_submit_dag -update_submit <DAG file>"
)


def parse_dagman(argv: Sequence[str]) -> DagmanOptions:
    """Parse condor_dagman's arguments (program name left out), DaemonCore's own dropped.

    Raises:
        UsageError: unknown option, bad value, or no DAG file.
    """
    ours = split(argv)
    if ours.version:
        return DagmanOptions(show="version")
    try:
        found = _scan(ours.rest, _DAGMAN, daemon=True)
    except UsageError as error:
        raise UsageError(
            f"{error}{_OTHER_VERSION if 'Unknown flag' in str(error) else ''}"
        ) from None
    options = DagmanOptions(**found.values, port=ours.port)
    if options.show:
        return options
    if not any(options.dag_files):
        raise UsageError("No DAG file was specified")
    for name in ("MaxJobs", "MaxIdle", "MaxPre", "MaxPost", "MaxHold", "DoRescueFrom"):
        value = getattr(options, _DAGMAN.rows[name.lower()].attribute)
        if value is not None and value < 0:
            raise UsageError(f"-{name} must be non-negative")
    if options.submit_method not in (None, 0, 1):
        raise UsageError(f"-SubmitMethod must be 0 or 1, not {options.submit_method}")
    return options


def merge_maximums(options: SubmitOptions, words: Sequence[str]) -> SubmitOptions:
    """`options` with the -Max settings of an older command line put over them (-update_submit).

    Every word that starts with `-Max` counts, and so does any abbreviation of such an option.
    The older values win over the new ones, as they do in stock.

    Raises:
        OldArguments: one of them lacks its number, or is no option.
    """
    values: dict[str, Any] = {}
    at = 0
    while at < len(words):
        word, at = words[at], at + 1
        if not word.lower().startswith("-m"):
            continue
        try:
            option = _SUBMIT.find(word, shown=word)
            values[option.attribute] = _integer(option, word, words, at)
        except UsageError as error:
            raise OldArguments(str(error)) from None
        at += 1
    return options._replace(**values)


def arguments(options: Options, csd_version: str, disable_port: bool = False) -> list[str]:
    """condor_dagman's argument words, in the order in which stock condor_submit_dag writes them.

    `options.dagman` and `options.auto_rescue` must have been filled in.
    """
    words = ["-p", "0"] if disable_port else []
    # These come first, and a capital follows: stock's DaemonCore takes `-f`, `-l`, `-p`, ... for
    # its own until it meets a word it does not know.
    words += ["-f", "-l", "."]
    written = options._replace(lockfile=options.paths().lock, csd_version=csd_version)
    for name in _SHALLOW_ORDER:
        words += _written(written, name)
    return words + deep_arguments(options)


def deep_arguments(options: Options) -> list[str]:
    """The argument words that nested runs of condor_submit_dag are given too."""
    if options.notification and options.suppress_notification:
        options = options._replace(notification="never")
    words: list[str] = []
    for name in _DEEP_ORDER:
        words += _written(options, name)
    return words


_SHALLOW_ORDER = (
    "Debug", "Lockfile", "Dag", "MaxIdle", "MaxJobs", "MaxPre", "MaxPost", "AlwaysRunPost",
    "DontAlwaysRunPost", "DoRecovery", "SetupOnly", "CsdVersion", "Priority", "load_save",
    "RescueFile", "choose_all", "choose_from", "choose_until", "choose_only",
)  # fmt: skip
_DEEP_ORDER = (
    "Verbose", "Notification", "DAGMan", "UseDagDir", "outfile_dir", "AutoRescue",
    "DoRescueFrom", "AllowVersionMismatch", "import_env", "include_env", "insert_env",
    "do_recurse", "suppress_notification", "dont_suppress_notification", "SubmitMethod",
    "Force", "update_submit", "bundle",
)  # fmt: skip


def _written(options: Options, name: str) -> list[str]:
    """The words that hand option `name` on; none where it is not set."""
    option = _SUBMIT.rows[name.lower()]
    value = getattr(options, option.attribute)
    word = "-" + (option.written or name)
    if option.takes is Takes.NOTHING:
        return [word] if value is option.value else []
    if option.takes is Takes.LIST:
        return [part for item in value for part in (word, item)]
    if option.takes is Takes.INTEGER:
        return [word, str(value)] if _integer_is_set(name, value) else []
    return [word, value] if value else []


def _integer_is_set(name: str, value: int | None) -> bool:
    if value is None:
        return False
    if name in ("Priority", "DoRescueFrom"):
        return value != 0
    if name == "AutoRescue":
        return True
    # Stock's "not given" is -1 for the debug level, and anything negative for the rest.
    return value != -1 if name == "Debug" else value >= 0


class _Table:
    """The options of one tool by lower-cased word, for exact and abbreviated look-up.

    Args:
        spellings: whether whole words are also known with two dashes, and with `-` for `_`.
    """

    def __init__(self, options: Sequence[Option], *, spellings: bool = False) -> None:
        self.rows = {option.name.lower(): option for option in options}
        for letter, name in LETTERS.items():
            self.rows[letter] = self.rows[name.lower()]._replace(name=letter)
        self.words = sorted(word for word, option in self.rows.items() if not option.whole)
        self._spelled = {one_spelling(w): o for w, o in self.rows.items()} if spellings else {}

    def find(self, word: str, shown: str = "") -> Option:
        """The option that a typed word (dash included) means; `shown` is how errors call it.

        Stock's rule: the first entry that sorts at or after the word, if the word begins it.  So
        there is no ambiguity, and `-m` is -MaxHold.
        """
        typed = word.lower()[1:]
        if typed in self.rows and self.rows[typed].whole:
            return self.rows[typed]
        if typed not in self.rows and one_spelling(word) in self._spelled:
            return self._spelled[one_spelling(word)]
        at = bisect_left(self.words, typed)
        found = self.words[at] if at < len(self.words) else ""
        if not found.startswith(typed):
            near = nearest(word, [*(option.name for option in self.rows.values()), "help"])
            raise UnknownOption(
                f"Error: Unknown flag '{shown or word.lower()}' provided",
                f"-{near}" if near else "",
            )
        return self.rows[found]


_SUBMIT = _Table(OPTIONS, spellings=True)
_DAGMAN = _Table((*OPTIONS, WAIT_FOR_DEBUG))


def submit_option(word: str) -> str:
    """The name of the option of condor_submit_dag that a word means, abbreviated as there; '' if it
    means none."""
    try:
        name = _SUBMIT.find(word).name
    except UnknownOption:
        return ""
    return LETTERS.get(name, name)


class _Found(NamedTuple):
    values: dict[str, Any]
    names: list[str]


def _scan(argv: Sequence[str], table: _Table, daemon: bool) -> _Found:
    """Attribute values and option names of a command line, in the order typed."""
    found = _Found({}, [])
    at = 0
    while at < len(argv):
        word, at = argv[at], at + 1
        if not word.startswith("-"):
            _add(found.values, "dag_files", word)
            continue
        if found.values.get("dag_files") and not daemon:
            raise MisplacedOption("ERROR: no arguments allowed after DAG file name(s)")
        shown = _asks_to_show(word)
        if shown:
            return _Found({"show": shown}, [])
        option = table.find(word)
        at = _store(found, option, word.lower(), argv, at)
    return found


def _asks_to_show(word: str) -> str:
    if "-vers" in word.lower():
        return "version"
    return "help" if "-h" in word.lower() else ""


def _store(found: _Found, option: Option, word: str, argv: Sequence[str], at: int) -> int:
    """Store one option with its argument; the index behind it."""
    _refuse_exclusive(option, found.names)
    values, name = found.values, option.attribute
    found.names.append(option.name)
    if option.takes is Takes.NOTHING:
        if values.get(name, option.value) is not option.value:
            first = next(o.name for o in OPTIONS if o.attribute == name and o != option)
            raise UsageError(
                f"Error: Both -{first} and -{option.name} can't be used at the same time"
            )
        values[name] = option.value
        return at
    if option.takes is Takes.INTEGER:
        values[name] = _integer(option, word, argv, at)
    elif option.takes is Takes.LIST:
        _add(values, name, _text(option, word, argv, at))
    else:
        values[name] = _text(option, word, argv, at)
    return at + 1


def _add(values: dict[str, Any], name: str, item: str) -> None:
    values[name] = (*values.get(name, ()), item)


def _trimmed(option: Option, text: str) -> str:
    """An argument without the characters at its ends that stock takes off."""
    if option.name == "insert_env":
        return text.strip(" \t\n\v\f\r")
    if option.name == "Batch-Name" and len(text) > 1:
        text = text[1:] if text.startswith('"') else text
        return text[:-1] if text.endswith('"') else text
    return text


def _text(option: Option, word: str, argv: Sequence[str], at: int) -> str:
    if at >= len(argv) or (option.takes is not Takes.INTEGER and argv[at].startswith("-")):
        raise UsageError(f"Error: Option -{option.name} ({word}) requires an additional argument")
    text = _trimmed(option, argv[at])
    if not text and option.name != "Dag":
        raise UsageError(f"Error: {word} (-{option.name}) additional argument was empty")
    return text


def _integer(option: Option, word: str, argv: Sequence[str], at: int) -> int:
    """The leading integer of the next word; stock ignores what follows it (`5x` is 5)."""
    match = re.match(r"\s*([-+]?[0-9]+)", _text(option, word, argv, at))
    number = int(match.group(1)) if match else INT_MAX + 1
    if not INT_MIN <= number <= INT_MAX:
        raise UsageError(
            f"Error: {word} (-{option.name}) additional argument required to be a integer"
        )
    return number


def _refuse_exclusive(option: Option, names: Sequence[str]) -> None:
    for pair in _EXCLUSIVE:
        if option.name in pair:
            other = pair[1] if option.name == pair[0] else pair[0]
            if other in names:
                raise UsageError(
                    f"Error: -{option.name} can not be used with the following flag: -{other}"
                )


def leave_out(dag: Dag, options: DagmanOptions) -> str:
    """Leave out nodes by the choices of the options, else those of CHOOSE lines.

    Returns:
        What to say of that; '' if nothing was chosen.

    Raises:
        UsageError: a name stands for no node, or no node is chosen.
    """
    asked = options.choose_from or options.choose_until or options.choose_only
    if not asked and not dag.features.get(CHOOSES):
        return ""
    choose = part(CHOOSES, "commands")
    by_options = [
        *choose.listed(choose.FROM, options.choose_from),
        *choose.listed(choose.UNTIL, options.choose_until),
        *choose.listed(choose.ONLY, options.choose_only),
    ]
    choices = by_options or ([] if options.choose_all else choose.choices_of(dag))
    left = choose.leave_out(dag, choices)
    return f"{left} nodes are left out: CHOOSE {'; '.join(map(str, choices))}" if choices else ""
