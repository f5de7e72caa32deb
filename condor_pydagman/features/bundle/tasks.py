"""What of a node's submit description is its own task, and what must be equal in a bundle.

A node's task is what the runner can do for it: the program, its arguments, environment and files.
All else of the description (requirements, requests, image, attributes) is of the job, so nodes go
together only if that is equal.  A description that says more than this module understands is left
to HTCondor: its node runs alone, and `CannotBundle` says why.
"""

from __future__ import annotations

import hashlib
import os.path
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from condor_pydagman.features.bundle.job_lines import URL, files_of_job, requests_of_job
from condor_pydagman.language import submit_commands
from condor_pydagman.language.description import (
    QUEUES,
    SPECIAL,
    SubmitDescription,
    expand,
    references,
    statements,
)
from condor_pydagman.language.quoted_words import parse_arguments, parse_quoted
from condor_pydagman.named_tuple import NamedTuple

# Commands that are of a node's task, by their names: the first of them that is there counts, as
# HTCondor has it.  `log` is of no use for one of many tasks.
_OF_TASK = {
    "executable": ("executable", "cmd"),
    "arguments": ("arguments", "args"),
    "environment": ("environment", "env"),
    "input": ("input", "stdin"),
    "output": ("output", "stdout"),
    "error": ("error", "stderr"),
    "initialdir": ("initialdir", "iwd", "initial_dir", "job_iwd"),
    "transfer_input_files": ("transfer_input_files", "transferinputfiles"),
    "transfer_output_files": ("transfer_output_files", "transferoutputfiles"),
    "transfer_output_remaps": ("transfer_output_remaps", "transferoutputremaps"),
    "success_exit_code": ("success_exit_code", "jobsuccessexitcode"),
    "log": ("log", "userlog"),
}
_TASK_OF = {alias: name for name, aliases in _OF_TASK.items() for alias in aliases}
_ATTRIBUTES_OF_TASK = {*_TASK_OF, "in", "out", "err"}  # the last three are no commands
# Commands whose effect a bundle can't give to one of its tasks.
_ALONE = re.compile(
    r"(?:on_exit_|onexit|periodic|retry_until|max_retries|jobmaxretries|retry_request"
    r"|checkpoint_|checkpointdest|successcheckpoint|transfer_?checkpoint|cron_"
    r"|cron(?:day|hour|min|mon)|deferral|stream|kill_sig|killsig|remove_kill|rmkill|hold_kill"
    r"|holdkill|noop_job|isnoop|hold$|leave_in_queue|leavejob|shell$|tool_?daemon|jar_files"
    r"|jarfiles|java_|max_materialize|max_idle|materialize|jobmaterialize|output_dest|outputdest"
    r"|output_dir|outputdir|public_input|common_input|transfer_common|commoninput"
    r"|skip_if_dataflow|skipifdataflow|preserve_relative|preserverelative|append_files"
    r"|appendfiles|transfer_input$|transferin$|transfer_output$|transferout$|transfer_error"
    r"|transfererr|encrypt_|encrypt(?:in|out)|dont_encrypt|dontencrypt|manifest|arguments2"
    r"|environment2|fetch_files|file_remaps|local_files|remote_|remoteiwd|interactive"
    r"|machine_count|parallel_script|suspend_job|want_graceful|wantgraceful|vm_|ec2_|gce_|azure_"
    r"|grid_|arc_|batch_queue|allow_arguments|allow_environment|compress_files|buffer"
    r"|copy_to_spool|when_to_transfer|whentotransfer|allowed_execute|allowedexecute|allowed_job"
    r"|allowedjob|max_transfer|maxtransfer|transfer_?plugins|erase_output|eraseoutput"
    r"|jobuniverse$|concurrency_limits_expr|concurrencylimits|pre_?cmd|post_?cmd|hookkeyword"
    r"|checkpointexit|submit\.)"
)
_OF_SERVICE = re.compile(r"_oauth_(?:permissions|resource)(?:_|$)|_container_port$")
_WHEN_TO_TRANSFER = ("when_to_transfer_output", "whentotransferoutput")
_TRANSFERS = ("transferinput", "transferoutput", "transferexecutable", "shouldtransferfiles")
_UNIVERSES = ("", "vanilla", "5", "container")
_IMAGES = ("container_image", "containerimage", "docker_image", "dockerimage", "singularity_image")
_QUEUES = re.compile(rf"^\s*{QUEUES}", re.IGNORECASE | re.MULTILINE)
NO_FILE = "it transfers a file that is not there, or not to be read"
NOT_READ = "its submit file can't be read"
# Of a node's job, which is the only one of its cluster.
_FIRST_PROC = dict.fromkeys(("process", "procid", "row", "step", "itemindex"), "0")
# Macros and commands that DAGMan or HTCondor sets for each node.
_OF_NODE = ("job", "retry", "dag_node_name", "submit_event_notes", *_FIRST_PROC)
_NEVER, _ALWAYS = ("no", "never", "false"), ("yes", "always", "true")  # are files transferred
_DOTS, _STREAMS = (".", ".."), ("_stdout", "_stderr")  # the latter as in `runner`
# What DAGMan sets, whatever a description says; some of it by knobs, which are not known here.
_OVERRIDDEN = {"log", "userlog", "notification", "jobnotification", "dagman_log", "dagmanjobid"}
_CHANGES = re.compile(r"\$(?:random_\w+|eval)\(", re.IGNORECASE)  # at each reading
_ATTRIBUTES_OF_NODE = ("my.dagmannoderetry", "my.dagparentnodenames")


