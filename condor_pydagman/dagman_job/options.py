"""The command lines of condor_submit_dag and condor_dagman: one option table for both.

condor_submit_dag writes condor_dagman's command line, and either may be called by the other's stock
version, so both must know every option, its abbreviations and where it is handed on.  Source:
manual pages condor_submit_dag(1) and condor_dagman(1), and what the stock programs print.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from condor_pydagman.dagman_job import daemon_core
from condor_pydagman.dagman_job.option_table import (
    LETTERS,
    OPTIONS,
    WAIT_FOR_DEBUG,
    Option,
    Takes,
    dagman_usage,
    submit_usage,
)
from condor_pydagman.dagman_job.unknown_options import UnknownOption, nearest, one_spelling
from condor_pydagman.errors import UsageError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

__all__ = [
    "DagmanOptions",
    "MisplacedOption",
    "OldArguments",
    "Options",
    "SubmitOptions",
    "UnknownOption",
    "arguments",
    "dagman_usage",
    "deep_arguments",
    "merge_maximums",
    "parse_dagman",
    "parse_submit",
    "submit_option",
    "submit_usage",
]

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
    ours = daemon_core.split(argv)
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
    "Force", "update_submit",
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
