"""The rules of this code base, as tests: layers, purity, sizes, lint, types, docs in step."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "condor_pydagman"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = sorted(
    path
    for folder in ("condor_pydagman", "tests", "benchmarks", "tools")
    for path in (ROOT / folder).rglob("*.py")
)

# Lowest first: a layer may import itself and what stands before it.  First DAGMan itself, then what
# stands around it: people's programs, of which a running DAGMan needs none.  Of a feature the files
# that have a layer of their own are named here, and the others are "features.run".
DAGMAN = (
    (
        *("vocabulary", "errors", "names", "printable", "words", "compiled", "named_tuple"),
        "timers",
    ),
    ("feature_table", "features"),
    ("config",),
    ("language",),
    ("data_requests",),
    ("graph",),
    ("features.commands",),
    ("engine",),
    ("features.run",),
    ("records",),
    ("adapters", "features.adapters"),
    ("dagman_job",),
    ("daemon", "features.helper", "features.clients"),
)
OUTER = (
    ("lint", "pool", "placement.rules"),
    ("features.lint",),
    ("follow",),
    ("follow.notices",),
    ("picture", "report"),
    ("features.shown",),
    ("placement",),
    ("features.outside",),
    ("monitor",),
    ("explain",),
    ("features.explain",),
    ("web",),
    ("features.page",),
    ("cli",),
    ("features.cli",),
    ("api",),
    ("workflow",),
)
LAYERS = DAGMAN + OUTER
# Files in folders of features that are of another layer than "features.run": those that touch
# files, sockets or processes, and what reading a DAG takes.
OF_FEATURES = {
    **{
        f"features/shared_limits/{name}": "features.adapters"
        for name in ("configured", "directory", "listing", "rules")
    },
    **{
        f"features/common/{name}": "features.commands"
        for name in ("expression_text", "file_macros", "inside", "node_sets", "rows")
    },
    "features/common/shared_description": "features.adapters",
    "features/common/together": "features.clients",
    "features/data/jobs": "features.helper",
    "features/notify/starter": "features.adapters",
    "features/steering/messages": "features.adapters",
    "features/steering/sockets": "features.clients",
    # A program for other machines, which imports nothing else of the package.
    "features/bundle/runner": "features.adapters",
    "features/bundle/runner_tasks": "features.adapters",
}
# The commands of data placement.
OF_PLACEMENT = {f"placement/{name}_command": "cli" for name in ("transfer", "allocations")}
# What is of both: the program condor_dagman, which is DAGMan's, is among the commands.
DAGMANS_COMMAND = "cli/dagman.py"
# Programs around DAGMan that it starts as other processes, by their names.  Those of a version may
# be started by a DAGMan that runs since an earlier one: the names stay.
STARTED = {
    "condor_pydagman.monitor.notifier",  # NOTIFY
    "condor_pydagman.monitor.subscription",  # a subscription to the events of a DAG
    "condor_pydagman.placement.data_node",  # the worker of a DATA node
    "condor_pydagman.placement.dag_allocations",  # what releases those of a removed DAG
}
PURE = (
    *("vocabulary", "errors", "names", "named_tuple", "printable", "words", "timers", "config"),
    *("feature_table", "features", "features.commands", "features.run", "features.lint"),
    *("features.shown", "features.explain"),
    *("language", "data_requests"),
    *("graph", "engine", "records"),
    *("lint", "picture", "placement.rules", "follow", "follow.notices", "report", "explain"),
)

# Modules of pure layers that fetch what the others are given, and why they are beside them.
FETCHERS = {
    "data_requests/site_programs.py": "which modules a site has that are safe to run",
    "explain/explained.py": "the explanation, with what is asked for it",
    "explain/fact_collection.py": "what is to be known for an explanation",
    "explain/last_lines.py": "what failed jobs and scripts have written",
    "explain/jobs.py": "the jobs that are idle or held",
    "lint/description_reader.py": "what HTCondor's readers say of a description",
    "lint/job_counts.py": "how many jobs there will be, from submit descriptions",
    "lint/lint_world.py": "what the checker asks of files and of HTCondor",
    "lint/preflight.py": "the check before a submission, in a child process",
    "picture/graphviz.py": "the program dot",
}

# Lowest first: a module of the engine imports only what stands before it, TYPE_CHECKING included.
ENGINE_ORDER = (
    *("dag_states", "node_states", "node_settings", "inputs", "actions", "throttles", "report"),
    # data structures that know no engine
    *("gated_nodes", "jobs", "nodes", "queues"),
    *("rules", "script_words"),
    "run_records",
    "hooks",
    *("state", "views"),
    *("present_run", "lifecycle"),
    "run_end",
    *("provisioner", "scripts", "submission", "operator", "feature"),
    *("job_events", "journal_events", "event_matching", "run_start", "reconcile"),
    *("dispatch", "engine"),
)

# What a pure module must not import, and what to do instead.
IMPURE = {
    "os": "only os.path's string functions",
    "sys": "give it as an argument",
    "time": "time is an argument",
    "datetime": "time is an argument",
    "random": "the engine is deterministic",
    "socket": "an adapter's work",
    "subprocess": "an adapter's work",
    "threading": "there is one thread",
    "logging": "emit a Say",
    "pathlib": "an adapter's work",
    "htcondor2": "an adapter's work",
    "classad2": "an adapter's work",
}
MAX_LINES = 1000
MAX_FUNCTION_LINES = 60


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


@cache
def tree(path: Path) -> ast.Module:
    """What the file parses to, once for all tests."""
    return parse(path)


@cache
def statements(path: Path) -> list[ast.AST]:
    """All statements of a file, without the expressions in them: most of a tree is these."""
    found: list[ast.AST] = [tree(path)]
    for node in found:
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            below = getattr(node, part, ())
            found += below if isinstance(below, list) else ()
    return found


def layer(parts: tuple[str, ...]) -> int | None:
    """Number of the layer of a module `condor_pydagman.<first>...`; None for the package itself."""
    found = [n for n, words in enumerate(LAYERS) if room(parts) in words]
    return found[0] if found else None


def room(parts: tuple[str, ...]) -> str:
    """What LAYERS and PURE call the place of a module `condor_pydagman.<parts>`."""
    moved = {**OF_FEATURES, **OF_PLACEMENT}.get("/".join(parts[:3]))
    if moved is not None:
        return moved
    if ".".join(parts[:2]) in ("placement.rules", "follow.notices"):
        return ".".join(parts[:2])
    if parts[:1] == ("features",) and len(parts) > 2 and parts[2] != "__init__":
        name = f"features.{parts[2]}"
        return name if any(name in layer for layer in LAYERS) else "features.run"
    return "".join(parts[:1])


@cache
def imports(path: Path) -> list[str]:
    """Every module that a file imports, wherever in the file, under TYPE_CHECKING too."""
    found = []
    for node in statements(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def imports_from_above(path: Path) -> list[str]:
    """What a file imports from layers above its own."""
    own = layer(path.relative_to(PACKAGE).with_suffix("").parts)
    found = []
    for module in imports(path) if own is not None else ():
        parts = module.split(".")
        if parts[0] == "condor_pydagman":
            other = layer(tuple(parts[1:]))
            if other is not None and own is not None and other > own:
                found.append(f"{path.name} imports {module} from above")
    return found


def test_layers_import_downwards_only() -> None:
    assert not [wrong for path in MODULES for wrong in imports_from_above(path)]


def of_dagman(path: Path) -> bool:
    """Whether a module is DAGMan itself; the package's own `__init__` is the Python interface."""
    name = path.relative_to(PACKAGE)
    number = layer(name.with_suffix("").parts)
    return name.as_posix() == DAGMANS_COMMAND or (number is not None and number < len(DAGMAN))


