"""The block of DAGMAN_DEBUG_PARSE_TIMING, as stock writes it."""

from __future__ import annotations

from condor_pydagman.records.parse_timing import block

STOCKS = """\
DAGMAN_DEBUG_PARSE_TIMING (1 DAG file(s)):
  Phase                           Wall (s)  Peak RSS (KiB)
  DAG file parsing                   0.001           18084
  LiftSplices + AdjustEdges          0.000           18084
  Total                              0.001           18084
  RSS before parse                                   17956"""


def test_the_block() -> None:
    assert block(1, 0.0012, 17956, 18084) == STOCKS
