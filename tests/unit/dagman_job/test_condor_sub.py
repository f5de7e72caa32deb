"""The quoting of the arguments and environment of the DAGMan job, and what an old submit file says;
whole submit files are compared in `tests/contract/test_submit_command_lines.py`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagman_job import condor_sub
from condor_pydagman.dagman_job.condor_sub import CondorSub
from condor_pydagman.errors import UsageError
from condor_pydagman.language.quoted_words import parse_quoted
from condor_pydagman.names import DagPaths

WORDS = st.lists(st.text(alphabet="ab '\"\\;=$\t"))
NAMES = st.text(alphabet="AB_", min_size=1)


def sub(**changes: object) -> CondorSub:
    values: dict[str, object] = {
        "paths": DagPaths("t.dag"),
        "dag_files": ["t.dag"],
        "executable": "/opt/bin/condor_dagman",
        "arguments": ["-f", "-l", ".", "-CsdVersion", "$CondorVersion: 1 $"],
        "environment": {"_CONDOR_DAGMAN_LOG": "t.dag.dagman.out", "A": "x y"},
    }
    return CondorSub(**{**values, **changes})  # type: ignore[arg-type]


def value(text: str, key: str) -> str:
    found = [
        line.partition("=")[2] for line in text.splitlines() if line.split("=")[0].strip() == key
    ]
    assert len(found) == 1, text
    return found[0].strip()


def test_a_batch_name_is_text_whatever_is_in_it() -> None:
    text = condor_sub.text(sub(batch_name='a "b"'))
    assert value(text, "My.JobBatchName") == '"a \\"b\\""'


def test_line_break_is_refused_because_it_would_start_another_command() -> None:
    with pytest.raises(UsageError, match="line break"):
        condor_sub.text(sub(batch_name="a\nexecutable = /bin/evil"))


def test_an_empty_argument_is_quoted() -> None:
    assert condor_sub.quote_arguments([""]) == "\"''\""


@given(WORDS)
def test_arguments_come_back_as_they_were(words: list[str]) -> None:
    assert parse_quoted(condor_sub.quote_arguments(words)) == words


@given(st.dictionaries(NAMES, st.text(alphabet="ab '\";=\t")))
def test_environment_comes_back_as_it_was(variables: dict[str, str]) -> None:
    quoted = condor_sub.quote_environment(variables)
    assert condor_sub.parse_environment(quoted) == variables


def test_import_leaves_out_what_stock_leaves_out() -> None:
    current = {"A": "1", "B": "a;b", "C": "a\nb", "D": ""}
    current["CONDOR_SECURITY_SESSION"] = "secret"
    assert condor_sub.importable(current) == {"A": "1", "D": ""}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('# x\nARGUMENTS = "-f -MaxIdle 3"\nqueue\n', ["-f", "-MaxIdle", "3"]),
        ('arguments = "-a"\n arguments = "-b" junk\n', ["-a", "-b"]),
        ('arguments="-a"\nargs = "-b"\n# arguments = "-c"\n', []),
        ("", []),
    ],
)
def test_old_arguments(text: str, words: list[str]) -> None:
    assert condor_sub.old_arguments(text) == words


def test_old_arguments_of_what_we_wrote() -> None:
    assert condor_sub.old_arguments(condor_sub.text(sub())) == list(sub().arguments)


def test_arguments_as_messages_show_them() -> None:
    assert condor_sub.shown_arguments(["a", "b c", "it's", 'd"e', ""]) == "a b' 'c it''''s d\"e ''"


def test_lines_end_where_a_submit_file_ends_them() -> None:
    """Not at every character that Unicode calls a line break."""
    assert condor_sub.old_arguments('x = a\x0carguments = "-a"\narguments = "b\x85c"\r\n') == [
        "b\x85c"
    ]
