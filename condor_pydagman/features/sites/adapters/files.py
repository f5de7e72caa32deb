"""Descriptions of sites in a directory, a file `NAME.ad` each: lines `Attribute = expression`, with
comments that begin with `#`, and lines that go on after a backslash.

A file is checked as a whole, so its author hears of all mistakes at once: FILE:LINE, the line, and
a mark under the first character that is wrong, as far as that is known.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import classad2

from condor_pydagman.adapters.descriptions import BINDINGS
from condor_pydagman.features.common.expression_text import MAX_EXPRESSION, first_mistake
from condor_pydagman.features.sites.adapters.ads import (
    MAX_SITES,
    MAX_VALUE,
    PUBLISHER,
    is_usable,
    limit_of,
    value_of,
)
from condor_pydagman.features.sites.adapters.claims_directory import MAX_NAME
from condor_pydagman.features.sites.environment import left_out, parse_environment
from condor_pydagman.language.hints import nearest
from condor_pydagman.named_tuple import NamedTuple

SUFFIX = ".ad"
PROBE = ".probe"
MAX_BYTES = 1_000_000  # of a file
MAX_PROBLEMS = 20  # of a file
_READ = os.O_RDONLY | os.O_NONBLOCK  # a named pipe is not waited for
_LINE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*(.*?)\s*", re.DOTALL)
_GIVEN_LATER = re.compile(r"\b(TARGET\s*\.|CurMatches\b)", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
# What the monitor sets itself.  Ads of the old recipe, and programs for it, have that in them.
OWN = ("MyType", "CurMatches", "UpdateSequenceNumber", "ClassAdLifetime", PUBLISHER)
_USED = ("Name", "MaxMatches", "Requirements", "Rank", "SiteEnvironment")


class Described(NamedTuple):
    """A site as its file describes it."""

    path: Path  # the file
    name: str  # of the site; '' if the file has none
    attributes: dict[str, str]  # its expressions as text, by attribute
    # what is wrong, each with file and line; a site with any is not published
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # what may be wrong

    def ad(self) -> Any:
        """Its ClassAd; `problems` must be empty."""
        return ad_of(self.attributes)


class _Line(NamedTuple):
    """A line, or several that were joined; `number` of the first."""

    number: int
    text: str


def ad_of(attributes: dict[str, str]) -> Any:
    """The ClassAd of these expressions."""
    ad = classad2.ClassAd()
    for name, text in attributes.items():
        ad[name] = classad2.ExprTree(text)
    return ad


def read_sites(directory: Path) -> list[Described]:
    """All sites of a directory, by file name; of two with the same name the second has a problem.

    Raises:
        OSError: the directory can't be read.
    """
    found: list[Described] = []
    first: dict[str, Path] = {}
    for name in sorted(os.listdir(directory)):
        if not name.endswith(SUFFIX) or name.startswith("."):
            continue
        site = read_site(directory / name)
        other = first.setdefault(site.name.lower(), site.path) if site.name else site.path
        if other != site.path:
            twice = f"{site.path}: Name {site.name!r} is that of {other} as well; give one another"
            site = site._replace(problems=(*site.problems, twice))
        found.append(site)
        if len(found) == MAX_SITES:
            break
    return found


def read_site(path: Path) -> Described:
    """What a file describes."""
    try:
        with open(os.open(path, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Described(path, "", {}, (f"{path}: it is not a regular file",))
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return Described(path, "", {}, (f"{path}: {error.strerror}",))
    if len(data) > MAX_BYTES:
        return Described(path, "", {}, (f"{path}: more than {MAX_BYTES:,} bytes",))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Described(path, "", {}, (f"{path}:{line}: this is not UTF-8",))
    return _checked(path, text)


def probe_of(description: Path) -> Path | None:
    """The probe beside a description; None if there is none."""
    path = description.with_suffix(PROBE)
    return path if path.exists() else None


def with_probe(site: Described) -> Described:
    """The site, with what is wrong with its probe as far as that is known before it runs."""
    probe = probe_of(site.path)
    if probe is None:
        return site
    if not probe.is_file():
        why = "it is not a regular file"
    elif not os.access(probe, os.X_OK):
        why = f"it can't be executed (chmod +x {probe})"
    else:
        return site
    return site._replace(problems=(*site.problems, f"{probe}: {why}"))


def lonely_probes(directory: Path) -> list[str]:
    """What is said of the probes of a directory that no description is beside.

    Raises:
        OSError: the directory can't be read.
    """
    found = [directory / name for name in sorted(os.listdir(directory)) if name.endswith(PROBE)]
    return [
        f"{path}: warning: it is not used, as there is no {path.with_suffix(SUFFIX).name}"
        for path in found
        if not path.name.startswith(".") and not path.with_suffix(SUFFIX).exists()
    ]


def _checked(path: Path, text: str) -> Described:
    found, problems = parse(text, str(path))
    attributes, ignored = without_own(found)
    lines = {name: number for name, (number, _) in attributes.items()}
    plain = {name: expression for name, (_, expression) in attributes.items()}
    unread = {name.lower() for name in _named(text)} - {name.lower() for name in plain}
    for about, why in _mistakes(plain):
        if about not in unread:
            at = next((lines[name] for name in plain if name.lower() == about), 1)
            problems.append(f"{path}:{at}: {why}")
    name = ""
    if not problems:
        name = value_of(ad_of(plain), "Name")
    doubts = [*_doubts(plain), *_of_no_use(path, plain)]
    warnings = [f"{path}:{lines[name]}: {why}" for name, why in doubts]
    warnings += [f"{path}:{found[name][0]}: {note(ignored)}" for name in ignored[:1]]
    return Described(path, name, plain, tuple(problems[:MAX_PROBLEMS]), tuple(warnings))


def _named(text: str) -> Iterator[str]:
    """The attributes that lines are about, whatever else is wrong with them."""
    for line in _lines(text):
        word = _FIRST_WORD.match(line.text)
        if word is not None:
            yield word[1]


def without_own(
    attributes: dict[str, tuple[int, str]],
) -> tuple[dict[str, tuple[int, str]], list[str]]:
    """The attributes that are not the monitor's own, and the names of the others."""
    own = {name.lower() for name in OWN}
    ignored = [name for name in attributes if name.lower() in own]
    return {name: attributes[name] for name in attributes if name not in ignored}, ignored


