"""Which nodes a DAG is to run: what the command line chooses goes before what files say."""

from __future__ import annotations

from condor_pydagman.dagfile.choice_lines import FROM, ONLY, UNTIL
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.graph import chosen_nodes
from condor_pydagman.graph.model import Choice, Dag


def choices_in_force(dag: Dag, options: DagmanOptions) -> list[Choice]:
    """The choices of the options, else those of CHOOSE lines."""
    by_options = [
        *chosen_nodes.listed(FROM, options.choose_from),
        *chosen_nodes.listed(UNTIL, options.choose_until),
        *chosen_nodes.listed(ONLY, options.choose_only),
    ]
    return by_options or ([] if options.choose_all else dag.choices)
