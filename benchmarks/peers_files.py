"""Chains and bags of /bin/true as the files of peers that have a language of their own."""

from __future__ import annotations

COMMAND = "/bin/true"
DONE = "done"  # the directory of Snakemake's files that say what is done
TARGET = "task"  # how the names of Makeflow's begin

_RULE = """\
    output: touch("{done}/{{n}}")
    shell: "{command}"
"""
_BEFORE = """\
    input: lambda wildcards: [f"{done}/{{int(wildcards.n) - 1}}"] if int(wildcards.n) else []
"""


def snakefile(kind: str, count: int) -> str:
    """For Snakemake: one rule; `touch` makes the files that it wants."""
    chained = kind == "chain"
    last, every = f'"{DONE}/{count - 1}"', f'expand("{DONE}/{{n}}", n=range({count}))'
    return (
        f"rule all:\n    input: {last if chained else every}\nrule step:\n"
        f"{_BEFORE.format(done=DONE) if chained else ''}"
        f"{_RULE.format(done=DONE, command=COMMAND)}"
    )


def makeflow(kind: str, count: int) -> str:
    """For Makeflow: a rule for each; its output, which is empty, is the file that it wants."""

    def rule(number: int) -> str:
        before = f" {TARGET}{number - 1}" if kind == "chain" and number else ""
        return f"{TARGET}{number}:{before}\n\t{COMMAND} > {TARGET}{number}\n"

    return "".join(map(rule, range(count)))
