"""What decides whether a node with a CACHE command is run again: its facts.

A fact is a text under a name.  What people have written is kept as digests, files by size and
modification time or by a checksum (`cache.adapters.file_states`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

Facts = dict[str, str]

# All that the reader of its submit description is given; where that is equal, so are the values.
TEXT = "text"
VALUE = "value "  # before the name of a submit command: what it comes to
PROGRAMS = "programs"  # names of its executables, a line each
WORDS = "words"  # short digests of those of its arguments
AT = "at"  # which of these is the first that is another one, in words
NAMES = "names"  # what COUNTS and IGNORES name
UNREAD = "unread"  # why the text is compared as it is written
INPUT = "input "  # before the name of an input file
SCRIPT = "script "  # before the kind of one
PARENTS = "parents"
_DIGEST_LENGTH = 32
_SHORT = 6  # characters of the digest of a word, which only tells where to look
_MAX_WORDS = 100
_MAX_WORD = 60  # characters
_BEFORE_AT = ": its word "
# So many nodes of which the same is said are told one by one; of more, the first so many are named.
MAX_NAMED = 10
# Further facts in the order in which a change is told, and how; then come files, then parents.
_TOLD = {
    "executable": "its executable has changed",
    **{f"{SCRIPT}{kind}": f"its {kind} script has changed" for kind in ("PRE", "POST", "HOLD")},
    "pre_skip": "its PRE_SKIP has changed",
    "tolerance": "its TOLERANCE has changed",
    "directory": "its directory is another one",
}


class CachedNode(NamedTuple):
    """A node with a CACHE command, as JSON can carry it."""

    name: str
    directory: str
    submit: str  # its submit file, relative to `directory`, or the name of a description
    description: str | None  # the text of an inline description, None if it is in a file
    # key, value, and whether it is appended, of its VARS
    variables: Sequence[tuple[str, str, bool]] = ()
    scripts: Sequence[tuple[str, str]] = ()  # kinds and command lines
    rules: Sequence[str] = ("", "")  # PRE_SKIP and TOLERANCE
    checksum: bool = False
    # files, relative to `directory`
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    # names of a submit description, in lower case, of which the DAG says that they count, or not
    counts: Sequence[str] = ()
    ignores: Sequence[str] = ()


def facts_of(node: CachedNode, parents: str) -> Facts:
    """The facts but for those of files and of the submit description.

    Args:
        parents: what the results of its parents come to.
    """
    scripts = {SCRIPT + kind: digest(command) for kind, command in node.scripts}
    rules = {name: rule for name, rule in zip(("pre_skip", "tolerance"), node.rules) if rule}
    return {**scripts, **rules, "directory": node.directory, PARENTS: parents}


def digest(value: object) -> str:
    """Of a text, or of what JSON can carry."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]


def facts_of_words(words: Sequence[str], old: str) -> Facts:
    """Of the arguments of a job; `old`: digests of those of the last run."""
    if not words:
        return {}
    new = [digest(word)[:_SHORT] for word in words[:_MAX_WORDS]]
    facts, before = {WORDS: " ".join(new)}, old.split()
    if before and before != new:
        pairs = enumerate(zip(before, new))
        at = next((n for n, (one, other) in pairs if one != other), min(len(before), len(new)))
        is_there = f"{at + 1} is {printable(words[at])[:_MAX_WORD]} now" if at < len(new) else ""
        facts[AT] = is_there or f"{at} is the last one now"
    return facts


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names of nodes by why they run.  Words that differ are left out if there are many.

    Args:
        reasons: names, with the reasons.
    """
    named = list(reasons)
    kinds: dict[str, set[str]] = {}
    for _, why in named:
        kinds.setdefault(why.partition(_BEFORE_AT)[0], set()).add(why)
    found: dict[str, list[str]] = {}
    for name, why in named:
        kind = why.partition(_BEFORE_AT)[0]
        found.setdefault(kind if len(kinds[kind]) > MAX_NAMED else why, []).append(name)
    return found


def _in_words(changed: str, old: str, new: str) -> str:
    """How two facts differ: those of files, perhaps, in what is compared of a file."""
    for one, other, how in ((old, new, "off"), (new, old, "on")):
        if "sha256 " in one and " bytes of " in other:
            return f"CHECKSUM was switched {how}"
    return changed


def difference(old: Mapping[str, str], new: Mapping[str, str], parents: str) -> str:
    """What has changed, in words; '' if nothing has.  `parents` tells of those."""
    described = _described(old, new)
    if described:
        return described
    for name, words in _TOLD.items():
        if old.get(name) != new.get(name):
            return _in_words(words, old.get(name, ""), new.get(name, ""))
    names = [name for name in (*new, *old) if name.startswith(INPUT)]
    for name in names:
        file = name[len(INPUT) :]
        if name not in old:
            return f"its input {file} is new"
        if name not in new:
            return f"{file} is no input of it any more"
        if old[name] != new[name]:
            return _in_words(f"its input {file} has changed", old[name], new[name])
    return parents if old.get(PARENTS) != new.get(PARENTS) else ""


def _described(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """What of the submit description has changed, in words."""
    if old.get(TEXT) == new.get(TEXT):
        return ""
    unread = new.get(UNREAD) or old.get(UNREAD)
    if unread:
        return f"its submit description, compared as it is written, has changed ({unread})"
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    names = sorted(name[len(VALUE) :] for name in changed if name.startswith(VALUE))
    if not names:
        return ""
    has = "has" if len(names) == 1 else "have"
    at = new.get(AT) if "arguments" in names else ""
    what = f"{' and '.join(names)} in its submit description {has} changed"
    if old.get(NAMES, new.get(NAMES)) != new.get(NAMES):
        return f"{what}, with other COUNTS or IGNORES"
    return f"{what}{_BEFORE_AT}{at}" if at else what
