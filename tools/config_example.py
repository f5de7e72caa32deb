"""Writes the example of a configuration file from the table of knobs, so that the two agree.

Use: python tools/config_example.py > etc/condor_config.d/50-condor-pydagman.config
"""

from __future__ import annotations

from typing import Any

from condor_pydagman.config import knobs

HEAD = """\
# Knobs of DAGMan that condor_pydagman obeys, with the values in force when nothing is set.
# Copy what you want to change into a file of /etc/condor/config.d, without the leading '#'.
#
# To make this DAGMan the pool's default, put its commands first on the users' PATH, or set in the
# submit file of a DAG:  condor_submit_dag -dagman /path/to/our/condor_dagman x.dag
"""


def text() -> str:
    """The whole file."""
    return HEAD + "".join(_entry(knob) for knob in knobs())


def _entry(knob: Any) -> str:
    remarks = knob.metadata["doc"]
    low, high = knob.metadata["low"], knob.metadata["high"]
    if low is not None:
        remarks += f"  At least {low}" + (f", at most {high}." if high < 2**31 - 1 else ".")
    if knob.metadata["stock"] is not None:
        stock = knob.metadata["stock"]
        remarks += f"  ({stock}, stock DAGMan's default, counts as not set.)"
    return f"\n# {remarks}\n#{knob.metadata['knob']} = {knob.default}\n"


if __name__ == "__main__":
    print(text(), end="")
