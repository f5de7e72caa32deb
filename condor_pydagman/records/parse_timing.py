"""What DAGMAN_DEBUG_PARSE_TIMING writes into `.dagman.out`, in stock's layout."""

from __future__ import annotations


def block(dag_files: int, seconds: float, before: int, after: int) -> str:
    """How long reading took, and the peak of memory before and after it, in KiB.

    Stock adjusts edges in a second step; ours are right as soon as they are read.
    """
    rows = (("DAG file parsing", seconds), ("LiftSplices + AdjustEdges", 0.0), ("Total", seconds))
    lines = [
        f"DAGMAN_DEBUG_PARSE_TIMING ({dag_files} DAG file(s)):",
        f"  {'Phase':<26}{'Wall (s)':>14}  {'Peak RSS (KiB)'}",
        *(f"  {name:<26}{spent:>14.3f}  {after:>14}" for name, spent in rows),
        f"  {'RSS before parse':<40}  {before:>14}",
    ]
    return "\n".join(lines)
