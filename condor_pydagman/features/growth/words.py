"""The growth of a DAG, for people."""

from __future__ import annotations

from condor_pydagman.report.feature_words import Events

EVENTS: Events = {"dag.grow": lambda event: "nodes were added to the DAG"}
