"""A world on paper: files are entries of a dictionary."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.feature_table import part
from condor_pydagman.features.shared_limits.commands import limit_uses_of
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import FileKind, Finding, Findings, Reading
from condor_pydagman.lint.lint import lint

SUBMIT = "executable = /bin/true\noutput = $(Cluster).out\nqueue\n"


class PaperWorld:
    """Files by name; what ends in .sh is a program, what ends in / a directory."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.knobs = {"HOME_OF_ALL"}
        self.no_limit = False
        self.knob_values: Config | None = None

    def read_text(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def read_blocks(self, path: str) -> Iterator[str]:
        return iter((self.read_text(path),))

    def kind(self, path: str) -> FileKind:
        if path + "/" in self.files:
            return FileKind.OTHER
        if path.startswith("/bin/"):
            return FileKind.EXECUTABLE
        if path not in self.files:
            return FileKind.MISSING
        return FileKind.EXECUTABLE if path.endswith(".sh") else FileKind.FILE

    def foreseen(self, feature: str, dag: Dag) -> tuple[Sequence[str], Mapping[str, Any]]:
        """Of files on the disk."""
        config, how = self.knob_values or Config(), BuildOptions()
        found = part(feature, "helper").foresee(dag, config, how, checks_only=True)
        return found.lines, found.fields

    def is_directory(self, path: str) -> bool:
        return path + "/" in self.files

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join("/place", path))

    def is_knob(self, name: str) -> bool:
        return name in self.knobs

    def reading(self, text: str, directory: str, name: str, source: str = "") -> Reading:
        common = text.partition("common=")[2].split()[0] if "common=" in text else None
        warnings = [f"{name} has a typo"] if "typo" in text else []
        return Reading("bad description" if "bad" in text else "", common, warnings)

    def expression_problems(self, texts: list[str]) -> list[str]:
        return ["no expression" if t.count("(") != t.count(")") else "" for t in texts]

    def config(self) -> Config | None:
        return self.knob_values

    def obstacle(self, feature: str, dag: Dag) -> str:
        name = limit_uses_of(dag)[0].limit
        return f"SHARED_LIMIT {name}: no such limit; the limits are " * self.no_limit

    def space_problem(self, request: Allocate) -> str:
        return "it has no size" * (request.host != "nest")

    def unreadable(self, text: str, directory: str, source: str = "") -> str:
        return "line 2, 'nonsense': no statement" if "nonsense" in text else ""

    def unfollowed(self, text: str, directory: str, source: str = "") -> tuple[str, str]:
        name = text.partition("include : ")[2].partition("\n")[0]
        missing = name if name and self.kind(name) is FileKind.MISSING else ""
        return "the command is not run" * ("|" in text), missing


def linted(dag: str, **options: bool) -> Findings:
    """Findings of a DAG beside which all submit files exist that are named *.sub."""
    files = {"t.dag": dag, "a.sub": SUBMIT, "b.sub": SUBMIT, "pre.sh": "", "plain": ""}
    return lint(["t.dag"], PaperWorld(files), BuildOptions(strict=0, **options))


def found(dag: str) -> list[Finding]:
    return linted(dag).kept


def codes(dag: str) -> list[str]:
    return [finding.code for finding in found(dag)]
