"""Reads the DAG of a run: its DAG files, its rescue file, and the checks that refuse a DAG, or the
place of its nodes log (DAGMAN_DEFAULT_NODE_LOG)."""

from __future__ import annotations

import gc
import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from condor_pydagman.adapters import files, knobs
from condor_pydagman.adapters.files import living_holder
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import DagmanOptions, leave_out
from condor_pydagman.errors import FileError, PydagmanError, UsageError, is_machine_error
from condor_pydagman.feature_table import Given, asked_by
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.cycle import cycle_refusal, find_cycle
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.names import DagPaths, is_in_slash_tmp
from condor_pydagman.records import banner, rescue, run_statistics
from condor_pydagman.vocabulary import EXIT_RESTART, NodeKind


class CannotStart(PydagmanError):
    """The run ends before it began; `code` is the exit code, `str()` is for `.dagman.out`.  `hold`:
    a run that has begun is to be kept, on hold, until a person has corrected a file."""

    words: tuple[str, ...] = ()  # of the command that it is about, see `lint.place_of`

    def __init__(self, message: str, code: int = 1, *, hold: bool = False) -> None:
        super().__init__(message)
        self.code, self.hold = code, hold


def read_dag(
    options: DagmanOptions, config: Config, paths: DagPaths, out: OutLog
) -> tuple[Dag, int]:
    """The DAG with the progress of its rescue file; and that file's number.

    Raises:
        CannotStart: there is something wrong with it, or it is more than can be run yet.
    """
    chosen = choose_rescue(options, config, paths, out)
    _set_newer_aside(chosen, options, paths)
    return load(options, config, chosen, out), chosen.number


def load(
    options: DagmanOptions,
    config: Config,
    chosen: rescue.Selection,
    out: OutLog,
    *,
    trusted: bool = True,
) -> Dag:
    """As `read_dag`, with the rescue file chosen; no file is touched.

    Args:
        trusted: see `adapters.files.DagFiles`.

    Raises:
        CannotStart: there is something wrong with it, or it is more than can be run yet.
    """
    how = build_options(options, config)
    before, began = _peak_memory(), time.monotonic()
    dag = _build(options, how, out, trusted=trusted)
    if config.debug_parse_timing:
        seconds = time.monotonic() - began
        out.say(run_statistics.block(len(options.dag_files), seconds, before, _peak_memory()))
    if chosen.file:
        for line in rescue.usage_lines(chosen, len(options.dag_files)):
            out.say(line)
        _apply_rescue(dag, chosen, how, Given(dag, options.paths()))
    _leave_out(dag, options, out)
    for commands in asked_by(options):
        commands.of_option(dag)
    cycle = find_cycle(dag) if config.startup_cycle_detect else None
    if cycle is not None:
        raise CannotStart(f"ERROR: {cycle_refusal(dag, cycle)}")
    for line in banner.category_lines(dag):
        out.say_test(line, 2)
    out.say(f"Dag contains {len(dag) - len(dag.of_kind(NodeKind.SERVICE))} total nodes")
    return dag


def choose_rescue(
    options: DagmanOptions, config: Config, paths: DagPaths, out: OutLog
) -> rescue.Selection:
    """Which rescue or save file the run begins with.

    Raises:
        CannotStart: the one that was asked for is not there.
    """
    began_with = files.interrupted_run(options.lockfile or paths.lock)
    maximum, save = config.max_rescue_num, options.load_save
    try:
        chosen = rescue.choose(
            files.rescue_numbers(paths),
            paths,
            rescue_file=options.rescue_file,
            load_save=(save, paths.save(save, os.getcwd())) if save else ("", ""),
            rescue_from=options.do_rescue_from,
            automatic=config.auto_rescue
            if options.auto_rescue is None
            else options.auto_rescue != 0,
            # A newer one has been written by the run that is to be recovered now.
            maximum=maximum if began_with is None else min(maximum, began_with),
        )
    except UsageError as error:
        raise CannotStart(f"ERROR: {error}") from None
    for line in rescue.preparation_lines(chosen, paths):
        out.say(line)
    return chosen


def _set_newer_aside(chosen: rescue.Selection, options: DagmanOptions, paths: DagPaths) -> None:
    """Rename rescue files that are newer than the one chosen; but not those of a DAG that another
    DAGMan runs, whose lock will end this one."""
    if not chosen.rename or living_holder(options.lockfile or paths.lock):
        return
    try:
        for number in chosen.rename:
            files.rename_rescue_file(paths.rescue(number))
    except FileError as error:
        raise CannotStart(str(error)) from None


