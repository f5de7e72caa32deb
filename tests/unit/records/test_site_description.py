"""What a submit description gets of a site."""

from __future__ import annotations

import pytest

from condor_pydagman.records.job_description import split
from condor_pydagman.records.site_description import with_site

VALUES = {"Name": "north", "Cpus": 4, "Fast": True, "odd name": 1, "Say": 'a "b" $(X)\nc'}


def lines_of(text: str, **environment: str) -> list[str]:
    template = with_site(split(text), "north", VALUES, environment)
    return "".join(body + queue for body, queue in template.parts).splitlines()


def test_macros_stand_before_and_attributes_after() -> None:
    lines = lines_of("executable = x\nqueue\n")
    at = lines.index("executable = x")
    assert "MATCH_Name = north" in lines[:at]
    assert "MATCH_Cpus = 4" in lines[:at]
    assert "MATCH_Fast = true" in lines[:at]
    assert 'MATCH_Say = a "b" $(DOLLAR)(X) c' in lines[:at]
    assert 'My.MATCH_Name = "$(MATCH_Name)"' in lines[at:]
    assert "My.MATCH_Fast = $(MATCH_Fast)" in lines[at:]
    assert 'My.MATCH_Say = "a \\"b\\" $(DOLLAR)(X) c"' in lines[at:]
    assert 'My.PYDAGMAN_Site = "north"' in lines[at:]
    assert not any("odd name" in line for line in lines)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("", "environment = \"A=1 B='x ''y'''\""),
        ("environment = \"M=1 O='a b'\"", "environment = \"M=1 O='a b' A=1 B='x ''y'''\""),
        ("Environment = M=1;O=2;", "environment = M=1;O=2;A=1"),
        ('env = ""', "environment = \"A=1 B='x ''y'''\""),
        ("# environment = X=1", "environment = \"A=1 B='x ''y'''\""),
    ],
)
def test_variables_stand_beside_those_of_the_description(line: str, written: str) -> None:
    lines = lines_of(f"executable = x\n{line}\nqueue\n", A="1", B="x 'y'")
    assert lines[-2] == written


def test_no_variables() -> None:
    assert not any("environment" in line for line in lines_of("executable = x\nqueue\n"))


def test_each_queue_statement_has_them() -> None:
    text = "executable = /bin/true\nif defined x\nqueue 1\nelse\nqueue 2\nendif\n"
    template = with_site(split(text), "north", {"Name": "north"}, {})
    assert sum("My.PYDAGMAN_Site" in body for body, _ in template.parts) == len(template.parts)
