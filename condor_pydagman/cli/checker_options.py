"""The command line of condor_dag_checker: stock's options, abbreviated as there, and our -lint."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.dagman_job.options import UnknownOption, nearest
from condor_pydagman.errors import UsageError
from condor_pydagman.lint.external import OutlineOptions
from condor_pydagman.named_tuple import NamedTuple

USAGE = """\
Usage: condor_dag_checker [options] <DAG File> [<DAG File> ...]
       Verify provided DAG file(s) will be parsed/processed
       successfully, and display any issues discovered in
       the provided DAG file(s).

Options:
\t-h/-help                Print Tool Usage

\t-AllowIllegalChars      Allow node names to contain illegal characters [+]
\t-CheckExternalFiles     Best effort process external files
\t-CheckJDL               Best effort process node submit descriptions
\t-CheckScripts           Verify scripts exist
\t-CheckSubDags           Best effort process Sub-DAG files
\t-json                   Print Results in JSON Format
\t-[No]JoinNodes          Enable/Disable creating join nodes (Default enabled)
\t-Statistics             Print statistics about parsed DAG
\t-Strict                 Enable strict checking: Error if missing external files
\t-UseDagDir              Change into DAG file directory prior to parsing

Options of condor_pydagman:
\t-Bundle                 Check the DAG as condor_submit_dag -bundle would run it (with -lint)
\t-Lint                   Look deeper: nodes that never run, missing files, unused macros, ...
\t                        (with -json: as JSON; with -Strict: warnings count as errors)
"""


class _Option(NamedTuple):
    name: str
    min_length: int  # of the name, how many characters must be given
    colon: bool = False  # whether `:anything` may follow


_OPTIONS = (
    _Option("bundle", 6),
    _Option("help", 1, True),
    _Option("statistics", 4, True),
    _Option("json", 4),
    _Option("lint", 4),
    _Option("strict", 6),
    _Option("checkexternalfiles", 8),
    _Option("checkjdl", 8),
    _Option("checkscripts", 8),
    _Option("checksubdags", 8),
    _Option("allowillegalchars", 5),
    _Option("joinnodes", 4),
    _Option("nojoinnodes", 6),
    _Option("usedagdir", 3),
)
# As the usage spells them.
SPELLINGS = (
    *("Bundle", "Help", "Statistics", "json", "Lint", "Strict", "CheckExternalFiles", "CheckJDL"),
    *("CheckScripts", "CheckSubDags", "AllowIllegalChars", "JoinNodes", "NoJoinNodes", "UseDagDir"),
)
_STYLES = ("json", "statistics")


class CheckerOptions:
    """What a command line of condor_dag_checker asks for."""

    def __init__(self) -> None:
        self.files: list[str] = []  # the DAG files
        self.given: set[str] = set()  # full names of the options
        self.use_join_nodes = True
        self.help = False

    @property
    def style(self) -> str:
        """How results are printed: "json", "statistics" or "text"."""
        return next((style for style in _STYLES if style in self.given), "text")

    @property
    def bundle(self) -> bool:
        """Whether -Bundle is given."""
        return "bundle" in self.given

    @property
    def strict(self) -> bool:
        """Whether -Strict is given."""
        return "strict" in self.given

    def outline(self) -> OutlineOptions:
        """The options that change what is read and checked."""
        every = "checkexternalfiles" in self.given
        return OutlineOptions(
            use_join_nodes=self.use_join_nodes,
            allow_illegal_chars="allowillegalchars" in self.given,
            use_dag_dir="usedagdir" in self.given,
            check_descriptions=every or "checkjdl" in self.given,
            check_scripts=every or "checkscripts" in self.given,
            check_subdags=every or "checksubdags" in self.given,
            strict=self.strict,
        )


def parse_checker(arguments: Sequence[str]) -> CheckerOptions:
    """Read the arguments; at -help reading ends.

    Raises:
        UsageError: an option is unknown or contradicts another, or no DAG file is named.
    """
    options = CheckerOptions()
    style = ""
    for argument in arguments:
        if argument.strip("-") == "":
            raise UsageError(f"ERROR: Invalid option '{argument}' provided")
        if not argument.startswith("-"):
            options.files.append(argument)
            continue
        name = _full_name(argument)
        if name == "help":
            options.help = True
            return options
        if name in _STYLES:
            if style and name not in options.given:
                raise UsageError(
                    f"ERROR: Multiple print styles specified: {style} and {argument}\n"
                )
            style = argument
        if name in ("joinnodes", "nojoinnodes"):
            options.use_join_nodes = name == "joinnodes"
        options.given.add(name)
    if not options.files:
        raise UsageError("ERROR: No DAG file(s) provided for linting.")
    if {"lint", "statistics"} <= options.given:
        raise UsageError("ERROR: Multiple print styles specified: -lint and -statistics\n")
    return options


def _full_name(argument: str) -> str:
    word = argument.lstrip("-") if argument.startswith("--") else argument[1:]
    head, colon, _ = word.lower().partition(":")
    for option in _OPTIONS:
        if colon and not option.colon:
            continue
        if len(head) >= option.min_length and option.name.startswith(head):
            return option.name
    near = nearest(argument, SPELLINGS)
    said = f"ERROR: Unknown command line option '{argument}'"
    raise UnknownOption(said, f"-{near}" if near else "")