class CannotBundle(Exception):
    """The node runs alone; the text says why."""


class Task(NamedTuple):
    """What the runner does for one node; paths are absolute unless they say otherwise."""

    program: str  # its path at the access point
    transfers_program: bool  # whether it is to be there in a run with file transfer
    # as the program gets them
    arguments: Sequence[str]
    environment: Mapping[str, str]
    directory: str  # the initial directory
    # as the description names them; '' for none
    input: str
    output: str
    error: str
    inputs: Sequence[str]  # files that are transferred
    outputs: Sequence[str] | None  # names of files to be brought home; None: all new ones
    remaps: Mapping[str, str]  # by name of an output, where it belongs, relative to `directory`
    success: int  # the exit code that stands for success
    transfers_files: bool  # whether the job may be one with file transfer
    # whether it is one only where the machine does not share the files, which is HTCondor's default
    if_needed: bool = False
    # by commands, see `job_lines`
    files_of_job: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}

    @property
    def sources(self) -> list[str]:
        """Paths of what is transferred to its job."""
        names = [*self.inputs, *filter(None, [self.input])]
        names += [self.program] * self.transfers_program
        return [os.path.join(self.directory, name) for name in names] * self.transfers_files


class Description(NamedTuple):
    """A submit file, read once for all nodes that name it: `CannotBundle` says what it can't be."""

    text: SubmitDescription
    why: str = ""


def described(text: str) -> Description:
    """Read a submit file."""
    found = SubmitDescription(text)
    several = len(_QUEUES.findall(text)) > 1
    return Description(found, "it has several queue statements" if several else _obstacle(found))


def _obstacle(text: SubmitDescription) -> str:
    if not text.is_plain:
        return "it has more than assignments and a queue statement"
    arguments = text.queue.arguments
    if arguments not in ("", "1"):
        return f"its queue statement is not for one job: queue {arguments}"
    return ""


Pairs = Sequence[tuple[str, str]]


class NodeOrder(NamedTuple):
    """A node that is to be bundled: what is known of it beside its submit file."""

    number: int  # of the node
    # of the node, and of its run
    name: str
    retry: int
    directory: str  # where it is submitted from, absolute
    submit: str  # its submit file, relative to `directory`, or the name of a description
    # its VARS, keys and values: those before the submit file's lines, and behind
    before: Pairs = ()
    after: Pairs = ()
    equal: Sequence[object] = ()  # what else must be equal in a bundle: its priority and so on


def packable(
    description: Description, node: NodeOrder, commands: Collection[str] = ()
) -> tuple[str, Task]:
    """The kind of a node, and its task: nodes of one kind can go together.

    Args:
        commands: those of submit descriptions that the access point has beside HTCondor's, in
            lower case.

    Raises:
        CannotBundle: it must run alone.
    """
    equal, task = _equal_and_task(description, node, commands)
    text = "\n".join([*equal, *map(str, node.equal), str(task.transfers_program)])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16], task


def differing(
    one: tuple[Description, NodeOrder], other: tuple[Description, NodeOrder]
) -> list[str]:
    """The commands, in lower case, for which two nodes are not of one kind: none if it is for
    something else.

    Raises:
        CannotBundle: one of them must run alone.
    """
    lines, others = (set(_equal_and_task(*each)[0]) for each in (one, other))
    return sorted({line.partition("=")[0] for line in lines ^ others})


def _equal_and_task(
    description: Description, node: NodeOrder, commands: Collection[str] = ()
) -> tuple[list[str], Task]:
    """Lines of its submit description that must be equal in a bundle; and its task."""
    if description.why:
        raise CannotBundle(description.why)
    many = next((key for key, value in (*node.before, *node.after) if "\n" in value), "")
    if many:
        raise CannotBundle(f"the value of {many} has more than one line")
    values = {
        **_FIRST_PROC,
        "job": node.name,
        "retry": str(node.retry),
        **{key.lower(): value for key, value in node.before},
        **description.text.values,
        "dag_node_name": node.name,
        "submit_event_notes": f"DAG Node: {node.name}",
        **{key.lower(): value for key, value in node.after},
    }
    own = {
        *_OF_NODE,
        *_ATTRIBUTES_OF_NODE,
        *(key.lower() for key, _ in (*node.before, *node.after)),
    }
    task = _task(_of_task(values), values, node)
    return _equal_lines(values, own, own.difference(commands), task), task