def _peak_memory() -> int:
    """In KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def build_options(options: DagmanOptions, config: Config) -> BuildOptions:
    """How DAG files are read with these knobs and this command line."""
    return BuildOptions(
        use_join_nodes=config.use_join_nodes,
        munge_node_names=config.munge_node_names,
        allow_any_node_name_characters=config.allow_any_node_name_characters,
        default_append_vars=config.default_append_vars,
        use_dag_dir=options.use_dag_dir,
        priority=options.priority or config.default_priority,
        strict=config.use_strict,
        cwd=os.getcwd(),
    )


def _build(options: DagmanOptions, how: BuildOptions, out: OutLog, *, trusted: bool) -> Dag:
    for file in options.dag_files:
        out.say(f"Parsing {file} ...")
    gc.disable()  # nothing that is built here is garbage, and looking for it takes a third longer
    try:
        dag = build(options.dag_files, _reader(trusted=trusted), how)
    except DagFileErrors as errors:
        text = f"{errors.detail()}\nFailed to parse {options.dag_files[0]}"
        raise CannotStart(text, hold=True) from None
    finally:
        gc.freeze()
        gc.enable()
    out.say("Adjusting edges")
    for warning in (*dag.warnings, *dag.remarks):
        out.say(str(warning))
    return dag


def _reader(*, trusted: bool) -> Callable[[str], Iterator[str]]:
    """As `DagFiles.read`, but an error of the machine makes DAGMan start again later."""
    dag_files = files.DagFiles(trusted=trusted)

    def read(path: str) -> Iterator[str]:
        try:
            return dag_files.read(path)
        except OSError as error:
            if is_machine_error(error):
                raise _try_later(path, error) from None
            raise

    return read


def _try_later(path: str, error: OSError) -> CannotStart:
    return CannotStart(
        f"ERROR: Failed to open {path}: {error.strerror}; starting again later", EXIT_RESTART
    )


def _apply_rescue(
    dag: Dag, chosen: rescue.Selection, how: BuildOptions, given: Mapping[str, Any]
) -> None:
    from condor_pydagman.graph.apply_rescue import apply_progress

    path, kind = chosen.file, "save" if chosen.saved else "dag"
    try:
        if chosen.saved and "/" not in chosen.saved:  # the directory, too, is known by name alone
            files.refuse_planted_directory(os.path.dirname(path))
        text = files.read_text(path, own=True)
        apply_progress(dag, text, path, how, given)
    except DagFileErrors as error:
        raise CannotStart(f"{error.detail()}\nFailed to parse {kind} file", hold=True) from None
    except FileNotFoundError:
        reason = "Provided file path does not exist"
    except IsADirectoryError:
        reason = "Provided file path is not a file"
    except OSError as error:
        if is_machine_error(error):
            raise _try_later(path, error) from None
        reason = error.strerror or str(error)
    except FileError as error:
        reason = str(error)
    else:
        return
    raise CannotStart(f"ERROR: Failed to open {path}: {reason}\nFailed to parse {kind} file")


def _leave_out(dag: Dag, options: DagmanOptions, out: OutLog) -> None:
    """CHOOSE: what the command line says goes before what files say."""
    try:
        said = leave_out(dag, options)
    except UsageError as error:
        raise CannotStart(f"ERROR: CHOOSE: {error}") from None
    if said:
        out.say(said)


_FATAL = "ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting"


def nodes_log_path(
    paths: DagPaths, cluster: int, own_ad: Mapping[str, object], config: Config
) -> str:
    """The absolute path of the nodes log; `cluster` is 0 for a DAGMan that is no job."""
    words = {
        "CLUSTER": str(cluster or -1),
        "OWNER": str(own_ad.get("Owner") or ""),
        "NODE_NAME": str(own_ad.get("DAGNodeName") or ""),
    }
    return paths.nodes_log(os.getcwd(), config.default_node_log, words)


def refuse_nodes_log(nodes_log: str, config: Config, out: OutLog) -> None:
    """Refuse a log that could be lost, or was not meant; below a USE_STRICT of 1, say so only.

    Raises:
        CannotStart: the message says what to do.
    """
    if config.avoid_slash_tmp and is_in_slash_tmp(nodes_log):
        _warn(
            f"Warning: default node log file {nodes_log} is in /tmp, which may be cleaned at any"
            " time. Move the DAG elsewhere, or set DAGMAN_AVOID_SLASH_TMP = False",
            config,
            out,
        )
    if "@(" in nodes_log:
        _warn(
            f"Warning: default node log file {nodes_log} contains a '@(' character sequence --"
            " unresolved macro substituion? DAGMAN_DEFAULT_NODE_LOG takes @(DAG_DIR), @(DAG_FILE),"
            " @(CLUSTER), @(OWNER) and @(NODE_NAME)",
            config,
            out,
        )
    if config.log_on_nfs_is_error and _nfs_matters(out) and file_system(nodes_log) == "nfs":
        raise CannotStart(
            f"Error: log file {nodes_log} on NFS. Put it elsewhere with DAGMAN_DEFAULT_NODE_LOG,"
            " or set DAGMAN_LOG_ON_NFS_IS_ERROR = False"
        )


def _warn(text: str, config: Config, out: OutLog) -> None:
    if config.use_strict >= 1:
        raise CannotStart(f"{text}\n{_FATAL}")
    out.say(text)


def _nfs_matters(out: OutLog) -> bool:
    """Stock's rule: only locks make a log on NFS dangerous."""
    if not knobs.truth("ENABLE_USERLOG_LOCKING"):
        why = "ENABLE_USERLOG_LOCKING is false"
    elif knobs.truth("CREATE_LOCKS_ON_LOCAL_DISK"):
        why = "ENABLE_USERLOG_LOCKING and CREATE_LOCKS_ON_LOCAL_DISK are true"
    else:
        return True
    out.say(f"Ignoring value of DAGMAN_LOG_ON_NFS_IS_ERROR because {why}.")
    return False


def file_system(path: str, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that a path is on: `nfs` for all versions of NFS; '' if unknown.

    `mounts` is the kernel's list of what is mounted where.
    """
    real, best, found = os.path.realpath(path), "", ""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = words[1].encode("latin-1", "replace").decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, words[2]
    return "nfs" if found.startswith("nfs") else found
