"""Our reading of every DAG of tests/corpus, compared with what the stock programs made of it.

The recording is made by tools/record_corpus.py.  Where ours differs on purpose the case stands in
DIFFERENCES (our DAGMan) or CHECKER_DIFFERENCES (our condor_dag_checker), and in docs/compat.md.
How to run one case alone, and to add one: tests/corpora.py.
"""

from __future__ import annotations

import io
import json
import os
import posixpath
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import DONE, NOOP, Dag
from condor_pydagman.vocabulary import NodeKind, ScriptKind
from tests import recordings
from tests.corpora import Case, by_topic, check_each, dag_cases
from tools.record_corpus import FILE

RECORDED: dict[str, dict[str, Any]] = recordings.load(FILE)
CASES = dag_cases()
TOPICS = by_topic(CASES)

# Case: why ours is not as stock's.
_SPELLING = "recursion is found at once, whatever the spelling of the file's name"
_PROVISIONER = "a PROVISIONER in a splice is refused; stock runs it and dies when its job ends"
_DONE = "the option DONE counts in a splice too, as the manual says; stock runs the node"
_NUL = "a line with a NUL is refused as such; for stock the line ends there"
DIFFERENCES: dict[str, str] = {
    "includes/error-recursive-by-another-spelling": _SPELLING,
    "nodes/binary": _NUL,
    "nodes/byte-order-mark": "characters that can't be seen are shown by their numbers",
    "nodes/error-not-utf-8": "bytes that are not UTF-8 are shown by their numbers",
    "nodes/error-data": "the historical DATA is a data placement node",
    "nodes/nul-in-a-name": _NUL,
    "progress/rescue-file-defines-nodes": "a rescue file tells of progress, it can't add nodes",
    "several-dags/error-splice-nodes-twice-not-munged": "stock aborts, ours says what is wrong",
    "splices/error-provisioner-inside-as-child": _PROVISIONER,
    "splices/error-recursive-by-another-spelling": _SPELLING,
    "splices/done-option-in-an-include-inside": _DONE,
    "splices/done-option-inside-does-nothing": _DONE,
    "splices/provisioner-inside": _PROVISIONER,
    "splices/service-inside-is-lost": "a SERVICE in a splice runs; stock forgets it",
}

_JOINS = "join nodes inside splices, and only those, are counted as join nodes"
_NO_DIRECTORY = "-UseDagDir with a DAG file in the working directory works"
CHECKER_DIFFERENCES: dict[str, str] = {
    "nodes/binary": _NUL,
    "nodes/byte-order-mark": DIFFERENCES["nodes/byte-order-mark"],
    "nodes/error-data": DIFFERENCES["nodes/error-data"],
    "nodes/error-not-utf-8": "the JSON is UTF-8 whatever the names are",
    "nodes/nul-in-a-name": _NUL,
    "several-dags/nested-splices-with-joins": _JOINS,
    "splices/error-provisioner-inside-as-child": "stock complains of the splice's name",
    "splices/join-inside": _JOINS,
    "splices/join-inside-is-no-end": _JOINS,
    "usedagdir/in-the-working-directory": _NO_DIRECTORY,
    "usedagdir/includes": _NO_DIRECTORY,
    "usedagdir/node-with-directory": _NO_DIRECTORY,
    "usedagdir/splice-and-include": _NO_DIRECTORY,
}

_FIRST = re.compile(r"ERROR: |Error: |DAG marked|Found name collision")
_NOISE = re.compile(r"ERROR: Node .* not found!")  # stock says more in the line after it
_WARNING = re.compile(r"Warning: |WARNING: |        Setting VAR")
_MISSING = "Provided file path does not exist"
_CRASHED = -11


def options(case: Case) -> BuildOptions:
    """What a case is built with."""
    given = {
        "use_join_nodes": "USE_JOIN_NODES",
        "munge_node_names": "MUNGE_NODE_NAMES",
        "allow_any_node_name_characters": "ALLOW_ANY_NODE_NAME_CHARACTERS",
        "default_append_vars": "DEFAULT_APPEND_VARS",
    }
    knobs = {
        field: case.knobs[f"DAGMAN_{knob}"] == "True"
        for field, knob in given.items()
        if f"DAGMAN_{knob}" in case.knobs
    }
    return BuildOptions(
        **knobs,
        use_dag_dir="-UseDagDir" in case.options,
        priority=int(value_of(case, "-Priority") or 0),
        strict=int(case.knobs.get("DAGMAN_USE_STRICT", 1)),
        cwd="/@",
    )


