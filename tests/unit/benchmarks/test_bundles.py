"""What is told of bags in bundles."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import bundle_costs, bundles, costs
from benchmarks.bundle_costs import Took

CASE = bundles.Case("bag", "executable = x\n")


def test_start_and_end_of_dagman_are_no_cost_of_a_node() -> None:
    start = Took(3.0, 1, dagman_s=0.5, helpers_s=0.25, schedd_s=0.1)
    found = [Took(12.0, 8, 0.7, 0.35, 0.15), Took(10.0, 8, 0.7, 0.35, 0.15)]
    told = bundles.row(CASE, 101, 10.0, found, start)
    assert told == "| bag | 10.1 | 9.2 | 1.100 | 8 | 2.00 | 1.00 | 0.50 |"
    assert bundles.row(CASE, 1, 0.0, found[:1], start).startswith("| bag | 0.1 | 0.1 | - | 8 |")


def test_medians_are_of_each_figure() -> None:
    found = [Took(1.0, 9, 3.0, 1.0, 0.0), Took(3.0, 7, 1.0, 1.0, 0.0), Took(2.0, 8, 2.0, 1.0, 0.0)]
    assert bundle_costs.medians(found) == Took(2.0, 8, 2.0, 1.0, 0.0)


def test_a_family_counts_its_children_apart() -> None:
    family = costs.Family(os.getpid())
    family.look()
    assert family.alone > 0
    burn = "import sys\nfor _ in range(200000): pass\nprint(); sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        child.stdout.readline()
        before = family.all - family.alone
        family.look()
        assert family.all - family.alone > before
        child.communicate()
    kept = family.all - family.alone
    family.look()
    assert family.all - family.alone == pytest.approx(kept), "what has ended counts"


def test_a_process_that_is_gone_uses_nothing() -> None:
    family = costs.Family(0)
    family.look()
    assert family.all == 0
