"""Which DAG is meant, and where its files are: by the name of its DAG file, or by DAGMan's job.

The command line of DAGMan, in the `.condor.sub` or in the job's ad, tells the submit directory, the
DAG files, and where `.dagman.out` is; the head of `.dagman.out` tells where the nodes log is.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.adapters.files import living_holder, open_ordinary, rescue_numbers
from condor_pydagman.adapters.followed_files import UNKNOWN
from condor_pydagman.dagman_job.condor_sub import old_arguments, parse_environment
from condor_pydagman.dagman_job.options import DagmanOptions, parse_dagman
from condor_pydagman.errors import FileError, PoolError, UsageError
from condor_pydagman.follow.run_model import LIVE, OVER, DagState, counts_in, newer_counts
from condor_pydagman.language.quoted_words import parse_quoted
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.file_facts import changed_at, shown
from condor_pydagman.monitor.found_state import (
    SHORT_TAIL_BYTES,
    is_anothers,
    state_of_ad,
    state_of_files,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.printable import printable
from condor_pydagman.records.dagman_out import nodes_log
from condor_pydagman.records.rescue import newest

MAX_NAMED = 5  # DAGs in a message
HEAD_BYTES = 1 << 16  # of `.dagman.out`, before the first node
_DERIVED = re.compile(
    r"\.(?:dagman\.(?:out|log)|condor\.sub|nodes\.log|lib\.(?:out|err)|lock|metrics|halt"
    r"|(?:_multi)?rescue\d{3})$"
)
_OUT_VARIABLE = "_CONDOR_DAGMAN_LOG"
_REMOVED = 3  # JobStatus


class FoundDag(NamedTuple):
    """A DAG and its files."""

    # of its first DAG file, as the user has written it, or relative to here if it is below
    name: str
    directory: str  # in which condor_submit_dag was run; absolute
    options: DagmanOptions  # DAGMan's command line; file names in it are relative to `directory`
    paths: DagPaths  # names of the DAG's files, absolute
    out: str  # path of `.dagman.out`
    nodes_log: str  # path of the nodes log
    cluster: int = 0  # of DAGMan's job, 0 if it is not known
    # of DAGMan's job in the queue, or of the history if only its number was given; {} if the schedd
    # was not asked, or has none
    ad: Mapping[str, Any] = {}
    state: DagState = DagState.UNKNOWN  # what the DAG is about
    exit_code: int | None = None  # condor_dagman's, None while it runs or if it is not known
    # when its job was submitted, seconds since the epoch, if it is in the queue: what the files say
    # of runs before is not about this one; 0.0 if that is not known
    submitted: float = 0.0
    schedd_problem: str = ""  # why the schedd could not be asked, '' otherwise

    @property
    def files(self) -> tuple[str, ...]:
        """The DAG files, as DAGMan was given them."""
        return self.options.dag_files

    @property
    def left_queue_at(self) -> float:
        """When DAGMan's job left the queue, seconds since the epoch; 0.0 if it has not, or nobody
        knows.  One that was removed has no CompletionDate."""
        left = self.ad.get("CompletionDate")
        if not left and self.ad.get("JobStatus") == _REMOVED:
            left = self.ad.get("EnteredCurrentStatus")
        return float(left or 0)

    @property
    def ended(self) -> bool:
        """Whether its run has ended, and nothing will go on with it by itself."""
        return self.state in OVER

    @property
    def is_live(self) -> bool:
        """Whether DAGMan works on it."""
        return self.state in LIVE

    @property
    def next_rescue(self) -> str:
        """The rescue file that the next run begins with, '' if there is none."""
        number = newest(rescue_numbers(self.paths))
        return self.paths.rescue(number) if number else ""

    @property
    def run_by(self) -> tuple[int, int]:
        """User and group who run it: the owner of `.dagman.out`, or before of the DAG file."""
        for path in (self.out, self.paths.primary):
            with contextlib.suppress(OSError):
                found = os.lstat(path)
                return found.st_uid, found.st_gid
        return UNKNOWN

    @property
    def has_files(self) -> bool:
        """Whether its logs can be read here."""
        return os.access(self.out, os.R_OK) or os.access(self.nodes_log, os.R_OK)


def find_dag(what: str, *, ask: bool = True) -> FoundDag:
    """The DAG of a DAG file, or of a DAGMan job by its number.

    Args:
        what: path of the first DAG file, or of a file that DAGMan has made beside it; or the number
            of DAGMan's job, `7` or `7.0`.
        ask: whether the schedd is asked for the job of a DAG that has not ended.  Whether a DAG
            that was submitted again waits for its start, only the schedd knows: it is asked in any
            case.

    Raises:
        FileError: there is no such file, and nothing of a run of it.
        PoolError: the schedd has no such job, or does not answer.
        UsageError: it is a directory.
    """
    number = re.fullmatch(r"(\d{1,9})(?:\.0)?", what)
    if number is not None and not os.path.exists(what):
        return found_by_ad(schedd_queries.dagman_ad(int(number[1])))
    primary = _DERIVED.sub("", what)
    if os.path.isdir(what):
        raise UsageError(f"{what} is a directory; {_said_of_directory(what)}")
    if not os.path.exists(primary) and not os.path.exists(primary + ".dagman.out"):
        known = _said_of_directory(os.path.dirname(what) or ".")
        raise FileError(f"there is no DAG file {what}; {known}")
    found = _found_by_file(primary)
    if found.state is DagState.NOT_STARTED:
        found = _first_of_several(primary) or found
    if found.ended or found.state in (DagState.NOT_STARTED, DagState.INTERRUPTED):
        again = _resubmitted(found, ask=ask)
        if again.ad or found.state is not DagState.INTERRUPTED:
            return again
    return _asked(found) if ask else found


def _first_of_several(file: str) -> FoundDag | None:
    """The DAG that condor_submit_dag made of this file and others, of which it is not the first."""
    directory = os.path.dirname(file)
    for name in started_in(directory or "."):
        options = _options(_text_of_head(name + ".condor.sub"))
        others = options.dag_files[1:] if options is not None else ()
        if any(os.path.realpath(os.path.join(directory, other)) == os.path.realpath(file)
               for other in others):  # fmt: skip
            return _found_by_file(name)
    return None


def find_here(*, ask: bool = True) -> FoundDag:
    """The only DAG of this directory that was ever started.

    Raises:
        UsageError: there is none, or more than one.
    """
    names = started_in(".")
    if len(names) != 1:
        raise UsageError(f"name a DAG: {_said_of_directory('.')}")
    return find_dag(names[0], ask=ask)


def started_in(directory: str) -> list[str]:
    """The DAG files of a directory that were ever started or submitted, that of the newest run
    first; without those that only ran as sub-DAGs, if there are others."""
    times: dict[str, float] = {}
    for suffix in (".dagman.out", ".condor.sub"):
        for path in glob.glob(os.path.join(glob.escape(directory), f"*{suffix}")):
            name = os.path.normpath(path[: -len(suffix)])
            times[name] = max(times.get(name, 0.0), changed_at(path))
    names = sorted(times, key=lambda name: -times[name])
    return [name for name in names if not _is_nested(name)] or names


def _is_nested(name: str) -> bool:
    """Whether the DAGMan job of a DAG is a node of another: its own log says so."""
    first, _, _ = _text_of_head(f"{name}.dagman.log").partition("\n...\n")
    return "DAGNodeName" in first


def counts_of(found: FoundDag) -> Mapping[str, int]:
    """How many nodes are in each state, as DAGMan has counted last; {} if nothing tells.

    The files are read of a stock DAGMan that runs, which writes into its ad every five minutes.
    Ours does so at once; and when it has ended, the files may be of a later run.

    Raises:
        FileError: `.dagman.out` is there, and can't be read.
    """
    is_ours = any(name.startswith("PYDAGMAN_") for name in found.ad)
    if is_ours or not found.is_live:
        return counts_in(found.ad)
    files = state_of_files(found.paths, SHORT_TAIL_BYTES)
    return newer_counts(found.ad, files.counts, files.updated)[0]


def found_by_ad(ad: Mapping[str, Any]) -> FoundDag:
    """The DAG of a DAGMan job's ad.

    Raises:
        UsageError: its command line can't be read.
    """
    environment = _environment(str(ad.get("Environment") or ad.get("Env") or ""))
    found = _found(str(ad.get("Iwd", "")), options_of_ad(ad), environment)
    state, code = state_of_ad(ad)
    found = found._replace(cluster=int(ad["ClusterId"]), ad=ad, state=state, exit_code=code)
    queued = code is None and ad.get("QDate")
    found = found._replace(submitted=float(ad["QDate"])) if queued else found
    return found._replace(state=_state_by_files(found))


def _state_by_files(found: FoundDag) -> DagState:
    """What DAGMan does while it lives: its job's ad says that late, and of one that was removed and
    runs its FINAL node, or that was halted by file, it says something else."""
    holder = living_holder(found.paths.lock)
    if (
        holder is None
        or holder.cluster != found.cluster
        or found.state in (DagState.HELD, DagState.IDLE)
    ):
        return found.state
    try:
        return state_of_files(found.paths, SHORT_TAIL_BYTES).state
    except FileError:
        return found.state


def options_of_ad(ad: Mapping[str, Any]) -> DagmanOptions:
    """DAGMan's command line in its job's ad.

    Raises:
        UsageError, ValueError: it can't be read.
    """
    words = parse_quoted(f'"{ad["Arguments"]}"') if ad.get("Arguments") else []
    return parse_dagman(words or str(ad.get("Args", "")).split())


def _asked(found: FoundDag) -> FoundDag:
    """With what the schedd says of its job."""
    if not found.cluster:
        return found
    try:
        ad = schedd_queries.queued_dagman_ad(found.cluster)
    except PoolError as error:
        return found._replace(schedd_problem=str(error))
    if not ad or str(ad.get("Iwd", "")) != os.path.realpath(found.directory):
        return found  # it may be a job of another schedd, with the same number
    found = found._replace(ad=ad)
    state, _ = state_of_ad(ad)
    if state in (DagState.HELD, DagState.IDLE) or is_anothers(found.paths.lock):
        return found._replace(state=state)
    return found


def _resubmitted(found: FoundDag, *, ask: bool) -> FoundDag:
    """As its job in the queue says, if there is one that has not started yet; unless `ask`, it is
    no problem that the schedd does not answer."""
    try:
        ad = waiting_job(found.paths, found.out)
    except PoolError as error:
        return found._replace(schedd_problem=str(error)) if ask else found
    return found_by_ad(ad)._replace(name=found.name) if ad else found


def waiting_job(paths: DagPaths, out: str = "") -> Mapping[str, Any]:
    """The ad of DAGMan's job that was submitted since the last run ended; {} if there is none.

    The schedd is asked only if condor_submit_dag has prepared another run since.

    Args:
        paths: names of the DAG's files, absolute or relative to here.
        out: path of `.dagman.out`, if it is not the usual one.

    Raises:
        PoolError: the schedd does not answer.
    """
    if changed_at(paths.condor_sub) <= changed_at(out or paths.dagman_out):
        return {}
    return queued_job(paths)


def queued_job(paths: DagPaths) -> Mapping[str, Any]:
    """The ad of a DAGMan job in the queue for a DAG; {} if there is none.

    Raises:
        PoolError: the schedd does not answer.
    """
    primary = os.path.realpath(paths.primary)
    return next((ad for ad in schedd_queries.my_dagman_ads() if _is_of(ad, primary)), {})


def _is_of(ad: Mapping[str, Any], primary: str) -> bool:
    """Whether a DAGMan job is that of a DAG file, a path without links."""
    try:
        given = options_of_ad(ad).paths().primary
    except (UsageError, ValueError):
        return False
    return os.path.realpath(os.path.join(str(ad.get("Iwd", "")), given)) == primary


def _found_by_file(primary: str) -> FoundDag:
    text = _text_of_head(primary + ".condor.sub")
    options = _options(text)
    directory = os.path.dirname(os.path.abspath(primary))
    given = options.dag_files[0] if options is not None else ""
    submitted_in = _submit_directory(os.path.abspath(primary), given)
    if options is None or not submitted_in:
        options = DagmanOptions(dag_files=(os.path.basename(primary),))
    else:
        directory = submitted_in
    environment = _environment(_value(text, "environment"))
    found = _found(directory, options, environment)._replace(name=primary)
    files = state_of_files(found.paths)
    code = files.run.exit_code if files.state in OVER else None
    return found._replace(cluster=files.cluster, state=files.state, exit_code=code)


def _submit_directory(primary: str, given: str) -> str:
    """Where a DAG was submitted as `given`; '' if that names another one: it was copied or moved,
    or somebody else has written it."""
    if os.path.isabs(given):
        same = os.path.realpath(given) == os.path.realpath(primary)
        return os.path.dirname(primary) if same else ""
    below = "/" + os.path.normpath(given)
    return (primary[: -len(below)] or "/") if given and primary.endswith(below) else ""


def _found(directory: str, options: DagmanOptions, environment: Mapping[str, str]) -> FoundDag:
    given = options.paths()
    paths = given._replace(primary=os.path.join(directory, given.primary))
    if given.outfile_dir:
        paths = paths._replace(outfile_dir=os.path.join(directory, given.outfile_dir))
    out = os.path.join(directory, environment.get(_OUT_VARIABLE) or paths.dagman_out)
    if not os.path.exists(out):
        out = paths.dagman_out
    return FoundDag(
        shown(paths.primary), directory, options, paths, out, _nodes_log(out, paths, directory)
    )


def _nodes_log(out: str, paths: DagPaths, directory: str) -> str:
    """The nodes log that DAGMan has told of; the usual one if that is not here (any more), or is
    that of the DAG from which this one was copied."""
    told, usual = nodes_log(_head(out)), paths.nodes_log(directory)
    if not told or not os.path.exists(told):
        return usual
    copied = os.path.basename(told) == os.path.basename(usual) and os.path.exists(usual)
    return usual if copied else told


def _options(text: str) -> DagmanOptions | None:
    """DAGMan's command line in a `.condor.sub`; None if it has none that can be read."""
    arguments = _value(text, "arguments")
    try:
        words = parse_quoted(arguments) if arguments.startswith('"') else old_arguments(arguments)
        return parse_dagman(words)
    except (UsageError, ValueError):
        return None


def _value(text: str, name: str) -> str:
    found = re.search(rf"(?im)^\s*{name}\s*=\s*(.*)$", text)
    return found[1].strip() if found is not None else ""


def _environment(text: str) -> dict[str, str]:
    try:
        return parse_environment(text if text.startswith('"') or ";" in text else f'"{text}"')
    except ValueError:
        return {}


def _head(path: str) -> bytes:
    try:
        with open_ordinary(path) as file:
            return file.read(HEAD_BYTES)
    except (FileError, OSError):
        return b""


def _text_of_head(path: str) -> str:
    return _head(path).decode("utf-8", "surrogateescape")


def _said_of_directory(directory: str) -> str:
    place = "in this directory" if directory == "." else f"in {directory}"
    names = started_in(directory)
    if names:
        return f"DAGs started {place}: {_some(names)}"
    there = sorted(
        os.path.normpath(path) for path in glob.glob(os.path.join(glob.escape(directory), "*.dag"))
    )
    never = f"no DAG was started {place}" + (f", which has {_some(there)}" if there else "")
    return f"{never}; `condor_pydagman ls` lists your DAGs"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:MAX_NAMED]))
    return shown + (", ..." if len(names) > MAX_NAMED else "")
