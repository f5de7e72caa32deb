"""What is warned of in submit descriptions.

The same descriptions are given to the stock checker in tests/pool/test_dag_checker.py.
"""

from __future__ import annotations

import pytest

from condor_pydagman.language.submit_warnings import remarks


def remarked(*lines: str, text: str = "", missing_units: bool = False) -> list[str]:
    """The first words of each remark."""
    values = dict(line.split("=", 1) for line in ("executable=/bin/true", *lines))
    found = remarks(
        values,
        lambda value: value.replace("$(x)", "1"),
        text=text,
        name="a.sub",
        missing_units=missing_units,
    )
    return [" ".join(one.split()[:4]) for one in found]


TEXT = """a
warning : first
Warning : $(x)
if 0
iter 2
warning : no
endif
iterate
warning : no
"""


def test_other_warnings_in_stocks_order() -> None:
    lines = ["nice_user=true", "accounting_group=g", "requirements=Memory>1 && Disk > 1"]
    lines += ["request_cpu=1", "output_destination=x", "job_lease_duration=$(x)", "zork=1", "x=1"]
    assert remarked(*lines, text=TEXT) == [
        "the line 'zork =",
        "the line 'request_cpu =",
        "output_destination must be a",
        "your Requirements expression refers",
        "Your Requirements expression refers",
        "JobLeaseDuration less than 20",
        "nice_user conflicts with accounting_group.",
        "request_cpu is not a",
        'Warning "a.sub", Line 3:',
        'Warning "a.sub", Line 2:',
    ]


@pytest.mark.parametrize(
    "line",
    [
        "nice_user=true",
        'requirements="Memory" == "Disk" && FooMemory',
        "output_destination=https://a",
        "job_lease_duration=20",
        "job_lease_duration=²",
        f"job_lease_duration={'1' * 5000}",
        "warning=3",
    ],
)
def test_what_is_fine(line: str) -> None:
    assert [one for one in remarked(line) if "unused" not in one and "the line" not in one] == []


def test_sizes_without_units() -> None:
    lines = ["request_memory=$(x)", "x=1", "request_disk=1G"]
    assert remarked(*lines) == []
    assert remarked(*lines, missing_units=True) == ["WARNING: request_memory=1 defaults to"]
