"""The files that a forge reads: workflows, forms for issues, how to cite this."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import condor_pydagman

ROOT = Path(__file__).resolve().parents[1]
FORGE = ROOT / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": [
        path for path in (FORGE / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"
    ],
    "github-issue-config": [FORGE / "ISSUE_TEMPLATE/config.yml"],
    "dependabot": [FORGE / "dependabot.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def run(tool: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool of the environment, or skip what needs it: not every Python has it."""
    program = Path(sys.executable).with_name(tool)
    if not program.exists():
        pytest.skip(f"pip install '.[test]' has not installed {tool} for this Python")
    return subprocess.run([str(program), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: str(path.stem))
def test_what_a_workflow_runs_is_there(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    for script in re.findall(r"\bsh ([\w./-]+\.sh)", text):
        assert (ROOT / script).is_file(), script
    for module in re.findall(r"/python\"? -m ((?:tests|tools)[\w.]*)", text):
        assert importlib.util.find_spec(module), module
    for folder in re.findall(r"\btests/\w+(?= |$)", text, re.M):
        assert (ROOT / folder).is_dir(), folder


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: str(path.stem))
def test_a_workflow_says_what_could_not_be_checked(workflow: Path) -> None:
    assert "could not be checked" in workflow.read_text(encoding="utf-8").partition("\n")[0]


def test_every_workflow_is_described() -> None:
    described = (FORGE / "workflows/README.md").read_text(encoding="utf-8")
    assert [path.name for path in WORKFLOWS if f"| `{path.name}` |" not in described] == []


def test_nothing_is_published_without_its_tests() -> None:
    text = (FORGE / "workflows/release.yml").read_text(encoding="utf-8")
    (needed,) = re.findall(r"(?m)^  publish:\n    needs: \[(.*)\]$", text)
    jobs = set(re.findall(r"(?m)^  (\w+):\n    (?:name|uses|needs):", text))
    assert set(needed.split(", ")) == jobs - {"publish"}
    assert "\n  tests:\n    uses: ./.github/workflows/tests.yml " in text


def test_every_environment_of_the_forge_is_described() -> None:
    described = (FORGE / "workflows/README.md").read_text(encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    names = re.findall(r"^ +environment:(?: |\n +name: )([\w-]+)$", text, re.M)
    assert sorted(names) == ["github-pages", "index"]
    assert [name for name in names if f"`{name}`" not in described] == []


def test_the_version_to_cite_is_ours() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.M) == [condor_pydagman.__version__]


def test_the_changes_begin_with_our_version() -> None:
    """As the workflow of a release wants it: with the date behind it, once it is released."""
    text = (ROOT / "CHANGES.md").read_text(encoding="utf-8")
    version, when = re.findall(r"^## (\S+) \((.*)\)$", text, re.M)[0]
    assert version == condor_pydagman.__version__
    assert when == "unreleased" or re.fullmatch(r"20\d\d-\d\d-\d\d", when)


def test_the_changes_first_tell_who_upgrades_on_a_page() -> None:
    text = (ROOT / "CHANGES.md").read_text(encoding="utf-8")
    _, notes, _ = text.split("\n### ", 2)
    assert notes.startswith("If you upgrade\n")
    assert len(notes.splitlines()) < 60


@pytest.mark.long
@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(schema: str) -> None:
    files = map(str, SCHEMAS[schema])
    done = run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_zizmor_finds_nothing() -> None:
    """Rights that are too wide, credentials that are kept, text of strangers that is run."""
    done = run("zizmor", "--offline", "--no-progress", str(FORGE))
    assert done.returncode == 0, done.stdout + done.stderr
