"""Which nodes a DAG is to run: what the command line chooses goes before what files say."""

from __future__ import annotations

from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.features import part
from condor_pydagman.graph.model import Dag


def leave_out(dag: Dag, options: DagmanOptions) -> str:
    """Leave out nodes by the choices of the options, else those of CHOOSE lines.

    Returns:
        What to say of that; '' if nothing was chosen.

    Raises:
        UsageError: a name stands for no node, or no node is chosen.
    """
    asked = options.choose_from or options.choose_until or options.choose_only
    if not asked and not dag.features.get("choose"):
        return ""
    choose = part("choose", "commands")
    by_options = [
        *choose.listed(choose.FROM, options.choose_from),
        *choose.listed(choose.UNTIL, options.choose_until),
        *choose.listed(choose.ONLY, options.choose_only),
    ]
    choices = by_options or ([] if options.choose_all else choose.choices_of(dag))
    left = choose.leave_out(dag, choices)
    return f"{left} nodes are left out: CHOOSE {'; '.join(map(str, choices))}" if choices else ""
