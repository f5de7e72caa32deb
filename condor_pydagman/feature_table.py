"""The features of this program, a folder of `condor_pydagman.features` each, and how all others ask
for what these have.

Nothing of a feature is imported but for a DAG that wants it, and a folder may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from os.path import dirname, isdir, join
from typing import Any

from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import CORE_EVENTS


class Entry(NamedTuple):
    """What other modules need to know of a feature without importing it."""

    name: str  # of its folder
    # attributes of a Dag of which one is not empty if the DAG wants it, beside its `features`
    of_dag: tuple[str, ...] = ()
    # features of which the DAG holds something if it wants this one, beside itself
    with_others: tuple[str, ...] = ()
    # its command words that are applied when all nodes of their file are defined
    uses: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()  # those that are applied before, see `language.keywords`
    # names of journal records that the log of any DAG may have, since a person may ask for the
    # feature while the DAG runs; its folder says what they have
    records: tuple[str, ...] = ()
    more_records: tuple[str, ...] = ()  # names of its others
    of_no_node: tuple[str, ...] = ()  # those of both that are mostly, or always, of the whole DAG
    # of its words, those whose lines in a rescue file are applied before all others, by `restore`
    # of its `commands`
    restored: tuple[str, ...] = ()
    runs: bool = True  # whether it has a part in runs, its module `run`
    # a knob of the administrator's Config: if it is not 0, the feature is loaded after the replay
    # of a log, for any DAG
    after_replay: str = ""
    # the same: if it is not empty, its module `rules` says what the administrator wants of any DAG
    rules: str = ""
    # field of the options of condor_dagman by which a person asks for it in a whole DAG;
    # `of_option` of its `commands` puts it there
    option: str = ""
    parts: tuple[str, ...] = ()  # its modules for people's programs that few features have
    subcommand: str = ""  # of `condor_pydagman`, which its module `cli` adds
    codes: tuple[str, ...] = ()  # of its findings
    events: tuple[str, ...] = ()  # names of its events of the stream
    # of its notices, by the cause of the core behind which these are told, see `follow.notice`
    causes: Mapping[str, tuple[str, ...]] = {}


# In the order in which they have a say; each reason stands in front of what it is about.
_NAMED = (
    Entry("sweep", uses=("SWEEP_PARENT",), defines=("SWEEP",), runs=False),
    Entry("choose", uses=("CHOOSE",), runs=False),
    Entry("notify", uses=("NOTIFY",), runs=False),
    # It counts nodes, so it knows new ones before others have them move.
    Entry(
        "shared_limits",
        uses=("SHARED_LIMIT",),
        records=("LIMITS_APPLIED",),
        of_no_node=("LIMITS_APPLIED",),
        after_replay="all_restart_pre_rate",
        rules="applied_limits",
        parts=("outside", "page"),
        subcommand="limits",
        codes=("DAG421",),
        causes={"node.waiting": ("limit.trouble", "limit.full")},
    ),
    Entry("data", defines=("DATA",), runs=False),
    Entry(
        "timeout",
        uses=("TIMEOUT",),
        more_records=("TIMED_OUT", "LATE"),
        codes=("DAG410",),
        events=("job.late",),
        causes={"job.no_match": ("job.late",)},
    ),
    Entry(
        "brake",
        uses=("BRAKE",),
        more_records=("BRAKED", "BRAKES_OFF"),
        codes=("DAG412",),
        events=("dag.brake",),
    ),
    Entry(
        "enough",
        uses=("ENOUGH", "NOT_NEEDED"),
        more_records=("ENOUGH", "NOT_NEEDED"),
        events=("dag.enough",),
        causes={
            "node.futile": ("enough.lost",),
            "job.running": ("enough.reached", "enough.open", "node.unneeded"),
        },
    ),
    # A person may yet give a RUN_IF to a node of an ENOUGH PARENTS: rescue files are ready for it.
    Entry(
        "run_if",
        of_dag=("decided",),
        uses=("RUN_IF",),
        more_records=("CONDITION",),
        codes=("DAG415",),
        events=("node.decided",),
    ),
    Entry("skipping", uses=("SKIPPED",), with_others=("enough", "run_if")),
    Entry(
        "steering",
        records=("STEERED", "DAG_STEERED"),
        of_no_node=("DAG_STEERED",),
        events=("node.steered", "dag.steered"),
        causes={"job.running": ("dag.steered",)},
    ),
    Entry(
        "bundle",
        uses=("BUNDLE",),
        records=("BUNDLED", "UNBUNDLED", "TASK_FAILED"),
        of_no_node=("BUNDLED", "UNBUNDLED"),
        option="bundle",
        codes=("DAG423", "DAG424", "DAG425", "DAG426"),
        events=(
            *("bundle.made", "bundle.execute", "bundle.evict", "bundle.hold", "bundle.release"),
            "bundle.end",
        ),
    ),
    # A node that does not run needs no site.
    Entry(
        "cache",
        uses=("CACHE",),
        more_records=("CACHED",),
        parts=("cli",),
        codes=("DAG413",),
        events=("node.looked_up",),
    ),
    Entry(
        "sites",
        uses=("SITE_GROUP", "SITE_POLICY", "SITE_MATCHED"),
        more_records=("SITE_MATCHED", "SITE_TAKEN_BACK", "SITE_LEFT", "SITE_CLEANED", "NO_SITE"),
        parts=("page",),
        subcommand="sites",
        codes=("DAG414",),
        events=("group.match", "group.leave", "group.left", "group.cleaned", "group.no_site"),
        causes={
            "node.futile": ("group.siteless",),
            "node.waiting": ("group.no_site", "group.leaving"),
        },
    ),
    # What has run to clean up at a site is not done, and publishes and adds nothing.
    Entry("publish", uses=("PUBLISH", "NODE_RESULT"), more_records=("NODE_RESULT",)),
    Entry(
        "growth",
        uses=("EXTEND", "SCATTER", "GROWN"),
        records=("GROWN",),
        more_records=("GROWTH_FAILED",),
        of_no_node=("GROWN",),
        restored=("GROWN",),
        with_others=("feeder",),
        parts=("adapters.reopened",),
        codes=("DAG417",),
        events=("dag.grow",),
    ),
    Entry(
        "feeder",
        uses=("FEEDER",),
        more_records=("FEEDER_FAILED",),
        of_no_node=("FEEDER_FAILED",),
        parts=("report",),
        events=("dag.feeder",),
        causes={"dag.aborted": ("dag.feeder",)},
    ),
)
_BEFORE = "condor_pydagman.features."
# Those whose folders are there.
FEATURES = tuple(one for one in _NAMED if isdir(join(dirname(__file__), "features", one.name)))
NAMES = {one.name for one in FEATURES}

# Features with a helper (work outside of the engine), and the features that each one serves.  The
# order is that of their errors and forecasts: a node that CACHE takes for done adds nothing; what a
# FEEDER has written is read in the same pass.
HELPERS: dict[str, tuple[str, ...]] = {
    "sites": ("sites",),
    "shared_limits": ("shared_limits",),
    "cache": ("cache",),
    "run_if": ("run_if", "publish"),
    "bundle": ("bundle",),
    "feeder": ("feeder",),
    "growth": ("growth", "feeder"),
}

# That by which people ask something of a running DAG: its module `sockets` has the local socket.
SERVES_CLIENTS = "steering"
# That whose lines have programs told of events: its module `starter` starts what tells them.
NOTIFIES = "notify"
# That whose nodes move data: its module `jobs` makes their jobs.
MOVES_DATA = "data"
# That which leaves nodes out, as options of condor_dagman do as well.
CHOOSES = "choose"

FEATURE_OF = {word: one.name for one in FEATURES for word in one.uses + one.defines}
SUBCOMMANDS = {one.subcommand: f"features.{one.name}.cli" for one in FEATURES if one.subcommand}
OF_CODE = {code: one.name for one in FEATURES for code in one.codes}
OF_EVENT = {event: one.name for one in FEATURES for event in one.events}
DAG_EVENTS = tuple(sorted((*CORE_EVENTS, *OF_EVENT)))
OF_NO_NODE = frozenset(record for entry in FEATURES for record in entry.of_no_node)
OF_RECORD = {record: entry.name for entry in FEATURES for record in entry.records}
RECORDS = frozenset(OF_RECORD).union(*(entry.more_records for entry in FEATURES))
# Command words and journal records of features that are not there, with the names of these.
ABSENT = {
    word: entry.name
    for entry in _NAMED
    if entry.name not in NAMES
    for word in entry.uses + entry.defines + entry.records + entry.more_records
}
# Those that readers know something of, in the order in which people are told of them: with the
# names of the journal records, and of the lines of `.dagman.out`, that the module `shown` takes.
TOLD: dict[str, tuple[str, ...]] = {
    "sites": (
        *("SITE_MATCHED", "SITE_TAKEN_BACK", "SITE_LEFT", "SITE_CLEANED", "NO_SITE"),
        "NO_SITE_YET",
    ),
    "shared_limits": (),
    "timeout": ("LATE",),
    "brake": ("BRAKED", "BRAKES_OFF"),
    "growth": ("GROWN", "GROWTH_FAILED"),
    "feeder": ("GROWN", "FEEDER_FAILED"),
    "enough": ("ENOUGH",),
    "run_if": ("CONDITION",),
    "publish": ("NODE_RESULT",),
    "cache": ("CACHED",),
    "bundle": ("BUNDLED", "UNBUNDLED", "TASK_FAILED"),
    "steering": ("STEERED", "DAG_STEERED"),
}
_absent: set[str] = set()  # modules that features have not got, as far as somebody has asked
_guards: list[Callable[[str], None]] = []


def part(name: str, module: str) -> Any:
    """A module of a feature's folder, or of "common"; None if it has none of that name.

    Raises:
        FileError: of the guard, see `set_guard`; or it can't be loaded, in a program with a guard.
    """
    from importlib import import_module

    full = f"{_BEFORE}{name}.{module}"
    if full in _absent:
        return None
    for guard in _guards:
        guard(full)
    try:
        return import_module(full)
    except (ImportError, SyntaxError, OSError) as error:
        missing = f"{error.name}." if isinstance(error, ModuleNotFoundError) else " "
        if f"{full}.".startswith(missing) and (name not in NAMES or missing != f"{_BEFORE}{name}."):
            _absent.add(full)
            return None
        if not _guards:  # it is there, and can't be loaded
            raise
        raise FileError(f"{full} can't be loaded: {error}; is it being installed?") from error


def set_guard(guard: Callable[[str], None]) -> None:
    """From now on `guard` is told the full name of each module of a feature before that is
    imported, and raises FileError if it must not be."""
    _guards[:] = [guard]


def load_all() -> None:
    """Import now what any DAG may need of any feature while it runs."""
    for entry in FEATURES:
        helper = entry.name in HELPERS
        for module in ("commands", *["run"] * entry.runs, *["helper"] * helper):
            part(entry.name, module)


@cache
def traced(record: str) -> tuple[Any, ...]:
    """The modules `shown` that take the journal records, or the lines, of that name."""
    return tuple(part(name, "shown") for name, records in TOLD.items() if record in records)


def used_in(dag: Any, run: Any) -> Collection[str]:
    """The names of the features that readers ask about a DAG: those that it has, or of which its
    logs tell; all of them if the DAG is not at hand.

    Args:
        dag: a `graph.model.Dag`, or None.
        run: its `follow.run_model.Run`.
    """
    return TOLD if dag is None else {*dag.features, *run.of}


def told(module: str, name: str, among: Collection[str] = TOLD.keys()) -> list[Any]:
    """The functions, or tables, of that name in a module of these features, in the order of
    `TOLD`."""
    return [
        found
        for feature in TOLD
        if feature in among and (found := own(feature, module, name)) is not None
    ]


@cache
def own(feature: str, module: str, name: str) -> Any:
    """The function, or table, of that name in a module of a feature; None if it has none, but for
    what the module imports."""
    found = getattr(part(feature, module), name, None)
    home = getattr(found, "__module__", "")
    return found if home in ("", f"{_BEFORE}{feature}.{module}") else None


@cache
def offered(module: str, name: str) -> tuple[Any, ...]:
    """What modules of that name have under a name, in the order of `FEATURES`."""
    modules = [part(one.name, module) for one in FEATURES if module in one.parts]
    return tuple(getattr(one, name) for one in modules if hasattr(one, name))


def home(kind: type) -> str:
    """The name of the feature in whose folder a class is defined; '' if it is in none."""
    return _home(kind.__module__)


@cache
def _home(module: str) -> str:
    return module[len(_BEFORE) :].partition(".")[0] if module.startswith(_BEFORE) else ""


def wanted_by(dag: Any) -> Iterator[str]:
    """The names of the features that a run of a `graph.model.Dag` wants, in their order."""
    for entry in FEATURES:
        held = any(map(dag.features.get, (entry.name, *entry.with_others)))
        if entry.runs and (held or any(getattr(dag, name) for name in entry.of_dag)):
            yield entry.name


def helpers_of(dag: Any) -> list[str]:
    """The names of the features whose helpers a run of a `graph.model.Dag` asks."""
    held = dag.features
    return [
        name
        for name, users in HELPERS.items()
        if any(user in held and held[user].needs_helper() for user in users)
    ]


class Given(Mapping[str, Any]):
    """What the features of a run begin with, each made when it is first asked for.

    It is what `given(dag, paths)` of the module `helper` of a feature makes, by the feature's name;
    what nobody has asked for is not counted.
    """

    def __init__(self, dag: Any, paths: DagPaths) -> None:
        self._of = dag, paths
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            make = getattr(part(name, "helper"), "given", None)
            if make is None:
                raise KeyError(name)
            self._made[name] = make(*self._of)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def asked_by(options: Any) -> Iterator[Any]:
    """The modules `commands` of the features that the options of condor_dagman ask for."""
    for entry in FEATURES:
        if entry.option and getattr(options, entry.option):
            yield part(entry.name, "commands")


def rules_of(admin: Any) -> Iterator[Any]:
    """The modules `rules` of the features of which the administrator wants something in any DAG.

    Args:
        admin: the administrator's Config.
    """
    return (part(one.name, "rules") for one in FEATURES if one.rules and getattr(admin, one.rules))


def wanted_after_replay(admin: Any) -> Iterator[str]:
    """The names of the features that are wanted when an old log has been read.

    Args:
        admin: the administrator's Config.
    """
    return (one.name for one in FEATURES if one.after_replay and getattr(admin, one.after_replay))
