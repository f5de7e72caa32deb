"""What DAGMan would begin with, or refuse; and the check of a DAG before it is submitted
(PYDAGMAN_CHECK_DAG, -check_dag, -no_check_dag).

Errors that would end condor_dagman right after its start are reported by condor_submit_dag. A child
reads the DAG as condor_dagman is about to, with its command line, environment and knobs, while
condor_submit_dag looks for the schedd.

Only errors that DAGMan is certain to find stop a submission; of files that nodes need at once and
that are not there, which something may still make, a warning is given; `condor_pydagman run` stops
at all errors that -lint finds.  Where DAGMan may read other files or knobs, and for large DAGs,
which take long, nothing is checked unless the user asks for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.errors import DagFileError, FileError
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from condor_pydagman.adapters.outlog import OutLog
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.dag_input import CannotStart
    from condor_pydagman.daemon.initialize import Settings
    from condor_pydagman.dagman_job.options import DagmanOptions, SubmitOptions
    from condor_pydagman.dagman_job.prepare_job import Prepared
    from condor_pydagman.graph.build import BuildOptions
    from condor_pydagman.graph.model import Dag
    from condor_pydagman.graph.problems import DagFileErrors

    MoreChecks = Callable[[Dag, DagmanOptions, Config], str]

MAX_DAG_FILE_BYTES = 4_000_000  # in all; some 40,000 nodes, which take half a second
MAX_WARNINGS = 5
CHECK_TIMEOUT_S = 2.0  # splices can make many nodes of few bytes

NO_REFUSAL = "\0"  # before warnings
_HINT = """
Nothing has been changed or submitted, because this DAG can't run as it is. Fix it
(condor_dag_checker -lint shows all errors), or submit it unchecked with -no_check_dag
(or PYDAGMAN_CHECK_DAG = False)."""
# Commands and attributes that say where, when or how DAGMan starts; the last one is that of
# docs/administrators.md for a job that the schedd gives to the stock DAGMan.
_ELSEWHERE = re.compile(
    r"\s*(?:my\.|\+)?(?:hold|jobstatus|initial|iwd|job_iwd|remote_|executable|cmd|arg|env|getenv|"
    r"universe|job_?universe|deferral|cron|if\b|el|endif|include|use\b|wantstockdagman)",
    re.IGNORECASE,
)


@contextlib.contextmanager
def check_meanwhile(
    prepared: Prepared, warn: Callable[[str], None], more: MoreChecks | None = None
) -> Iterator[None]:
    """Check the DAG during the `with` block, if that is wanted; wait for the result at its end.

    Args:
        warn: is given what may be wrong, in lines.
        more: says what is wrong with a DAG that DAGMan does not refuse, after NO_REFUSAL if it is
            submitted all the same; there is no limit of time then.

    Raises:
        FileError: DAGMan would refuse the DAG, or `more` does; the message says why.
    """
    if not _is_wanted(prepared):
        yield
        return
    timeout_s = None if more or prepared.options.check_dag else CHECK_TIMEOUT_S
    with _checking(lambda: refusal(prepared, more or _missing), timeout_s) as answer:
        yield
        found = answer()
    if found.startswith(NO_REFUSAL):
        warn(found[len(NO_REFUSAL) :])
    elif found:
        raise FileError(found + _HINT)


def all_errors(options: SubmitOptions, first: DagFileError) -> str:
    """Everything that is wrong with DAG files of which condor_submit_dag has found `first`; that
    alone if no more is found in time."""
    if options.check_dag is False or (
        options.check_dag is None and not _is_small(options.dag_files)
    ):
        return first.detail()
    timeout_s = None if options.check_dag else CHECK_TIMEOUT_S
    with _checking(lambda: _errors(options, first), timeout_s) as answer:
        return answer() or first.detail()


def _is_wanted(prepared: Prepared) -> bool:
    options = prepared.options
    if options.check_dag is not None:
        return options.check_dag
    if not prepared.config.check_dag or options.no_submit or options.remote:
        return False  # -no_submit: the rest of the DAG may be written later
    if any(map(_ELSEWHERE.match, prepared.added)) or not _is_ours(options.dagman):
        return False
    return _is_small(options.dag_files)


def _is_small(dag_files: Sequence[str]) -> bool:
    with contextlib.suppress(OSError):
        return sum(os.stat(file).st_size for file in dag_files) <= MAX_DAG_FILE_BYTES
    return False


def _is_ours(dagman: str) -> bool:
    """Whether it is the condor_dagman of this installation; another may take what ours refuses."""
    from condor_pydagman.dagman_job.prepare_job import own_directories

    for place in own_directories(sys.argv[0]):
        with contextlib.suppress(OSError):
            if os.path.samefile(dagman, os.path.join(place, "condor_dagman")):
                return True
    return False


@contextlib.contextmanager
def _checking(check: Callable[[], str], timeout_s: float | None) -> Iterator[Callable[[], str]]:
    """A child that checks, and a function that waits for its result; ends the child."""
    try:
        child, verdict = _start(check)
    except OSError:  # no memory, too many processes: DAGMan itself reports errors
        yield lambda: ""
        return
    try:
        yield lambda: _read_verdict(verdict, timeout_s)
    finally:
        os.close(verdict)
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # SIGCHLD is ignored
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _start(check: Callable[[], str]) -> tuple[int, int]:
    """Fork a child that checks; returns its id, and where it writes what is wrong.

    Raises:
        OSError: fork or pipe failed.
    """
    verdict, told = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(verdict)
        os.close(told)
        raise
    if child:
        os.close(told)
        return child, verdict
    # An error of the check alone must not stop the submission.
    with contextlib.suppress(BaseException):
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)  # the bindings print there
        os.dup2(null, 2)
        data = check().encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(told, data) :]
    os._exit(0)


def _read_verdict(verdict: int, timeout_s: float | None) -> str:
    """All that the child writes; '' if it does not end within the timeout."""
    limit = None if timeout_s is None else time.monotonic() + timeout_s
    data = b""
    poll = select.poll()
    poll.register(verdict, select.POLLIN)
    while True:
        left = None if limit is None else max(0.0, limit - time.monotonic()) * 1000
        if not poll.poll(left):
            return ""
        piece = os.read(verdict, 1 << 16)
        if not piece:
            return data.decode("utf-8", "surrogateescape")
        data += piece


class Outset(NamedTuple):
    """A DAG as DAGMan would begin with it now."""

    dag: Dag
    rescue: str  # the name of the rescue file whose progress it has, '' if none
    told: list[str]  # what the administrator wants of it
    refusal: CannotStart | None  # why DAGMan would not begin, though the DAG can be read


def look_ahead(settings: Settings, out: OutLog, *, trusted: bool = True) -> Outset:
    """What DAGMan would begin with, or refuse; no file is touched.

    Args:
        trusted: see `adapters.files.DagFiles`.

    Raises:
        CannotStart: the DAG can't be read.
    """
    from condor_pydagman.daemon import dag_input
    from condor_pydagman.daemon.helpers import admitted

    options, config, admin = settings
    paths = options.paths()
    chosen = dag_input.choose_rescue(options, config, paths, out)
    dag = dag_input.load(options, config, chosen, out, trusted=trusted)
    name, told = config.default_node_log, list[str]()
    try:
        if "@(" not in name.replace("@(DAG_DIR)", "").replace("@(DAG_FILE)", ""):  # it is known
            log = dag_input.nodes_log_path(paths, 0, {}, config)
            dag_input.refuse_nodes_log(log, config, out)
        told.extend(admitted(dag, admin))
    except dag_input.CannotStart as error:
        return Outset(dag, chosen.file, told, error)
    return Outset(dag, chosen.file, told, None)


def refusal(prepared: Prepared, more: MoreChecks) -> str:
    """Why DAGMan would refuse the DAG, or what `more` says; '' if it would not, or if that can't be
    known.

    Changes this process's environment and configuration to those of DAGMan.

    Raises:
        PydagmanError: it can't be known.
    """
    from condor_pydagman.adapters.outlog import OutLog
    from condor_pydagman.daemon import dag_input, initialize
    from condor_pydagman.dagman_job.options import parse_dagman
    from condor_pydagman.graph.model import DONE

    began = time.monotonic()
    os.environ.update(prepared.environment)
    options = parse_dagman(prepared.arguments)
    if prepared.options.force:
        if options.do_rescue_from:
            return ""
        options = options._replace(auto_rescue=0)  # they are set aside before DAGMan starts
    out = OutLog(os.devnull)
    settings = initialize.configure(options, out)
    config = settings.config
    how = dag_input.build_options(options, config)
    try:
        found = look_ahead(settings, out)
    except dag_input.CannotStart as error:
        if "Permission denied" in str(error):  # DAGMan may run as another user than this one
            return ""
        # A second reading takes up to twice as long.
        if time.monotonic() - began > CHECK_TIMEOUT_S / 4:
            return str(error)
        errors = _errors_of_all(options.dag_files, how)
        failed = f"\nFailed to parse {options.dag_files[0]}"
        return str(error) if errors is None else errors.detail() + failed
    if found.refusal is not None:
        place, line = _command(found.refusal.words, options.dag_files, how)
        return str(found.refusal).replace("ERROR: ", f"ERROR: {place}{' ' * bool(place)}", 1) + line
    dag = found.dag
    if os.path.exists(options.paths().lock):
        return ""
    # With nodes that are done a DAG may get past a cycle, and ABORT-DAG-ON may end it well before.
    is_sure = not (dag.aborts or any(flags & DONE for flags in dag.flags))
    wrong = cycle_refusal(dag, how) if is_sure else ""
    return wrong or more(dag, options, config)


def _missing(dag: Dag, options: DagmanOptions, config: Config) -> str:
    """A line for each file that is not there, and that a node needs before anything has run; and
    for an ABORT-DAG-ON after which the DAG runs again and again."""
    from condor_pydagman.lint.file_rules import check_files
    from condor_pydagman.lint.findings import Findings, Severity
    from condor_pydagman.lint.lint_world import DiskWorld

    findings = Findings()
    check_files(dag, DiskWorld(), findings)
    found = [one for one in findings.kept if one.severity is Severity.ERROR]
    if dag.aborts:
        from condor_pydagman.lint.graph_rules import check_aborts

        aborts = Findings()
        check_aborts(dag, aborts)
        found += aborts.kept
    lines = [f"Warning: {one.message} ({one.hint})" for one in found[:MAX_WARNINGS]]
    if len(found) > MAX_WARNINGS:
        lines.append(f"Warning: and {len(found) - MAX_WARNINGS} more: condor_dag_checker -lint")
    return NO_REFUSAL + "\n".join(lines) if lines else ""


def cycle_refusal(dag: Dag, how: BuildOptions, *, trusted: bool = True) -> str:
    """Why DAGMan ends when nothing else is left of a DAG with a cycle, and where that is; '' for a
    DAG without one."""
    from condor_pydagman.graph import cycle
    from condor_pydagman.lint.graph_rules import closing_edge

    found = cycle.find_cycle(dag)
    if found is None:
        return ""
    place, line = _command(closing_edge(dag, found), dag.files, how, trusted=trusted)
    return f"ERROR: {place or dag.place(found[0])} {cycle.cycle_refusal(dag, found)}{line}"


def _command(
    words: tuple[str, ...], dag_files: Sequence[str], how: BuildOptions, *, trusted: bool = True
) -> tuple[str, str]:
    """The place of a command, see `lint.place_of`, and its line below a message."""
    from condor_pydagman.adapters.files import DagFiles
    from condor_pydagman.lint.lint import place_of
    from condor_pydagman.lint.lint_world import DiskWorld

    place, text = place_of(words, dag_files, DiskWorld(DagFiles(trusted=trusted).read), how)
    return place, f"\n    {text}" if text else ""


def _errors(options: SubmitOptions, first: DagFileError) -> str:
    """All errors; of the commands that DAGMan passes over, as CONFIG, `first` alone.

    Without the DAG's configuration, which can't be known: what that may allow is none.
    """
    from condor_pydagman.graph.build import BuildOptions

    how = BuildOptions(
        use_dag_dir=options.use_dag_dir,
        allow_any_node_name_characters=True,
        strict=0,
        cwd=os.getcwd(),
    )
    errors = _errors_of_all(options.dag_files, how)
    if errors is None:
        return ""
    known = (first.file, first.line) in {(error.file, error.line) for error in errors.errors}
    return errors.detail() if known else f"{first.detail()}\n{errors.detail()}"


def _errors_of_all(dag_files: Sequence[str], how: BuildOptions) -> DagFileErrors | None:
    """Everything that is wrong with DAG files; DAGMan stops after each of its steps."""
    from condor_pydagman.adapters.files import DagFiles
    from condor_pydagman.graph.problems import DagFileErrors
    from condor_pydagman.lint.partial import build_partial

    _, errors = build_partial(dag_files, DagFiles(trusted=True).read, how)
    return DagFileErrors(errors.kept, lost=errors.lost) if errors.kept else None