def value_of(case: Case, option: str) -> str:
    """What follows an option of the case; '' if it has not got it."""
    if option not in case.options:
        return ""
    return case.options[case.options.index(option) + 1]


def reader(case: Case) -> Callable[[str], str]:
    """Reads the case's files as if they stood in a directory called /@."""
    files = {posixpath.normpath(name): text for name, text in case.files.items()}

    def read_text(name: str) -> str:
        path = posixpath.relpath(posixpath.normpath(posixpath.join("/@", name)), "/@")
        if path in files:
            return files[path]
        if any(file.startswith(path + "/") for file in files):
            raise IsADirectoryError(name)
        raise FileNotFoundError(name)

    return read_text


def progress_file(case: Case) -> str:
    """The rescue or save file that a DAGMan would read; '' if none."""
    save = value_of(case, "-load_save")
    if save:
        return f"/@/save_files/{save}"
    chosen = value_of(case, "-RescueFile")
    stem = case.dags[0] + ("_multi" if len(case.dags) > 1 else "") + ".rescue"
    return chosen or max((name for name in case.files if name.startswith(stem)), default="")


def ours(case: Case) -> tuple[Dag | None, list[str], list[str]]:
    """The Dag or None, what our errors say line by line, and the warnings."""
    try:
        dag = build(case.dags, reader(case), options(case))
        file = progress_file(case)
        if file:
            apply_progress(dag, reader(case)(file), file, options(case))
    except DagFileErrors as errors:
        detail = errors.errors[0].detail().replace("/@", "@")
        return None, detail.splitlines(), list(errors.warnings)
    except FileNotFoundError as error:  # the progress file, which the caller reads
        return None, [f"ERROR: Failed to open {error}: {_MISSING}".replace("/@", "@")], []
    return dag, [], list(dag.warnings)


def described(dag: Dag) -> list[dict[str, Any]]:
    """Nodes as the recording has them; SERVICE nodes are not in stock's dump."""
    scripts = {"pre": ScriptKind.PRE, "post": ScriptKind.POST, "hold": ScriptKind.HOLD}
    nodes = []
    for node, name in enumerate(dag.names):
        found: dict[str, Any] = {"name": name, "submit": dag.submits[node]}
        for word, kind in scripts.items():
            script = dag.script(node, kind)
            found.update({word: script.command} if script else {})
        if node in dag.retries and dag.retries[node].limit:
            found["retry"] = str(dag.retries[node].limit)
        found.update({"noop": True} if dag.is_noop(node) else {})
        found.update({"done": True} if dag.flags[node] & DONE else {})
        for word, near in (("parents", dag.parents(node)), ("children", dag.children(node))):
            names = " ".join(dag.names[other] for other in dict.fromkeys(near))
            found.update({word: names.split()} if names else {})
        if dag.kinds[node] != NodeKind.SERVICE:
            nodes.append(found)
    return nodes


def limits(dag: Dag) -> dict[str, list[int]]:
    """Categories as the recording has them: nodes, limit or -1."""
    used = list(dag.categories.values())
    names = sorted({*used, *dag.category_limits})
    return {name: [used.count(name), dag.category_limits.get(name, -1)] for name in names}


def submitted(dag: Dag, name: str) -> dict[str, Any]:
    """What condor_submit would be given for a node, as far as the DAG file says it."""
    node = dag.ids[name]
    directory = dag.directories.get(node, "")
    found: dict[str, Any] = {
        "directory": posixpath.normpath(posixpath.join("/@", directory)).replace("/@", "@"),
        "dag_node_name": name,
        "submit": dag.submits[node],
    }
    if found["submit"] in dag.descriptions:
        found["submit"] = f"{name}-inline.temp"
    if dag.priorities.get(node):
        found["priority"] = str(dag.priorities[node])
    for variable in dag.variables.get(node, ()):
        word = "append" if variable.append else "prepend"
        found.setdefault(word, []).append(f"{variable.key}={variable.value}")
    if dag.kinds[node] == NodeKind.SERVICE:
        found.setdefault("append", []).insert(0, "My.DAGLifetimeJob=true")
    return found


def would_be_submitted(dag: Dag) -> list[str]:
    """Nodes that a DAGMan submits if every submission fails: this is where weak edges show."""
    ended: set[int] = set()
    submitted: set[int] = set()
    while True:
        ready = [
            node for node in range(len(dag)) if node not in ended and _may_run(dag, node, ended)
        ]
        if not ready:
            return [dag.names[node] for node in submitted]
        ended.update(ready)
        submitted.update(node for node in ready if not _succeeds(dag, node))


