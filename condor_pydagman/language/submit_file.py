"""A simple reader of submit descriptions: which macros they set and use, as far as a text tells.

It reads `key = value`, `queue` and `$(macro)`.  Where a description does more (include, if, use,
macros in the names of macros), it says so, and no rule claims anything of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.language import submit_commands
from condor_pydagman.named_tuple import NamedTuple

_ASSIGNMENT = re.compile(r"([+A-Za-z_][\w.+$()-]*)\s*=(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ANY_REFERENCE = re.compile(r"\$\w*\(([^()]*)")
_REFERENCE = re.compile(r"(?<!\$)\$\(\s*([A-Za-z_]\w*)\s*\)")
# With any other character in it, HTCondor (25.14) takes a reference for none.
_REFERENCE_OR_DEFAULT = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)(?::([\w ,./:\\]*))?\)", re.ASCII)

MAX_EXPANSIONS = 20
MAX_LENGTH = 10_000

# Macros that condor_submit (25.14.1) or DAGMan sets for every job, and those that they may set: the
# default of a reference to one of them never counts, unless a description makes it empty.
_ALWAYS_SET = """
cluster clusterid process procid jobid joblistid taskid step row item itemindex submit_file
submit_time year month day dollar arch opsys opsysver opsysandver opsysmajorver spool islinux
iswindows job retry dag_status failed_count dag_parent_names dagmanjobid
"""
_PERHAPS_SET = """
request_cpus request_memory vm_memory vm_vcpus accounting_group accounting_group_user batch_id
batch_name dag_node_name dagman_log hold job_ad_information_attrs job_machine_attrs keep_claim_idle
notification priority submit_event_notes
"""
SET = frozenset((_ALWAYS_SET + _PERHAPS_SET).split())
# Those that have HTCondor's value whoever sets them: `item` nothing, unless the queue statement has
# items for other variables.
HTCONDORS = frozenset(("item", "dollar"))

# Names that descriptions use as if they were set, in this or another version of HTCondor (manual:
# "condor_submit", "Macros in submit description files"; "Special macros" of VARS).
_OTHER_NAMES = """
node jobname dag_id dagnodename dagmannoderetry dagparentnodenames my_job nodename opsysname
opsysshortname opsyslongname lib home user username owner
"""
SPECIAL = frozenset((_ALWAYS_SET + _OTHER_NAMES).split())

# Names that the manual or other versions of HTCondor have for commands, beside those that
# condor_submit looks at; VARS may set them instead of a macro.
_OTHER_KEYWORDS = """
allow_startup_script boinc_authenticator_file common_input_files copy_to_spool cpus disk
dynamic_shared_memory err getenvironment global_job_id gpus gpus_maximum_runtime ipc_scope job_prio
keystore_alias keystore_file keystore_passphrase_file lease_duration manifest_file memory mpi_script
my_proxy_credential_name oauth_permissions oauth_resource out periodic_remove_reason post_arguments
post_cmd pre_arguments pre_cmd prefered_machines preserve_relative_executable ram_disk ranking raw
remote_grid_resource remote_universe require_cuda_version retry_request_disk rmkill_sig
scitoken_file scratch send_credential shared_port_address ship_executable singularity_image
ssh_keypair staging_dir start_after submitfailemptyfields submitfailemptymatches
submitwarnduplicatematches submitwarnemptyfields submitwarnemptymatches suspend_job_at_exit
transfer_files unset_environment user_log_execute_attrs vacate_job want_name_tag
want_parallel_scheduling_groups want_remote_io want_remote_updates_stdio xcount
"""
KEYWORDS = submit_commands.ALL | frozenset(_OTHER_KEYWORDS.split())


class SubmitText(NamedTuple):
    """What a submit description says."""

    values: dict[str, str]  # value of each key; keys in lower case, the last value of a key
    # lower-case names that stand anywhere inside `$(...)` or `$FUNCTION(...)`
    mentioned: frozenset[str]
    needed: tuple[str, ...]  # names in `$(name)` without default, as they are written
    loops: frozenset[str]  # lower-case names that the queue statement sets for each job
    plain: bool  # whether this is all that it says; else no claim can be made
    queue: str = ""  # arguments of the queue statement
    listed: str | None = ""  # lines of its inline items below it; None if no ) ends them


def parse(text: str) -> SubmitText:
    """Read a submit description, up to its first queue statement."""
    values: dict[str, str] = {}
    needed: dict[str, None] = {}
    loops: frozenset[str] = frozenset()
    used: set[str] = set()
    plain, arguments = True, ""
    listed: str | None = ""
    lines = logical_lines(text)
    for line in lines:
        used |= mentioned(line)
        queue = queue_arguments(line)
        if queue is not None:
            items = items_of(queue)
            plain = plain and "matching" not in line.lower() and not (items and items.has_header)
            arguments = queue
            if items is not None and items.source.startswith("(") and ")" not in items.source:
                before, end, _ = "\n".join(["", *lines]).partition("\n)")
                listed = before if end else None
            loops = frozenset(name.lower() for name in _NAME.findall(queue))
            needed.update(dict.fromkeys(_REFERENCE.findall(queue)))
            break
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment is None or "$" in assignment.group(1):
            plain = False
            continue
        values[assignment.group(1).lower()] = assignment.group(2).strip()
    for value in values.values():
        needed.update(dict.fromkeys(_REFERENCE.findall(value)))
    return SubmitText(values, frozenset(used), tuple(needed), loops, plain, arguments, listed)


def why_lost(name: str) -> str:
    """Why a variable of a node is lost by its name; '' if it reaches the description."""
    is_lost = name.lower() in HTCONDORS
    return f"HTCondor sets $({name}) itself: my_{name} would work" if is_lost else ""


def mentioned(text: str) -> set[str]:
    """Lower-case names inside every `$(...)` and `$FUNCTION(...)` of a text."""
    if "$" not in text:
        return set()
    return {
        name.lower() for inside in _ANY_REFERENCE.findall(text) for name in _NAME.findall(inside)
    }


def expand(
    value: str,
    look_up: Callable[[str], str | None],
    is_set: Callable[[str], bool] = SET.__contains__,
) -> str | None:
    """`value` with every macro replaced by what `look_up` gives for its lower-case name.

    None if that can't be told: `look_up` gives None for a macro without default, or there is more
    in it than plain macros.  A default counts for an empty macro as well.

    Args:
        is_set: whether a macro that `look_up` does not know has a value nevertheless.
    """
    for _ in range(MAX_EXPANSIONS):
        if "$" not in value:
            return value
        unknown, length = False, 0

        def replacement(found: re.Match[str]) -> str:
            nonlocal unknown, length
            name, default = found[1].lower(), found[2]
            new = None if unknown or name in HTCONDORS else look_up(name)
            if default is not None and not (new or (new is None and is_set(name))):
                new = default
            length += len(new or "")
            unknown = unknown or new is None or length > MAX_LENGTH
            return new or ""

        value, count = _REFERENCE_OR_DEFAULT.subn(replacement, value)
        if unknown or not count or len(value) > MAX_LENGTH:
            return None
    return None


def logical_lines(text: str) -> Iterator[str]:
    """Trimmed lines, continued ones joined, without comments and empty ones."""
    begun = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("#"):
            continue
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        if begun:
            yield begun
        begun = ""
    if begun:
        yield begun


# Which macros a value of a submit description refers to (manual: "Predefined Macros", "Function
# Macros").
#
# In some functions words stand for themselves: `$ENV(HOME)` uses no macro HOME.

_OPENING = re.compile(r"(?<!\$)\$(\w*)\(")  # `$$(x)` is an attribute of the machine
_PARENTHESIS = re.compile(r"[()]")
_LITERAL = ("env", "random_choice", "random_integer")
_WHOLE = ("eval", "substr")


def references(value: str, is_set: Callable[[str], bool] = lambda name: False) -> set[str]:
    """Lower-case names of the macros that a value refers to by itself.

    Args:
        is_set: whether a macro has a value; then its default, `$(NAME:DEFAULT)`, is not used.
    """
    found: set[str] = set()
    opening = _OPENING.search(value) if "$" in value else None
    closings = _closings(value) if opening is not None else {}
    while opening is not None:
        place = opening.end()
        function = opening[1].lower()
        inside = value[place : closings.get(place, place)]
        name, colon, _ = inside.partition(":")
        if function:
            found |= _arguments(function, inside)
        elif _NAME.fullmatch(name):
            found.add(name.lower())
            if colon and is_set(name.lower()):
                place += len(inside)
        opening = _OPENING.search(value, place)
    return found


def _arguments(function: str, inside: str) -> set[str]:
    """Names of macros among the arguments of a function, but for what is in `$(...)` there."""
    if function in _LITERAL:
        return set()
    if function in _WHOLE:
        return {name.lower() for name in _NAME.findall(inside)}
    words = [word.strip() for word in inside.split(",")]
    lists = function == "choice" and len(words) == 2  # the second one is the name of a list
    return {word.lower() for word in words[: 2 if lists else 1] if _NAME.fullmatch(word)}


def _closings(value: str) -> dict[int, int]:
    """Where what stands in parentheses ends, by where it begins; what has no end is left out."""
    found, open_now = {}, []
    for parenthesis in _PARENTHESIS.finditer(value):
        if parenthesis[0] == "(":
            open_now.append(parenthesis.end())
        elif open_now:
            found[open_now.pop()] = parenthesis.start()
    return found


# What begins a queue statement, and where its items come from.
#
# HTCondor (25.14) queues by `queue` or `iterate`, which may be cut down to `iter`, in any case.

# The word that begins a queue statement, for patterns that ignore case; `iter = 3` sets a macro.
QUEUES = r"(?:queue|iter(?:a(?:te?)?)?(?!\s*[+@]?=))(?!\S)"

_QUEUE = re.compile(rf"\s*{QUEUES}\s*(.*)", re.I | re.S)
# The next line without its blanks in front; between them comments that go on as well.
_CONTINUED = re.compile(r"\\[^\S\n]*\n[^\S\n]*(?:#[^\n]*\\[^\S\n]*\n[^\S\n]*)*")
_SLICE = r"\s*(?:\[([-\d:\s]*)\])?"
_ITEMS = re.compile(
    r"(.*?)(?<!\S)(in|from|matching)\b(?:\s*(?:files|dirs|any)\b)?"
    rf"{_SLICE}(?:\s*(table)(?:\(([^()]*)\)|(?=\s+\S)))?{_SLICE}\s*(.*)",
    re.I | re.S,
)
_WITHOUT_HEADER = {"csv", "standard"}  # alone or between commas; `header csv` has one


class Items(NamedTuple):
    """What a queue statement has items of."""

    names: str  # what stands before: the count, and the names of variables
    is_list: bool  # whether the items are lines, of a file or others
    has_header: bool  # whether their first line has the names of the variables instead
    slice: str | None  # inside of its brackets; None without them
    source: str  # the name of a file, a command with a `|`, patterns, or the items in parentheses

    @property
    def file(self) -> str:
        """The file that the items are in; '' if they are elsewhere."""
        elsewhere = self.source.startswith("(") or "|" in self.source
        return "" if elsewhere or not self.is_list else self.source


def one_line(statement: str) -> str:
    """A statement without the backslashes that join its lines."""
    return _CONTINUED.sub("", statement)


def queue_arguments(statement: str) -> str | None:
    """What follows the word of a queue statement; None if it is another statement."""
    found = _QUEUE.fullmatch(one_line(statement))
    return None if found is None else found[1].rstrip()


def items_of(arguments: str) -> Items | None:
    """Where the items of a queue statement come from; None if it has none."""
    found = _ITEMS.fullmatch(arguments)
    if found is None:
        return None
    names, word, before, table, options, behind, source = found.groups()
    given = {option.strip().lower() for option in (options or "").split(",")}
    header = table is not None and _WITHOUT_HEADER.isdisjoint(given)
    return Items(names, word.lower() == "from", header, before or behind, source.rstrip())