def test_nothing_of_dagman_imports_what_stands_around_it() -> None:
    """Neither at its top nor in a function: move what both need down, or hand it over."""
    dagman = [path for path in MODULES if of_dagman(path)]
    around = [path for path in MODULES if path not in dagman and path.parent != PACKAGE]
    for name, paths in (("DAGMan", dagman), ("around it", around)):
        rooms = [path.relative_to(PACKAGE).with_suffix("").parts[0] for path in paths]
        print(f"{name}: { ({room: rooms.count(room) for room in sorted(set(rooms))}) }")
    outer = {module_name(path) for path in around}
    wrong = {module_name(path): imported_modules(path) & outer for path in dagman}
    assert not {name: modules for name, modules in wrong.items() if modules}


def test_what_stands_around_dagman_is_started_by_names_that_stay() -> None:
    named = re.compile(r"\bcondor_pydagman(?:\.\w+)+")
    found = {
        name
        for path in MODULES
        if of_dagman(path)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in named.findall(node.value)
    }
    places = {name: ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in found}
    programs = {name for name, path in places.items() if path.exists() and not of_dagman(path)}
    assert programs == STARTED
    for name in STARTED:
        assert re.search(r"^def main\(", places[name].read_text("utf-8"), re.M), name


def imported_beside(path: Path) -> set[str]:
    """The modules of a file's own folder that it imports, TYPE_CHECKING included."""
    package = ".".join(path.parent.relative_to(ROOT).parts)
    found = set()
    for node in statements(path):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module[len(package) + 1 :]} if node.module.startswith(package) else set()
    return found


