"""Writes the example of a configuration file from the table of knobs, so that the two agree.

`python -m tools.generate` writes it.
"""

from __future__ import annotations

import textwrap

from condor_pydagman.config import Kind, Knob, knobs

HEAD = """\
# Knobs of DAGMan that condor_pydagman obeys, with the values in force when nothing is set.
# Copy what you want to change into a file of /etc/condor/config.d, without the leading '#'.
# `condor_pydagman knobs` shows what is in force and where it was set; the man page
# condor_pydagman_config(5) tells more.
#
# How to make this DAGMan the pool's default, and how to go back: docs/administrators.md.
"""


def text() -> str:
    """The whole file: knobs that do something first, then the names of the others."""
    live = [knob for knob in knobs() if not knob.no_effect]
    idle = [knob for knob in knobs() if knob.no_effect]
    return HEAD + "".join(map(_entry, live)) + _idle(idle)


def _entry(knob: Knob) -> str:
    remarks = [knob.meaning]
    if knob.range() not in ("", "any") and knob.kind is not Kind.BOOLEAN:
        unit = f" {knob.unit}" if knob.unit else ""
        remarks.append(f"Range: {knob.range()}{unit}.")
    elif knob.unit:
        remarks.append(f"In {knob.unit}.")
    if knob.caps:
        remarks.append("Set here, it is also the limit for what users ask for.")
    if knob.stock is not None:
        remarks.append(f"(Stock DAGMan's default is {knob.stock:g}.)")
    lines = textwrap.wrap(" ".join(remarks), 98)
    value = f"{knob.default:g}" if isinstance(knob.default, float) else knob.default
    return (
        "\n" + "".join(f"# {line}\n" for line in lines) + f"#{knob.name} = {value}".rstrip() + "\n"
    )


def _idle(found: list[Knob]) -> str:
    head = "\n# Known, checked, and without effect here; condor_pydagman_config(5) says why:\n"
    lines = textwrap.wrap(", ".join(knob.name for knob in found), 98)
    return head + "".join(f"# {line}\n" for line in lines)
