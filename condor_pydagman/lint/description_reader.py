"""What HTCondor's readers say of a submit description, in the words of stock.

The functions without an underscore are called in a confined process (`adapters.foreign_texts`),
which can import nothing more.
"""

from __future__ import annotations

import re
from typing import Any

from condor_pydagman.adapters.classad_values import mistake
from condor_pydagman.adapters.confined_reader import said_by_bindings
from condor_pydagman.adapters.descriptions import EMPTY_ITEM, expanded, parse
from condor_pydagman.adapters.submit_checks import lists, remarks_of
from condor_pydagman.errors import PoolError
from condor_pydagman.features.common.adapters.submit_errors import first_unreadable
from condor_pydagman.language.description import SubmitDescription, statements
from condor_pydagman.lint import value_rules
from condor_pydagman.vocabulary import UNREADABLE

_UNIVERSE_NAMES = """
vanilla local scheduler grid java parallel vm docker container standard mpi globus pvm
5 7 9 10 11 12 13
"""
_UNIVERSES = frozenset(_UNIVERSE_NAMES.split())
_CONDITION = re.compile(r"error: '(.*)' line: ")  # what they print about a wrong `if`


def reading_of(text: str, name: str) -> tuple[str, str | None, list[str], list[str]]:
    """The first fields of `findings.Reading`, of a description that is called `name` in warnings;
    paths are not looked at."""
    try:
        submit = parse(text)
    except PoolError as error:
        found = _CONDITION.search(said_by_bindings())
        reason = found[1] if found else error.reason.replace(UNREADABLE, "")
        return f"Failed to parse to queue line: {reason}", None, [], ["", ""]
    read, paths = SubmitDescription(text), ["", ""]
    problem = _queue_problem(submit) or _ad_problem(submit, read)

    def get(key: str) -> str | None:
        return expanded(submit, key) if key in read.values else ""

    if read.is_plain and not problem:
        wanted = (value_rules.first_of(get, value_rules.DIRECTORIES), get(value_rules.PROXY))
        paths = [path or "" for path in wanted]
        problem = _value_problem(submit, read, get)
    if problem:
        return problem, None, [], paths
    return "", next(lists(submit), None), remarks_of(submit, text, name=name), paths


def mistakes(expressions: list[str]) -> list[str]:
    """Why each of these can't be read; '' for those that can."""
    return [mistake(one) for one in expressions]


def unreadable_line(text: str) -> str:
    """The line that can't be read, and why; '' if there is none, or if that depends on macros or on
    what the description includes."""
    if any(one.word == "include" for one in statements(text)):
        return ""
    found = first_unreadable(text)
    if found is None or "$" in found[1]:
        return ""
    number, line, reason = found
    return f"line {number}, '{line}': {reason}"


def _queue_problem(submit: Any) -> str:
    try:
        submit.itemdata()
    except TypeError:  # there are no items
        pass
    except Exception as error:
        if "Queue count" in str(error):
            return f"Invalid queue args: {submit.getQArgs()}"
        if str(error) != EMPTY_ITEM:
            return f"Failed to load submit step items: {error}"
    return ""


def _value_problem(submit: Any, text: SubmitDescription, get: value_rules.Get) -> str:
    """In the words of stock, as far as these are known."""
    for _, problem in value_rules.value_problems(get):
        return f"Submit:-1:{problem}"
    written = {key.lower().removeprefix("my."): key for key in submit.keys()}  # noqa: SIM118
    for key, value in text.values.items():
        attribute = value_rules.attribute_of(key, value)
        if attribute.islower():
            attribute = written.get(attribute, attribute).rpartition(".")[2]
        if attribute and value and "$" not in value and mistake(value):
            return f"Submit:-1:Parse error in expression: \n\t{attribute} = {value}\n\t"
    return ""


def _ad_problem(submit: Any, text: SubmitDescription) -> str:
    universe = str(submit.get("universe") or submit.get("JobUniverse") or "vanilla").strip()
    if "$" not in universe and universe.lower() not in _UNIVERSES:
        return f"Submit:-1:I don't know about the '{universe}' universe."
    needless = universe.lower() in ("vm", "docker", "container", "grid", "10", "13")
    images = ("docker_image", "container_image")
    if needless or any(submit.get(key) for key in images) or not text.is_plain:
        return ""
    if not any(submit.get(key) for key in ("executable", "cmd")):
        return "Submit:-1:No 'executable' parameter was provided"
    return ""