def test_inside_the_engine_imports_run_downwards_only() -> None:
    modules = {path.stem: path for path in (PACKAGE / "engine").glob("*.py")}
    assert set(ENGINE_ORDER) == set(modules) - {"__init__"}, "give the module a place in the order"
    for place, name in enumerate(ENGINE_ORDER):
        above = imported_beside(modules[name]) - set(ENGINE_ORDER[:place])
        assert not above, (
            f"engine/{name}.py imports {sorted(above)} from above: move what both need down, or let"
            " the caller hand it over"
        )


def test_nothing_outside_reads_the_state_of_the_engine() -> None:
    """Ask Engine: report(), node_reports(), has_ended(); tests and the simulator may look, and the
    follower, which shows the state of an engine to people."""
    for path in MODULES:
        if path.parent.name not in ("engine", "follow") and not {"features", "tally.py"} & {
            *path.parts
        }:
            found = re.search(r"\bengine\.run\b|RunState", path.read_text(encoding="utf-8"))
            assert not found, f"{path.name} reads what only the engine may: {found[0]}"


def imported_modules(path: Path) -> set[str]:
    """The modules of the package that a file imports, by their full names."""
    found = set()
    for name in imports(path):
        parts = name.split(".")
        while parts[0] == "condor_pydagman" and parts[1:]:
            place = ROOT.joinpath(*parts)
            if place.with_suffix(".py").exists() or (place / "__init__.py").exists():
                found.add(".".join(parts))
                break
            parts.pop()
    return found


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_no_module_imports_itself_through_others() -> None:
    """Modules that import none of the rest, or that none of it imports, are in no cycle."""
    left = {module_name(path): imported_modules(path) for path in MODULES}
    free = {""}
    while free:
        used = set().union(*left.values())
        free = {name for name, wanted in left.items() if name not in used or not wanted & set(left)}
        left = {name: wanted for name, wanted in left.items() if name not in free}
    assert not sorted(left), "move what both sides need to a module below them"


def impure(path: Path) -> list[str]:
    """What a file of a pure layer must not do, and does."""
    name = path.relative_to(PACKAGE)
    if room(name.with_suffix("").parts) not in PURE or name.as_posix() in FETCHERS:
        return []
    found = []
    for module in imports(path):
        top = module.split(".")[0]
        if top in IMPURE and not module.startswith("os.path"):
            found.append(f"{path.name} imports {module}: {IMPURE[top]}")
    calls = [n.func.id for n in ast.walk(tree(path)) if isinstance(n, ast.Call)
             and isinstance(n.func, ast.Name)]  # fmt: skip
    wrong = {"open", "print", "input", "exec", "eval"} & set(calls)
    return found + [f"{path.name} calls {name}" for name in sorted(wrong)]


def test_pure_layers_touch_nothing() -> None:
    assert not [wrong for path in MODULES for wrong in impure(path)]


