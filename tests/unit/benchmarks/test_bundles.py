"""What is told of bags in bundles."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import costs


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