def note(ignored: Sequence[str]) -> str:
    """What is said of attributes that are the monitor's own."""
    return f"note: the monitor sets {', '.join(ignored)} itself; what is given here is ignored"


def parse(text: str, where: str) -> tuple[dict[str, tuple[int, str]], list[str]]:
    """The attributes of a text, with line number and expression, and what can't be read.

    Args:
        where: the file, for messages.
    """
    found: dict[str, tuple[int, str]] = {}
    problems: list[str] = []
    known: dict[str, int] = {}
    for line in _lines(text):
        parts = _LINE.fullmatch(line.text)
        if parts is None:
            problems.append(_shown(where, line, 0, "expected: Attribute = expression"))
            continue
        name, expression = parts[1], parts[2]
        column = parts.start(2)
        why = _wrong(expression)
        if name.lower() in known:
            first = f"{name} is set in line {known[name.lower()]} already"
            problems.append(_shown(where, line, parts.start(1), first))
        elif why:
            at, reason = why
            problems.append(_shown(where, line, column + at, reason))
        else:
            known[name.lower()] = line.number
            found[name] = line.number, expression
    return found, problems


def _lines(text: str) -> Iterator[_Line]:
    begun: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            first = number
        begun.append(line.rstrip())
        if begun[-1].endswith("\\"):
            begun[-1] = begun[-1][:-1]
            continue
        yield _Line(first, " ".join(begun))
        begun = []
    if begun:
        yield _Line(first, " ".join(begun))


def _wrong(expression: str) -> tuple[int, str] | None:
    """Where an expression is wrong, and why; None if it is not."""
    if not expression:
        return 0, "there is no expression"
    if len(expression) > MAX_EXPRESSION:
        return 0, f"this has more than {MAX_EXPRESSION:,} characters"
    try:
        classad2.ExprTree(expression)
    except (classad2.ClassAdException, *BINDINGS):
        return first_mistake(expression) or (0, "this is not a ClassAd expression")
    return None


def _shown(where: str, line: _Line, column: int, reason: str) -> str:
    if len(line.text) > MAX_EXPRESSION:
        return f"{where}:{line.number}: {reason}"
    return f"{where}:{line.number}: {reason}\n    {line.text}\n    {' ' * column}^"


def _mistakes(attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Attributes whose values can't be used, in lower case, and why."""
    ad = ad_of(attributes)
    name = value_of(ad, "Name")
    if not isinstance(name, str) or not name or not is_usable(name):
        expected = f'a site needs a Name = "..." of at most {MAX_NAME} printable characters'
        yield "name", expected
    if limit_of(ad) is None:
        expected = "a site needs MaxMatches = N, a whole number that is not negative"
        yield "maxmatches", expected
    is_given = any(name.lower() == "siteenvironment" for name in attributes)
    text = value_of(ad, "SiteEnvironment") if is_given else ""
    if not isinstance(text, str):
        yield "siteenvironment", 'SiteEnvironment must be text: "NAME=value;NAME=value"'
    elif text and not parse_environment(text):
        yield "siteenvironment", 'SiteEnvironment must be "NAME=value;NAME=value"'


def _doubts(attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Attributes that may be misspelt, of those that matchmaking uses, and values that may be meant
    otherwise."""
    yield from _doubtful_values(attributes)
    there = {name.lower() for name in attributes}
    for name in attributes:
        near = nearest(name, _USED)
        if near and near.lower() != name.lower() and near.lower() not in there:
            yield name, f"warning: {name}: did you mean {near}?"


def _of_no_use(path: Path, attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Attributes of which groups get no $(MATCH_<attribute>).  What a probe prints may define what
    an expression refers to, as the group's ad may."""
    ad = ad_of(attributes)
    used = {name.lower() for name in _USED}
    has_probe = probe_of(path) is not None
    for name, expression in attributes.items():
        value = ad.eval(name) if name.lower() not in used else ""
        if value is classad2.Value.Undefined and (has_probe or _GIVEN_LATER.search(expression)):
            continue
        if isinstance(value, classad2.Value):
            why = f"its value is {value.name.lower()}"
        elif not isinstance(value, (bool, int, float, str)):
            why = "it is no text, number or truth value"
        elif len(str(value)) > MAX_VALUE:
            why = f"it has more than {MAX_VALUE:,} characters"
        else:
            continue
        yield name, f"warning: submit files can't use $(MATCH_{name}): {why}"


def _doubtful_values(attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, expression in attributes.items():
        if name.lower() == "maxmatches" and expression.strip() != "0":
            if value_of(ad_of(attributes), name) == 0:
                yield name, "warning: MaxMatches is 0: no group is matched to the site"
        elif name.lower() == "siteenvironment":
            text = value_of(ad_of(attributes), name)
            pieces = left_out(text) if isinstance(text, str) else []
            if pieces:
                shown = ", ".join(map(repr, pieces[:3])) + (", ..." if len(pieces) > 3 else "")
                yield name, f"warning: SiteEnvironment: no NAME=value, and left out: {shown}"