def _of_task(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: values[alias]
        for name, aliases in _OF_TASK.items()
        for alias in reversed(aliases)
        if alias in values
    }


def _equal_lines(
    values: Mapping[str, str], own: set[str], unused: set[str], task: Task
) -> list[str]:
    used = set().union(*(references(value) for value in values.values() if "$" in value))
    if not used.isdisjoint(_OVERRIDDEN):
        raise CannotBundle(f"it uses what DAGMan sets: {', '.join(sorted(used & _OVERRIDDEN))}")
    lines = [
        f"{key}={task.files_of_job.get(key) or _equal_part(key, values, own)}"
        for key in sorted(values)
        if _is_of_job(key, values, used, unused)
    ]
    universe = values.get("universe", "").strip().lower()
    if universe not in _UNIVERSES:
        raise CannotBundle(f"it runs in the {universe} universe")
    return lines


def _is_of_job(
    key: str, values: Mapping[str, str], used: Collection[str], unused: Collection[str]
) -> bool:
    """Whether a line counts for the job of the bundle; `unused` are names of no effect if they are
    macros that nothing uses."""
    is_macro = key not in submit_commands.ALL
    if key in _TASK_OF or key in _OF_NODE or (is_macro and key in used):
        return False  # a macro counts where it is used
    if key in _WHEN_TO_TRANSFER:
        _require_usual_time(key, values)
        return False
    if _ALONE.match(key) or _sets_attribute_of_command(key):
        raise CannotBundle(f"it has {key}")
    return not (is_macro and key in unused and _is_plain(key))


def _require_usual_time(key: str, values: Mapping[str, str]) -> None:
    """Raise unless it says what a bundle does in any case: outputs come home at its end."""
    value = values[key]
    said = (expand(value, values.get) or value).strip()
    if said.upper() != "ON_EXIT":
        raise CannotBundle(f"it has {key} = {said}")


def _is_plain(key: str) -> bool:
    """Whether a variable of this name is of no effect but where it is used."""
    return not ("." in key or key.startswith(("+", "request_")) or _OF_SERVICE.search(key))


def _sets_attribute_of_command(key: str) -> bool:
    """Whether it sets an attribute of the job that a command sets as well: the bundle's job would
    have it."""
    prefix = next((one for one in ("+", "my.") if key.startswith(one)), "")
    name = key[len(prefix) :]
    is_known = name in _ATTRIBUTES_OF_TASK or name in _TRANSFERS or _ALONE.match(name)
    return bool(prefix and is_known)


def _equal_part(key: str, values: Mapping[str, str], own: set[str]) -> str:
    value = values[key]
    if "$" not in value:
        return value
    macros = _macros_of(value, values)
    if not _TASK_OF.keys().isdisjoint(macros):  # the job has other ones
        raise CannotBundle(f"it uses what is the task's own: {key} = {value}")
    if "$$" in value:
        raise CannotBundle(f"it uses an attribute of the machine: {value}")
    new = expand(value, values.get)
    if new is not None:
        return new
    known = [name for name in macros if name in values]
    again = next((name for name in known if name in references(values[name])), None)
    if again is not None:
        raise CannotBundle(f"it sets {again} by what that was before")
    parts = [value, *(f"{name}={values[name]}" for name in known)]
    depends = any(name in own or name in SPECIAL for name in macros)
    if depends or any(map(_CHANGES.search, parts)):
        raise CannotBundle(f"it is not known what this will be: {value}")
    return "\n ".join(parts)


def _macros_of(value: str, values: Mapping[str, str]) -> list[str]:
    """Macros that a value is made of, and those that they are made of."""
    todo, seen = [value], set[str]()
    while todo:
        for name in references(todo.pop()) - seen:
            seen.add(name)
            if name in values:
                todo.append(values[name])
    return sorted(seen)


