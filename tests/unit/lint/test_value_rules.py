"""Values that HTCondor refuses; texts are those of condor_dag_checker -CheckJDL 25.14.1."""

from __future__ import annotations

import pytest

from condor_pydagman.lint.value_rules import (
    arguments_problem,
    environment_problem,
    value_problems,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ""),
        ("a b 'c", ""),
        (r"a \"b", ""),
        ('a "b', 'Found illegal unescaped double-quote: "b'),
        ('"a b"', ""),
        ("\"a \"\"b\"\" 'c d' 'it''s'\"", ""),
        ('"a b', "Unterminated double-quote."),
        ('"a ""b"', ""),
        ('"a ""b', "Unterminated double-quote."),
        ('"a \'b"', "Unbalanced quote starting here: 'b"),
        (
            '"a"b',
            "Unexpected characters following double-quote.  Did you forget to escape the"
            " double-quote by repeating it?  Here is the quote and trailing characters:"
            ' "b',
        ),
    ],
)
def test_arguments(text: str, problem: str) -> None:
    assert arguments_problem(text) == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a=b;c=d;", ""),
        ("a b=c", ""),
        ("\"a='b c' d=e\"", ""),
        ('"a=b ""c=d"', ""),
        ("ab", "ERROR: Missing '=' after environment variable 'ab'."),
        ('"a=b c"', "ERROR: Missing '=' after environment variable 'c'."),
        ('"a=b', "Unterminated double-quote."),
        ('"a=\'b"', "Unbalanced quote starting here: 'b\""[:-1]),
    ],
)
def test_environment(text: str, problem: str) -> None:
    assert environment_problem(text) == problem


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({"executable": "a"}, []),
        ({"cmd": "a"}, []),
        ({"shell": "a"}, []),
        ({}, ["executable"]),
        ({"universe": "docker"}, ["universe"]),
        ({"universe": "docker", "docker_image": "x"}, []),
        ({"universe": "container", "docker_image": "x"}, []),
        ({"universe": "grid"}, []),
        ({"universe": None}, []),
        ({"executable": None, "arguments": None}, []),
        ({"executable": "a", "notification": "Never"}, []),
        ({"executable": "a", "should_transfer_files": "maybe"}, ["should_transfer_files"]),
        ({"executable": "a", "should_transfer_files": "true"}, []),
        ({"executable": "a", "when_to_transfer_output": "later"}, ["when_to_transfer_output"]),
    ],
)
def test_commands(values: dict[str, str | None], keys: list[str]) -> None:
    assert [key for key, _ in value_problems(lambda key: values.get(key, ""))] == keys
