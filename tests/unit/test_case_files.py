"""Topic files: how cases are read from them, and that the two corpora can be read by a person."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import case_files
from tests.corpora import DAGS, SUBMIT_FILES, by_topic, check_each, dag_cases

TOPIC = r"""# What it is about.

#=== first
JOB A a.sub
#== d e/s.dag
#== t.dag
JOB \
  B b.sub

#=== empty

#=== ends-in-an-empty-line
JOB A a.sub


#=== odd escaped
\xef\xbb\xbfJOB A\xff\x00 a.sub \\\r
JOB é b\x20
#== other
C\
"""
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]|[ \t]$", re.M)


def read(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "topic.dags"
    path.write_bytes(text.encode())
    return case_files.read(path)


def test_cases_of_a_file(tmp_path: Path) -> None:
    assert read(tmp_path, TOPIC) == {
        "first": "JOB A a.sub\n#== d e/s.dag\n#== t.dag\nJOB \\\n  B b.sub\n",
        "empty": "",
        "ends-in-an-empty-line": "JOB A a.sub\n\n",
        "odd": "\ufeffJOB A\udcff\0 a.sub \\\r\nJOB é b \n#== other\nC",
    }
    assert list(case_files.read_all(tmp_path, "dags"))[:2] == ["topic/first", "topic/empty"]


def test_files_of_a_case(tmp_path: Path) -> None:
    assert case_files.files(read(tmp_path, TOPIC)["first"], "x.dag") == {
        "x.dag": "JOB A a.sub\n",
        "d e/s.dag": "",
        "t.dag": "JOB \\\n  B b.sub\n",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#=== a\n\n#=== a\n", "two cases a"),
        ("#=== a\nx\n#=== b c\n", "'#=== b c' is not"),
        ("#=== a\nx\n#===b\n", "'#===b' is not"),
        ("#=== a escaped\n\\n\n", "a backslash that begins none"),
        ("#=== a escaped\n\\xFG\n", "a backslash that begins none"),
    ],
)
def test_what_is_no_topic_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(tmp_path, text)


@pytest.mark.parametrize("path", [*DAGS.iterdir(), *SUBMIT_FILES.iterdir()], ids=lambda p: p.name)
def test_nothing_in_the_corpora_is_hidden_from_a_reader(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert not _HIDDEN.findall(text)
    assert text.endswith("\n")


def test_one_case_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASE", "several-dags/pins")
    assert by_topic(dag_cases()) == {"several-dags": ["several-dags/pins"]}
    monkeypatch.setenv("CASE", "several-dags/pin")
    with pytest.raises(ValueError, match="CASE=several-dags/pin: there is no such case"):
        by_topic(dag_cases())


def test_all_cases_that_fail_are_told(request: pytest.FixtureRequest) -> None:
    def check(name: str) -> None:
        assert name != "t-a", "no good"
        assert name == "t-b" or {}["key"]

    with pytest.raises(pytest.fail.Exception) as caught:
        check_each(["t-a", "t-b", "t-c"], check)
    text = str(caught.value)
    assert "t-a: no good" in text and "KeyError" in text and "failed: t-a, t-c" in text
    assert f"CASE=t-a .venv/bin/python -m pytest {request.node.nodeid}\n" in text


def test_files_that_all_cases_share(tmp_path: Path) -> None:
    path = tmp_path / "t.dags"
    path.write_text("# about these\n#== x.sub\nqueue\n#=== one\nJOB A x.sub\n#== y.sub\n")
    assert case_files.shared(path) == {"x.sub": "queue\n"}
    assert list(case_files.read(path)) == ["one"]
