"""What a person sets for nodes, read from the options of a request.

They are in the DAG language's own terms, so the parser of DAG files decides what is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from condor_pydagman.engine.node_settings import MAX_BYTES, NodeSettings
from condor_pydagman.language import commands
from condor_pydagman.language.parser import lines_of, parse

MAX_NUMBER = 2**31 - 1
_NO_LINE = 0
_ANY = "NODE"  # a name for lines that are only checked


class SettingError(ValueError):
    """An option of a request that can't be understood; the text says what was expected."""


def read_setting_options(options: Mapping[str, Any]) -> NodeSettings:
    """What is to be set.

    Raises:
        SettingError: that can't be understood, or is nothing.
    """
    if not options:
        raise SettingError(f"say what to set: {', '.join(_READERS)}")
    fields: dict[str, Any] = {}
    for name, value in options.items():
        if name not in _READERS:
            raise SettingError(f"set has no option {name!r}; it takes {', '.join(_READERS)}")
        fields.update(_READERS[name](value))
    return NodeSettings(**fields)


def _number(name: str, least: int, value: Any) -> dict[str, Any]:
    if type(value) is not int or not least <= value <= MAX_NUMBER:
        raise SettingError(f"{name} is a whole number from {least} to {MAX_NUMBER}")
    return {name: value}


def _timeout(value: Any) -> dict[str, Any]:
    expected = 'timeout is as in the TIMEOUT command, "QUEUED 1h RUNNING 30m" for example'
    if not isinstance(value, str) or "\n" in value or len(value) > MAX_BYTES:
        raise SettingError(expected)
    found = parse(f"TIMEOUT {_ANY} {value}\n", "")
    if found.errors or len(found.commands) != 1:
        raise SettingError(f"{expected}, not {value[:100]!r}")
    command: Any = found.commands[0]
    return {"timeout": command.said}


def _category(value: Any) -> dict[str, Any]:
    if not isinstance(value, str) or not value:
        raise SettingError("new_category is the name of a category that the DAG has")
    return {"category": value}


def _vars(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise SettingError("vars is an object of JSON: names and values")
    if len(json.dumps(value)) > MAX_BYTES:  # no record has room for it; to read it takes long
        raise SettingError(f"vars takes more than {MAX_BYTES} bytes: set fewer at once")
    found: dict[str, str] = {}
    for key, text in value.items():
        if not isinstance(text, str):
            raise SettingError(f"the value of {key!r} in vars is a string")
        full = f"My.{key[1:]}" if key.startswith("+") else key
        if not _fits(full, text):
            raise SettingError(
                f"VARS can't have {key[:100]!r} with the value {text[:100]!r}: a name has no blank"
                " and does not begin with queue, a value is one line"
            )
        found[full] = text
    return {"variables": tuple(found.items())}


def _fits(key: str, value: str) -> bool:
    """Whether a DAG file can have it: JSON can have halves of characters, which no file can."""
    try:
        (key + value).encode("utf-8", "surrogateescape")
        lines_of(commands.Vars(_NO_LINE, _ANY, False, ((key, value),)))
    except ValueError:
        return False
    return True


_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "priority": partial(_number, "priority", -MAX_NUMBER),
    "retries": partial(_number, "retries", 0),
    "timeout": _timeout,
    "new_category": _category,
    "vars": _vars,
}