def _task(commands: Mapping[str, str], values: Mapping[str, str], node: NodeOrder) -> Task:
    def text(name: str) -> str:
        return _expanded(name, commands.get(name, ""), values).strip()

    directory = os.path.join(node.directory, text("initialdir"))
    executable = text("executable")
    if not executable:
        raise CannotBundle("it has no executable")
    if URL.match(executable):
        raise CannotBundle("its executable is a URL")
    sends = values.get("transfer_executable", values.get("transferexecutable", "true"))
    sends = sends.strip().lower()
    if sends not in ("true", "false", "yes", "no", "1", "0"):
        raise CannotBundle(f"it has transfer_executable = {sends}")
    is_sent = sends in ("true", "yes", "1")  # its path is then not relative to initialdir
    if any(key in values for key in _IMAGES):
        _check_image(executable, is_sent, values)
    outputs, transfers = text("transfer_output_files"), _transfers(values)
    return Task(
        os.path.normpath(os.path.join(node.directory if is_sent else directory, executable)),
        is_sent,
        arguments_of(text("arguments")),
        environment_of(text("environment")),
        os.path.normpath(directory),
        _stream(text("input")),
        _stream(text("output")),
        _stream(text("error")),
        _files(text("transfer_input_files")),
        _outputs(outputs) if outputs else None,
        _remaps(text("transfer_output_remaps")),
        _number(text("success_exit_code") or "0"),
        transfers not in _NEVER,
        transfers not in (*_NEVER, *_ALWAYS),
        dict(files_of_job(values, directory)),
        dict(requests_of_job(values)),
    )


def _expanded(name: str, value: str, values: Mapping[str, str]) -> str:
    new = expand(value, values.get)
    if new is None:
        raise CannotBundle(f"it is not known what this will be: {name} = {value}")
    return new


def _check_image(executable: str, transfers: bool, values: Mapping[str, str]) -> None:
    """Some names are looked up in the container, or where the job runs."""
    if not (transfers or os.path.isabs(executable)):
        raise CannotBundle(
            f"its executable is one of the container's, without a path: {executable}"
        )
    if ("transfer_container" in values or "transfercontainer" in values) and any(
        key in _IMAGES for key, _ in files_of_job(values, "")
    ):
        raise CannotBundle("its image is where the job runs, without a path")


def _transfers(values: Mapping[str, str]) -> str:
    """What it has as `should_transfer_files`, in lower case; '' for HTCondor's default."""
    value = values.get("should_transfer_files", values.get("shouldtransferfiles", ""))
    if "$" in value:
        value = _expanded("should_transfer_files", value, values)
    return value.strip().lower()


def _stream(name: str) -> str:
    if URL.match(name):
        raise CannotBundle(f"it names a URL: {name}")
    return "" if name == "/dev/null" else name


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CannotBundle(f"it has success_exit_code = {text}") from None


def _files(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in _unquoted(text).split(",") if name.strip())
    for name in names:
        if URL.match(name):
            raise CannotBundle(f"it transfers a URL: {name}")
        if name.endswith("/") or "*" in name or os.path.basename(name) in _DOTS:
            raise CannotBundle(f"it transfers the contents of a directory: {name}")
        if os.path.basename(name) in _STREAMS:
            raise CannotBundle(f"a name is taken: {name}")
    return names


def _unquoted(text: str) -> str:
    """A list without the double quotes that it may stand in as a whole: `""` has nothing in it."""
    is_quoted = len(text) > 1 and text[0] == '"' == text[-1]
    return text[1:-1] if is_quoted else text


def _outputs(text: str) -> tuple[str, ...]:
    names = _files(text)
    for name in names:
        if "/" in name:  # HTCondor brings home what is in a directory under its last name
            raise CannotBundle(f"it transfers an output from a directory: {name}")
    return names


def _remaps(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in filter(None, map(str.strip, _unquoted(text).split(";"))):
        name, equals, place = (part.strip() for part in pair.partition("="))
        if not (name and equals and place) or "\\" in pair or URL.match(place):
            raise CannotBundle(f"it remaps outputs: {pair}")
        found[name] = place
    return found


def arguments_of(text: str) -> tuple[str, ...]:
    """The arguments of a description.

    Raises:
        CannotBundle: the quotes are wrong.
    """
    try:
        return tuple(parse_arguments(text))
    except ValueError as error:
        raise CannotBundle(f"its arguments: {error}") from None


def environment_of(text: str) -> dict[str, str]:
    """The environment of a description; the old syntax separates by `;`."""
    pairs: Iterable[str]
    if text.startswith('"'):
        try:
            pairs = parse_quoted(text)
        except ValueError as error:
            raise CannotBundle(f"its environment: {error}") from None
    elif '"' in text:
        raise CannotBundle(f"its environment has a double quote: {text}")
    else:
        pairs = filter(None, (pair.lstrip() for pair in text.split(";")))
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise CannotBundle(f"its environment has no value for {name}")
        found[name] = value
    return found


def without_task(text: str) -> str:
    """A description without the lines of the task of its node."""
    kept = (one for one in statements(text) if (one.assigned or ("",))[0] not in _TASK_OF)
    return "".join(one.text for one in kept)