def _may_run(dag: Dag, node: int, ended: set[int]) -> bool:
    return all(
        parent in ended and (_succeeds(dag, parent) or dag.is_weak(parent, node))
        for parent in dag.parents(node)
    )


def _succeeds(dag: Dag, node: int) -> bool:
    return bool(dag.flags[node] & (DONE | NOOP))


def differences(case: Case, stock: dict[str, Any]) -> list[str]:
    """Every way in which ours is not as stock's, in words."""
    dag, errors, warnings = ours(case)
    said = stock["said"]
    if stock["exit"]:
        if dag is not None:
            return [f"stock refuses it: {said}"]
        return differences_of_errors(errors, stock)
    if dag is None:
        return [f"stock accepts it, ours says {errors}"]
    pairs: list[tuple[str, Any, Any]] = [
        ("warnings", [s for s in said if _WARNING.match(s)], _lines(warnings)),
        ("nodes", stock["nodes"], described(dag)),
        ("categories", meaningful(stock.get("categories", {})), limits(dag)),
        ("services", stock.get("services", []), [dag.names[n] for n in services(dag)]),
    ]
    if "submits" in stock:
        names = [given["dag_node_name"] for given in stock["submits"]]
        pairs.append(("submitted", sorted(names), sorted(would_be_submitted(dag))))
    for given in stock.get("submits", ()):
        if given["dag_node_name"] in dag.ids:
            pairs.append(("submit", given, submitted(dag, given["dag_node_name"])))
    return [f"{what}: stock {a}, ours {b}" for what, a, b in pairs if a != b]


def differences_of_errors(errors: list[str], stock: dict[str, Any]) -> list[str]:
    """What stock says of the first error and ours does not; for a crash, a refusal will do."""
    said = [line for line in stock["said"] if not _NOISE.fullmatch(line)]
    if stock["exit"] == _CRASHED:
        name = stock["said"][-1].split()[2]
        said = [f"ERROR: Unknown node {name} referenced"]
    wanted = [line for line in said if _FIRST.match(line)][:1]
    wanted += [line for line in said if line.startswith("Processing error")]
    return [f"not said: {line!r}, but {errors}" for line in wanted if line not in errors]


def meaningful(categories: dict[str, list[int]]) -> dict[str, list[int]]:
    """Without those that have neither nodes nor a limit: left over from a change of category."""
    return {name: numbers for name, numbers in categories.items() if numbers != [0, -1]}


def services(dag: Dag) -> list[int]:
    return [n for n, kind in enumerate(dag.kinds) if kind == NodeKind.SERVICE]


def _lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("topic", TOPICS)
def test_cases_mean_what_they_mean_to_stock(topic: str) -> None:
    def check(name: str) -> None:
        found = differences(CASES[name], RECORDED[name])
        if name in DIFFERENCES:
            assert found, "does not differ any more: take it out of DIFFERENCES"
        else:
            assert not found, "\n".join(found)

    check_each(TOPICS[topic], check)


def checked(case: Case, *more: str) -> tuple[int, str]:
    """Exit code and output of our checker in the present directory."""
    from condor_pydagman.cli import dag_checker  # the core has none (tests/core)

    output = io.StringIO()
    options = [option for option in case.options if option == "-UseDagDir"]
    with redirect_stdout(output), redirect_stderr(output):
        code = dag_checker.main([*options, *more, *case.dags])
    return code, output.getvalue().replace(os.getcwd(), "@")


@pytest.mark.parametrize("topic", TOPICS)
def test_our_checker_says_what_stock_says(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(name: str) -> None:
        case = CASES[name]
        case.lay_out(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        code, output = checked(case)
        text = [line for line in output.splitlines() if line.strip()]
        found = {"exit": code, **({"text": text} if text else {})}
        found["json"] = json.loads(checked(case, "-json")[1])
        if name in CHECKER_DIFFERENCES:
            assert found != RECORDED[name]["checker"], "does not differ any more"
        else:
            assert found == RECORDED[name]["checker"]

    check_each(TOPICS[topic], check)


def test_every_case_is_recorded() -> None:
    """Run tools/record_corpus.py after adding a case."""
    assert set(CASES) == set(RECORDED)


def test_every_difference_is_of_a_case() -> None:
    assert {*DIFFERENCES, *CHECKER_DIFFERENCES} <= set(RECORDED)