def too_long(path: Path) -> list[str]:
    """What of a file is too long: itself, functions."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    found = [f"{path.relative_to(ROOT)} has {lines} lines"] if lines > MAX_LINES else []
    for node in statements(path):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                found.append(f"{path.relative_to(ROOT)}: {node.name} has {length} lines")
    return found


def test_files_and_functions_are_short() -> None:
    assert not [wrong for path in SOURCES for wrong in too_long(path)]


# Ways to start a program; those that a shell would take apart are nobody's.
PROCESS_START = re.compile(
    r"\bsubprocess\b|\bos\.(?:exec\w+|spawn\w+|posix_spawn\w*|startfile)\b|\bmultiprocessing\b"
)
SHELLS = re.compile(
    r"\bos\.(?:system|popen)\b|\bpopen2?\b|\bgetstatusoutput\b|\bgetoutput\b|shell\s*=\s*True"
    r"|\bpty\.spawn\b|\bcreate_subprocess_shell\b"
)
# A file without any of these words starts no program, whatever else is in it.
PROGRAM_WORDS = re.compile(
    r"subprocess|exec|spawn|startfile|multiprocessing|system|popen|get\w*output|shell"
)
# Text that becomes code.
EVALUATORS = {"eval", "exec", "compile", "__import__"}
# By a descriptor without a name, which nobody else can write to.
READS_WHAT_IT_HAS_KEPT = "daemon/sleep.py"
PROCESS_STARTERS = {
    "adapters/detached_process.py": "a process of this package that outlives DAGMan",
    "daemon/waiting.py": "the program that waits while DAGMan sleeps, in its place",
    "features/feeder/adapters/process.py": "the program of a FEEDER, as words",
    "features/bundle/runner.py": "the programs of tasks in a job, as words",
    "picture/graphviz.py": "the program dot, as words, where pygraphviz is not installed",
    "adapters/user_programs.py": "the same two: it starts them",
    "adapters/script_runner.py": "the scripts of a DAG, as words",
    "cli/pool_command.py": "`pool run COMMAND` becomes the command",
    "features/sites/adapters/monitor.py": "the probes of sites, as words",
    "monitor/notifier.py": "the program of a NOTIFY, as words",
    "placement/child_process.py": "modules and plugins of data placement, as words",
    "placement/child_supervisor.py": "the same: it runs them",
    "api/live_view.py": "a process of this package that looks at a run",
    "adapters/foreign_texts.py": "a process of this package that reads what others wrote",
    "web/queue_answers.py": "processes of this package that ask the schedd",
    "placement/placement_ad.py": "a process of this package that calls the bindings",
}


def code_of(path: Path) -> str:
    """The code of a module without its comments and texts."""
    module = parse(path)
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            node.value = ""
    return ast.unparse(module)


def test_no_shell_and_no_command_of_htcondor_is_run() -> None:
    """Submitting, asking and removing go through the bindings; only the pool starts daemons."""
    for path in [*MODULES, *(ROOT / "scripts").iterdir()]:
        if not path.is_file():
            continue
        name = path.relative_to(ROOT).as_posix().partition("/")[2]
        code = code_of(path) if PROGRAM_WORDS.search(path.read_text(encoding="utf-8")) else ""
        found = SHELLS.search(code)
        assert not found, f"{path}: {found} gives text to a shell; start programs with words"
        found = PROCESS_START.search(code)
        allowed = name.startswith("pool/") or name in PROCESS_STARTERS
        assert not found or allowed, (
            f"{path}: {found}; only {list(PROCESS_STARTERS)} start programs"
        )
        calls = {
            node.func.id
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & EVALUATORS, f"{path}: {calls & EVALUATORS} makes text into code"
        for module in ("pickle", "marshal", "shelve", "dill"):
            read = module in imports(path) and name != READS_WHAT_IT_HAS_KEPT
            assert not read, f"{path}: {module} runs what it reads"


@pytest.mark.parametrize(
    "code", ["os.system('x')", "os.popen('x')", "run('x', shell=True)", "subprocess.getoutput('x')"]
)
def test_a_shell_would_be_found(code: str) -> None:
    assert SHELLS.search(code)


SPOKEN = (".py", ".md", ".sh", ".cfg", ".cff", ".yml", ".toml", ".1", ".config")


def test_nothing_names_a_machine_or_a_registry() -> None:
    telltale = re.compile(
        r"(?:^|[\s=:(])/(?:root|home)/\w|pypi\.org|pythonhosted|deb\.debian|npmjs", re.I
    )
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in tracked.stdout.split():
        path = ROOT / name
        if path.suffix in SPOKEN and path.exists():
            text = path.read_text(encoding="utf-8")
            hits = [line for line in text.splitlines() if telltale.search(line)]
            assert not hits or path.name == "test_style.py", (name, hits[:3])


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["lint", "format", "types"],
)
def test_tools_are_content(command: list[str]) -> None:
    if command == ["mypy"] and sys.version_info < (3, 10):
        pytest.skip("the last mypy for Python 3.9 finds less, and errors that are none")
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
