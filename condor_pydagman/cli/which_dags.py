"""The options by which commands are told which DAGs of a schedd are meant."""

from __future__ import annotations

import argparse
import os

from condor_pydagman.errors import UsageError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.names import DagPaths
from condor_pydagman.records.own_ad import quoted

_ROOT = 0
_LOG = 'replaceAll("/[.]/", UserLog, "/")'  # of the submission of `./my.dag`, too


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose DAGs, the argument `dag`, and `--json`."""
    parser.add_argument(
        "dag", nargs="?", metavar="DAG", help="only this DAG file, or cluster of DAGMan's job"
    )
    parser.add_argument(
        "--allusers", action="store_true", help="DAGs of all users (default for root)"
    )
    parser.add_argument("--user", metavar="NAME", help="DAGs of this user (default: yours)")
    parser.add_argument(
        "--constraint",
        metavar="EXPRESSION",
        help="DAGs whose DAGMan job meets a ClassAd expression",
    )
    add_schedd_options(parser)
    parser.add_argument("--subdags", action="store_true", help="show sub-DAGs as well")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def add_schedd_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a schedd."""
    parser.add_argument("--name", default="", metavar="SCHEDD", help="ask this schedd")
    parser.add_argument(
        "--pool", default="", metavar="HOST", help="ask this pool's collector for it"
    )


def condition_of(arguments: argparse.Namespace) -> str:
    """The ClassAd expression that the DAGs meet which are meant.

    Raises:
        UsageError: options exclude each other.
    """
    if arguments.allusers and arguments.user:
        raise UsageError("-allusers and -user exclude each other")
    if arguments.pool and not arguments.name:
        raise UsageError("-pool needs -name, the schedd's: a pool may have several")
    terms = [] if arguments.subdags or arguments.dag else ["DAGManJobId is undefined"]
    if arguments.dag:
        terms.append(_is_dag(arguments.dag))
    user = _user(arguments)
    if user:
        terms.append(f"Owner =?= {quoted(user)}")
    if arguments.constraint:
        terms.append(f"({_as_read(arguments.constraint)})")
    return " && ".join(terms) or "true"


def _is_dag(dag: str) -> str:
    """Met by the ads of a DAGMan's job, or of those of a DAG file, by the name of their log."""
    if dag.isascii() and dag.isdigit():
        return f"ClusterId =?= {int(dag)}"
    paths = (os.path.join(os.getcwd(), dag), os.path.abspath(dag), os.path.realpath(dag))
    logs = dict.fromkeys(quoted(DagPaths(path).dagman_log) for path in paths)
    return f"({' || '.join(f'{_LOG} =?= {log}' for log in logs)})"


def none_found(arguments: argparse.Namespace, where: str) -> str:
    """What a list without DAGs says: whose are not there, and how those of others are seen.

    Args:
        where: in what of the schedd they were looked for.
    """
    from condor_pydagman.adapters.knobs import lookup

    user = _user(arguments)
    schedd = arguments.name or lookup("SCHEDD_HOST") or lookup("FULL_HOSTNAME") or ""
    meets = f" that meets {arguments.constraint}" if arguments.constraint else ""
    others = "; those of all users: -allusers" if user else ""
    whose = f"{user} has no DAG" if user else "no user has a DAG"
    which = f" {arguments.dag}" if arguments.dag else ""
    return f"{whose}{which} in the {where} of the schedd {schedd}".rstrip() + meets + others


def _user(arguments: argparse.Namespace) -> str:
    """Whose DAGs are meant; '' for all users'."""
    everybody = arguments.allusers or (os.geteuid() == _ROOT and not arguments.user)
    return "" if everybody else arguments.user or schedd_queries.user()


def _as_read(expression: str) -> str:
    """An expression as HTCondor understands it by itself, whatever stands around it.

    Raises:
        UsageError: it can't be parsed.
    """
    import classad2

    from condor_pydagman.adapters.classad_values import mistake

    wrong = mistake(expression)
    if wrong:
        raise UsageError(f"-constraint {expression} is no ClassAd expression: {wrong}")
    return str(classad2.ExprTree(expression))
