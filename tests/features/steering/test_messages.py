"""Requests of clients: what is understood, and what is said of what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from condor_pydagman.features.common.adapters.request_socket import answer_line
from condor_pydagman.features.steering.messages import (
    MAX_SHOWN_REFUSALS,
    MAX_VALUES,
    RequestError,
    Selector,
    Wanted,
    read_request,
    refusals,
    user_word,
)
from condor_pydagman.features.steering.steer_commands import NodeCommand

C = NodeCommand


def read(**message: Any) -> Wanted:
    return read_request(json.dumps(message).encode())


def test_commands_for_nodes() -> None:
    names = {"names": ["A", "B"]}
    assert read(id=7, command="cancel", nodes=names, options={"retry": True}) == Wanted(
        7, C.CANCEL, Selector("names", ("A", "B")), "retry"
    )
    failed = {"state": "failed"}
    wanted = read(version=1, id="x", command="rerun", nodes=failed, dry=True)
    assert wanted == Wanted("x", C.RERUN, Selector("state", "failed"), "", dry=True)
    wanted = read(command="set", nodes={"pattern": "a*"}, options={"priority": -5})
    assert wanted.options == '{"priority":-5}'


def test_commands_for_the_dag() -> None:
    assert read(command="halt", options={"reason": "tea"}).options == {"reason": "tea"}
    assert read(command="limits", options={"jobs": 3, "idle": 0}).options == {"jobs": 3, "idle": 0}
    assert read(command="priority", options={"value": -3}).options == {"value": -3}
    assert read(command="info").selector is None
    added = read(command="add", options={"file": "/d/more.dag"}, dry=True)
    assert (added.options, added.dry) == ({"file": "/d/more.dag"}, True)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ([], "an object of JSON"),
        ([[]] * MAX_VALUES, "at most some 120000 names"),
        ({"version": "x" * 1000}, "speaks version 1 of the protocol, not 'xxx"),
        ({"id": {}}, "id is a string or a number"),
        ({"command": "add", "options": {"text": "JOB \ud800 a"}}, "of characters of Unicode"),
        ({"id": "x" * 1001}, "id has at most 1000 characters"),
        ({"version": 2, "command": "info"}, "speaks version 1 of the protocol, not 2"),
        ({"command": "explode"}, "no command 'explode'; the commands are cancel, hold"),
        ({"command": "cancel"}, "nodes is an object with one of names, pattern"),
        ({"command": "cancel", "nodes": {"names": [1]}}, "names is a list of strings"),
        ({"command": "cancel", "nodes": {"state": 1}}, "state is a string"),
        ({"command": "cancel", "nodes": {"names": [], "state": ""}}, "with one of"),
        ({"command": "hold", "nodes": {"state": "x"}, "options": {"a": 1}}, "it takes none"),
        ({"command": "cancel", "nodes": {"state": "x"}, "options": {"retry": 1}}, "true or false"),
        ({"command": "cancel", "options": [1]}, "options is an object"),
        ({"command": "set", "nodes": {"state": "x"}}, "say what to set: priority, retries"),
        ({"command": "set", "nodes": {"state": "x"}, "options": {"priority": 2**40}}, "a whole"),
        ({"command": "add"}, "add takes text, or file"),
        ({"command": "add", "options": {"text": 1}}, "text is a string"),
        ({"command": "halt", "nodes": {"names": ["A"]}}, "halt is for the whole DAG"),
        ({"command": "limits", "options": {"jobs": -1}}, "jobs is a whole number from 0"),
        ({"command": "limits", "options": {"cpus": 1}}, "no option 'cpus'; it takes jobs"),
        ({"command": "halt", "options": {"reason": 1}}, "reason is a string"),
        ({"command": "info", "dry": 1}, "dry is true or false"),
        ({"command": "events", "options": {"since": 1}}, "since is a string"),
        ({"command": "events", "options": {"since": "x" * 1001}}, "since is the id of an event"),
        ({"command": "events", "options": {"before": 1}}, "before is true or false"),
        ({"command": "names", "options": {"prefix": 1}}, "prefix is a string"),
        ({"command": "priority"}, "priority takes value, a whole number from -2147483647"),
        ({"command": "priority", "options": {"value": True}}, "value is a whole number"),
    ],
)
def test_what_is_not_understood(message: Any, words: str) -> None:
    with pytest.raises(RequestError) as error:
        read_request(json.dumps(message).encode())
    assert words in error.value.reason


def test_the_answer_to_a_wrong_request_has_its_id() -> None:
    with pytest.raises(RequestError) as error:
        read(id=3, command="explode")
    assert error.value.identity == 3


@given(some.binary(max_size=200))
def test_anything_else_is_refused(line: bytes) -> None:
    try:
        read_request(line)
    except RequestError as error:
        assert error.reason


def test_deep_nesting() -> None:
    with pytest.raises(RequestError):
        read_request(b"[" * 200_000)


def test_answers() -> None:
    line = answer_line(1, {"done": 2, **refusals([("Ä", "it is done")])})
    assert line.endswith(b"\n")
    assert json.loads(line)["refused"] == [{"node": "Ä", "reason": "it is done"}]
    many = refusals([("A", "x")] * (MAX_SHOWN_REFUSALS + 5))
    assert (len(many["refused"]), many["refused_count"]) == (1000, 1005)


def test_who_asks() -> None:
    assert user_word("ann", 1) == "ann"
    assert user_word("a b", 7) == user_word("", 7) == "uid-7"
