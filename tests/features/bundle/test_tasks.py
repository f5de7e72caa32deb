"""What of a description is a node's task, and which nodes can go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import join, normpath

import htcondor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters.descriptions import expanded
from condor_pydagman.config import Config
from condor_pydagman.features.bundle.adapters.look import look_order
from condor_pydagman.features.bundle.tasks import (
    CannotBundle,
    NodeOrder,
    Task,
    arguments_of,
    described,
    environment_of,
    packable,
    without_task,
)
from condor_pydagman.graph.model import Dag, Variable
from condor_pydagman.language.description import SET, SPECIAL, template_of
from condor_pydagman.records.job_description import AtSubmission, Workflow, added_lines, describe

FIRST = ("process", "procid", "row", "step", "itemindex")
NAMES_OF_NODE = ("dag_node_name", "submit_event_notes")

# What the programs of jobs got under HTCondor 25.14.1; None: it refuses the description.
ARGUMENTS: Mapping[str, Sequence[str] | None] = {
    "": [],
    "a b  c": ["a", "b", "c"],
    "a\tb": ["a", "b"],
    'a "b" c': None,
    r"a \"b\" c": ["a", '"b"', "c"],
    r"a\ b": ["a\\", "b"],
    "a 'b c' d": ["a", "'b", "c'", "d"],
    r"a\b \\ c": ["a\\b", "\\\\", "c"],
    'a"b': None,
    'a"': None,
    "it's": ["it's"],
    "a 'b": ["a", "'b"],
    "\u00e9 b": ["\u00e9", "b"],
    '""': [],
    '"a b  c"': ["a", "b", "c"],
    '"  a  "': ["a"],
    '"a\tb"': ["a", "b"],
    "\"a 'b c' d\"": ["a", "b c", "d"],
    "\"a 'b''c' d\"": ["a", "b'c", "d"],
    '"a ""b"" c"': ["a", '"b"', "c"],
    '"a"" b"': ['a"', "b"],
    '"a "" b"': ["a", '"', "b"],
    '""""': ['"'],
    "\"''\"": [""],
    "\"a '' b\"": ["a", "", "b"],
    "\"a'b'c\"": ["abc"],
    "\"a''b\"": ["ab"],
    "\"'a''b'\"": ["a'b"],
    "\"' '\"": [" "],
    "\"''''\"": ["'"],
    "\"''''''\"": ["''"],
    r'"a\ b"': ["a\\", "b"],
    '"$HOME"': ["$HOME"],
    '"a;b|c>d % e"': ["a;b|c>d", "%", "e"],
    '"\u00e9"': ["\u00e9"],
    r'"\"a\""': None,
    '"a': None,
    '"""': None,
    '"a" b': None,
    '"\'a"': None,
    '"a\'b c"d\'e"': None,
}
ENVIRONMENTS: Mapping[str, Mapping[str, str] | None] = {
    "": {},
    "A=1;B=2": {"A": "1", "B": "2"},
    "A=1 ; B=2": {"A": "1 ", "B": "2"},
    "A = 1": {"A ": " 1"},
    "A=": {"A": ""},
    "A": None,
    "=1": None,
    "A=1;;B=2": {"A": "1", "B": "2"},
    "A=1;": {"A": "1"},
    "A=1;A=2": {"A": "2"},
    "A=a b;B=c": {"A": "a b", "B": "c"},
    "A='a'": {"A": "'a'"},
    "A=a=b": {"A": "a=b"},
    "A=a|B=b": {"A": "a|B=b"},
    "A=x\ty": {"A": "x\ty"},
    '""': {},
    '"  "': {},
    '"A=1 B=2"': {"A": "1", "B": "2"},
    '"A=1 A=2"': {"A": "2"},
    "\"A='a b' B=c\"": {"A": "a b", "B": "c"},
    "\"'A=a b'\"": {"A": "a b"},
    "\"'A'=1\"": {"A": "1"},
    "\"A='a''b'\"": {"A": "a'b"},
    "\"A=''\"": {"A": ""},
    '"A=a""b"': {"A": 'a"b'},
    '"A="': {"A": ""},
    '"A=1;B=2"': {"A": "1;B=2"},
    '"A=a=b"': {"A": "a=b"},
    '"A"': None,
    '"=1"': None,
    '"A=1': None,
    '"A=\ta"': None,
}
PLAIN = "executable = job\narguments = $(n)\nqueue\n"


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments_are_those_that_htcondor_gives(text: str) -> None:
    want = ARGUMENTS[text]
    if want is not None:
        assert list(arguments_of(text)) == want
        return
    with pytest.raises(CannotBundle):
        arguments_of(text)


@pytest.mark.parametrize("text", ENVIRONMENTS)
def test_environments_are_those_that_htcondor_gives(text: str) -> None:
    want = ENVIRONMENTS[text]
    if want is not None:
        assert environment_of(text) == want
        return
    with pytest.raises(CannotBundle):
        environment_of(text)


@pytest.mark.parametrize("text", ['A="a"', r"A=\"a\""])
def test_double_quotes_in_an_old_environment_are_left_to_htcondor(text: str) -> None:
    with pytest.raises(CannotBundle):
        environment_of(text)


def node(name: str = "A", **fields: object) -> NodeOrder:
    return NodeOrder(0, name, 0, "/dag", "")._replace(**fields)  # type: ignore[arg-type]


def task(text: str, of: NodeOrder | None = None) -> Task:
    return packable(described(text), of or node())[1]


def kind(text: str, of: NodeOrder | None = None) -> str:
    return packable(described(text), of or node())[0]


def why(text: str, of: NodeOrder | None = None) -> str:
    with pytest.raises(CannotBundle) as caught:
        packable(described(text), of or node())
    return str(caught.value)


@pytest.mark.parametrize("statement", ["iterate 2", "queue x in (a)", "queue\niter 1"])
def test_a_description_of_several_jobs(statement: str) -> None:
    assert "queue statement" in why(f"executable = job\n{statement}\n")


@pytest.mark.parametrize("statement", ["iter", "Iterate 1", "iter = 3\nqueue"])
def test_a_description_of_one_job(statement: str) -> None:
    assert task(f"executable = job\n{statement}\n").program == "/dag/job"


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_variable_of_several_lines(place: str) -> None:
    of = node(**{place: (("x", "1\nqueue 2"),)})
    assert why("executable = job\nqueue\n", of) == "the value of x has more than one line"


def test_a_task_with_nothing_but_a_program() -> None:
    assert task("executable = job\nqueue\n") == Task(
        program="/dag/job",
        transfers_program=True,
        arguments=(),
        environment={},
        directory="/dag",
        input="",
        output="",
        error="",
        inputs=(),
        outputs=None,
        remaps={},
        success=0,
        transfers_files=True,
        if_needed=True,
    )


def test_a_task_with_everything() -> None:
    text = """
        executable = ../bin/job
        transfer_executable = false
        arguments = "$(job) 'a b' $(n)"
        environment = "X=$(retry) Y=2"
        initialdir = run/$(job)
        input = in.txt
        output = $(job).out
        error = /dev/null
        transfer_input_files = a, /data/b,c
        transfer_output_files = x, y
        transfer_output_remaps = "x = sub/x ; y=z"
        success_exit_code = 3
        should_transfer_files = NO
        log = x.log
        queue 1
    """
    text = text.replace("\n        ", "\n")
    assert task(text, node(retry=2, before=(("n", "7"),))) == Task(
        program="/dag/run/bin/job",
        transfers_program=False,
        arguments=("A", "a b", "7"),
        environment={"X": "2", "Y": "2"},
        directory="/dag/run/A",
        input="in.txt",
        output="A.out",
        error="",
        inputs=("a", "/data/b", "c"),
        outputs=("x", "y"),
        remaps={"x": "sub/x", "y": "z"},
        success=3,
        transfers_files=False,
    )


def test_a_program_that_is_transferred_is_not_looked_for_in_the_initial_directory() -> None:
    """As HTCondor 25.14.1 has it, whether or not other files are transferred."""
    text = "executable = bin/j\ninitialdir = run\ntransfer_executable = {}\nqueue\n"
    programs = [task(text.format(value)).program for value in ("true", "false")]
    assert programs == ["/dag/bin/j", "/dag/run/bin/j"]


@pytest.mark.parametrize(
    ("value", "outputs"), [("", None), ('""', ()), (",", ()), ('"x, y"', ("x", "y"))]
)
def test_output_files_may_be_none_or_all(value: str, outputs: tuple[str, ...] | None) -> None:
    """As HTCondor 25.14.1 has it: what is empty does not count."""
    assert task(f"executable = j\ntransfer_output_files = {value}\nqueue\n").outputs == outputs


def test_a_list_of_files_may_stand_in_quotes() -> None:
    text = "executable = j\ntransfer_input_files = {}\nqueue\n"
    assert task(text.format('"a, b"')).inputs == ("a", "b")
    assert task(text.format('""')).inputs == ()


def test_variables_stand_before_or_behind_the_description() -> None:
    text = "n = 1\nm = 1\nexecutable = j\narguments = $(n) $(m) $(k)\nqueue\n"
    of = node(before=(("N", "2"), ("k", "2")), after=(("M", "3"),))
    assert task(text, of).arguments == ("1", "3", "2")


def test_the_job_of_a_node_is_the_first_of_its_cluster() -> None:
    found = task("executable = j\narguments = $(Process)\noutput = $(JOB).$(ProcId)\nqueue\n")
    assert (found.arguments, found.output) == (("0",), "A.0")


def test_a_default_counts_if_there_is_no_such_macro() -> None:
    assert task("executable = j\narguments = $(n:5) $(k)\nk = 2\nqueue\n").arguments == ("5", "2")
    assert task("executable = j\narguments = $(n:5)\nn =\nqueue\n").arguments == ("5",)


@pytest.mark.parametrize("name", ["item", "dollar", "log", "notification"])
def test_macros_that_htcondor_sets_are_for_it_to_say(name: str) -> None:
    assert why(f"executable = j\n{name} = x\narguments = $({name})\nqueue\n")


@pytest.mark.parametrize("name", sorted(SET - {"job", "retry", *FIRST, *NAMES_OF_NODE}))
@pytest.mark.parametrize(
    "line", ["output = o.$({}:0)", "arguments = $({}:0)", "+Mine = $({}:0)", "m = $({}:0)"]
)
def test_what_others_set_has_no_default(name: str, line: str) -> None:
    line = line.format(name) + "\nenvironment = A=$(m)" * line.startswith("m ")
    if line[0] != "+" or name in SPECIAL:  # the job of the bundle has the rest as one of its own
        assert why(f"executable = j\n{line}\nqueue\n")


@pytest.mark.parametrize("name", FIRST)
def test_numbers_of_the_first_job_are_known_unless_they_are_set(name: str) -> None:
    text = f"executable = j\narguments = $({name}:5)\nqueue\n"
    assert task(text).arguments == ("0",)
    assert task(text, node(before=((name.upper(), "7"),))).arguments == ("7",)
    assert task(text, node(after=((name, ""),))).arguments == ("5",)
    assert task(f"{name} = 8\n{text}", node(before=((name, "7"),))).arguments == ("8",)


NAMES = ("v", "w", "Process", "cluster", "Row", "JobId", "YEAR", "retry", "DAG_STATUS", "item")
TOKENS = (
    *(f"$({name})" for name in NAMES),
    *(f"$({name}:5)" for name in NAMES),
    *("$(none:", ")", "$INT(v)", "$F(w)", "$CHOICE(v,a,b)", "1", "/x.y", "-", ",", "_"),
)
OWN_VALUES = st.sampled_from(("", "0", "x-1", "$(none:a)"))
VALUES = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=4).map("".join)


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES), OWN_VALUES), max_size=3),
    VALUES,
    VALUES,
)
def test_a_task_has_what_htcondor_makes_of_its_description(
    variables: Sequence[tuple[bool, str, str]], output: str, directory: str
) -> None:
    """Random descriptions and VARS; the description is that which DAGMan gives to HTCondor."""
    text = f"executable = j\noutput = {output}\ninitialdir = {directory}\nqueue\n"
    dag = Dag(files=["t.dag"])
    dag.add_node("A", "a.sub")
    dag.variables[0] = tuple(Variable(key, value, append) for append, key, value in variables)
    dag.finish()
    (order,) = look_order(dag, "/dag", [(0, 0, 0, ())]).nodes
    try:
        found = task(text, node(before=order.before, after=order.after))
    except CannotBundle:
        return
    submit = htcondor2.Submit(
        describe(dag, 0, template_of(text), Workflow(1, "/nodes.log", Config()))
    )
    assert found.output == expanded(submit, "output").strip()
    assert found.directory == normpath(join("/dag", expanded(submit, "initialdir").strip()))


def test_every_macro_that_dagman_adds_is_one_that_others_set() -> None:
    config = Config(hold_claim_time=5, record_machine_attrs="A", suppress_job_logs=True)
    dag = Dag(files=["t.dag"])
    for name in "ABC":
        dag.add_node(name, "a.sub")
    dag.add_edges([0], [1])
    dag.add_edges([1], [2])
    dag.finish()
    at = AtSubmission(hold=True, priority=5)
    workflow = Workflow(1, "/n", config, "b", "i", "g", "u")
    added = "".join(added_lines(dag, 1, workflow, at)).splitlines()
    names = {line.partition("=")[0].strip().lower() for line in added}
    assert {name for name in names if not name.startswith("my.")} <= SET | {"log"}


@pytest.mark.parametrize(
    "value",
    ["$(Cluster)", "$(no_such)", "$ENV(HOME)", "$RANDOM_INTEGER(1,2)", "$$(Arch)"],
)
@pytest.mark.parametrize("command", ["arguments", "output", "executable", "transfer_input_files"])
def test_what_nobody_can_know_makes_a_node_run_alone(command: str, value: str) -> None:
    assert why(f"executable = j\n{command} = {value}\nqueue\n")


# What must be equal.


def test_tasks_may_differ() -> None:
    one = kind("executable = a\narguments = 1\noutput = o1\nenvironment = A=1\nqueue\n")
    assert one == kind("executable = b\narguments = 2\nerror = e2\ninitialdir = x\nqueue\n")


@pytest.mark.parametrize(
    "line",
    [
        "requirements = Memory > 5",
        "request_memory = 100",
        "rank = Memory",
        "concurrency_limits = a",
        "accounting_group = a",
        "getenv = true",
        "container_image = /a.sif",
        "My.Foo = 1",
        "+Foo = 1",
        "priority = 3",
        "transfer_executable = false",
        "should_transfer_files = no",
    ],
)
def test_all_else_must_be_equal(line: str) -> None:
    text = "executable = j\n{}\nqueue\n"
    assert kind(text.format(line)) != kind(text.format(""))
    assert kind(text.format(line)) == kind(text.format(f"arguments = 1\n{line}"))
    other = line.rpartition("=")[0] + "= other"
    if "transfer_executable" not in line:
        assert kind(text.format(line)) != kind(text.format(other))


def test_a_macro_counts_by_what_it_makes() -> None:
    text = "executable = j\nrequest_memory = $(m)\nunused = $(n)\nqueue\n"
    of = [node(before=(("m", m), ("n", "1"))) for m in ("1", "2", "1")]
    first, second, third = (kind(text, one) for one in of)
    assert first == third != second


def test_a_macro_of_the_task_may_differ() -> None:
    of = [node(before=(("n", n),)) for n in "12"]
    assert len({kind(PLAIN, one) for one in of}) == 1
    own = [kind(f"n = {n}\n{PLAIN}") for n in "12"]
    assert own[0] == own[1]


def test_a_macro_that_is_not_used_may_differ() -> None:
    """As that of a SWEEP that is only for its names or edges."""
    of = [node(before=(("n", "1"), ("row", n))) for n in "12"]
    assert kind(PLAIN, of[0]) == kind(PLAIN, of[1])


@pytest.mark.parametrize(
    "name",
    [
        *("request_memory", "rank", "+Mine", "my.Mine", "request_licences", "RequestCpus"),
        *(
            "ImageSize",
            "JobLeaseDuration",
            "NiceUser",
            "use_x509userproxy",
            "s3_access_key_id_file",
        ),
        *("project_name", "jobset", "mount_under_scratch", "KeepClaimIdle", "box_container_port"),
        *("box_oauth_permissions", "box_oauth_resource_handle", "want_job_networking"),
    ],
)
def test_a_variable_that_is_a_command_must_be_equal(name: str) -> None:
    of = [node(before=(("n", "1"), (name, n))) for n in "12"]
    assert kind(PLAIN, of[0]) != kind(PLAIN, of[1])


def test_a_variable_that_is_a_command_of_the_access_point_must_be_equal() -> None:
    of = [node(before=(("n", "1"), ("Project", n))) for n in "12"]
    kinds = [packable(described(PLAIN), one, {"project"})[0] for one in of]
    assert kinds[0] != kinds[1]


def test_what_others_say_must_be_equal() -> None:
    assert kind(PLAIN, node(before=(("n", "1"),), equal=(1,))) != kind(
        PLAIN, node(before=(("n", "1"),), equal=(2,))
    )


@pytest.mark.parametrize("value", ["ON_EXIT", "on_exit", "$(no_such:ON_EXIT)"])
def test_the_usual_time_of_transfers_is_as_none(value: str) -> None:
    text = f"executable = j\nwhen_to_transfer_output = {value}\nqueue\n"
    assert kind(text) == kind("executable = j\nqueue\n")


@pytest.mark.parametrize("name", ["in", "out", "err", "cmd", "memory", "grid_size", "stream"])
def test_a_macro_may_have_a_name_like_a_command(name: str) -> None:
    text = f"executable = j\noutput = o\narguments = $({name})\nqueue\n"
    of = [node(before=((name, n),)) for n in "12"]
    assert kind(text, of[0]) == kind(text, of[1])
    assert [task(text, one).arguments for one in of] == [("1",), ("2",)]


def test_the_first_name_of_a_command_counts() -> None:
    """As HTCondor 25.14.1 has it."""
    text = """
        iwd = a
        job_iwd = b
        cmd = other
        executable = job
        env = A=1
        environment = B=1
        stdout = no
        output = yes
        in = no
        queue
    """
    found = task(text.replace("\n        ", "\n"))
    assert (found.program, found.directory) == ("/dag/job", "/dag/a")
    assert (found.environment, found.output, found.input) == ({"B": "1"}, "yes", "")


def test_a_line_of_the_job_that_uses_a_command_of_the_task_makes_it_run_alone() -> None:
    """It would get the program of the bundle."""
    text = "x = $(executable)\nexecutable = j\nMy.Program = $(x)\nqueue\n"
    assert why(text) == "it uses what is the task's own: my.program = $(x)"


def test_an_unknown_value_that_depends_on_the_node_makes_it_run_alone() -> None:
    text = "executable = j\nrequirements = x == $INT(n)\nqueue\n"
    assert "it is not known what this will be" in why(text, node(before=(("n", "1"),)))
    assert kind(text) == kind(text)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "on_exit_hold = true",
            "on_exit_remove = false",
            "periodic_remove = x",
            "max_retries = 3",
        ),
        *("retry_until = 0", "checkpoint_exit_code = 85", "cron_minute = 1", "deferral_time = 1"),
        *("stream_output = true", "stream_error = true", "kill_sig = 9", "noop_job = true"),
        *("hold = true", "leave_in_queue = true", "max_idle = 3", "output_destination = x"),
        *("preserve_relative_paths = true", "encrypt_input_files = x", "remote_initialdir = x"),
        *("arguments2 = x", "when_to_transfer_output = ON_SUCCESS", "allowed_execute_duration = 5"),
        *("whentotransferoutput = ON_EXIT_OR_EVICT", "My.WhenToTransferOutput = x"),
        *("allowed_job_duration = 5", "max_transfer_output_mb = 5", "max_transfer_input_mb = 5"),
        *("MaxTransferOutputMB = 5", "CronMinute = 1", "tooldaemoncmd = x", "JobUniverse = 12"),
        *("transfer_plugins = a=b", "erase_output_and_error_on_restart = false", "RemoteIwd = x"),
        *('+PreCmd = "x"', "My.PostCmd = x", '+HookKeyword = "x"', "+CheckpointExitCode = 85"),
        *('+Mine = "$(My.DAGManNodeRetry)"', "+Mine = $INT(retry)"),
        *("submit.executable = x", "should_transfer_files = $CHOICE(1,YES,NO)"),
        *("concurrency_limits_expr = x", '+ConcurrencyLimits = "a"'),
        *("My.PeriodicRemove = x", "+OnExitHold = true", "My.Args = x", '+Cmd = "x"', "+Env = x"),
        *('+TransferInput = "x"', "My.Iwd = x", "My.JobMaxRetries = 3", "+WantGracefulRemoval = x"),
        *("universe = local", "universe = parallel", "universe = docker", "universe = scheduler"),
    ],
)
def test_what_a_bundle_cannot_give_to_one_task_makes_it_run_alone(line: str) -> None:
    assert why(f"executable = j\n{line}\nqueue\n")


@pytest.mark.parametrize("macro", ["JOB", "dag_node_name", "submit_event_notes"])
def test_a_name_of_the_node_keeps_it_apart(macro: str) -> None:
    text = f'executable = j\nsubmit_event_notes = x\n+Mine = "$({macro})"\nqueue\n'
    assert kind(text, node("A")) != kind(text, node("B"))
    plain = "executable = j\nsubmit_event_notes = x\nqueue\n"
    assert kind(plain, node("A")) == kind(plain, node("B"))


@pytest.mark.parametrize(
    "lines",
    [
        "m = {}\nrequest_memory = $INT(m)",
        "m = {}\n+Mine = $(a_knob) $(m)",
        "m = $(k)\nk = {}\n+Mine = $(a_knob) $(m)",
    ],
)
def test_macros_of_what_nobody_can_know_must_be_equal(lines: str) -> None:
    one, other = (kind(f"executable = j\n{lines.format(value)}\nqueue\n") for value in "12")
    assert one != other


def test_an_image_is_where_its_node_is() -> None:
    """The job of a bundle has another initial directory."""
    text = "executable = j\ncontainer_image = {}\nqueue\n"
    dirs = [node(directory=name) for name in ("/one", "/two")]
    assert [task(text.format("a.sif"), one).files_of_job for one in dirs] == [
        {"container_image": "/one/a.sif"},
        {"container_image": "/two/a.sif"},
    ]
    assert len({kind(text.format("a.sif"), one) for one in dirs}) == 2
    for image in ("/a.sif", "docker://a"):
        assert task(text.format(image)).files_of_job == {}
        assert len({kind(text.format(image), one) for one in dirs}) == 1


@pytest.mark.parametrize("universe", ["", "vanilla", "Vanilla", "container", "5"])
def test_universes_that_can_be_bundled(universe: str) -> None:
    kind(f"executable = j\nuniverse = {universe}\nqueue\n")


@pytest.mark.parametrize(
    "text",
    [
        "queue\n",
        "executable =\nqueue\n",
        "executable = http://x/y\nqueue\n",
        "executable = j\nqueue 2\n",
        "executable = j\nqueue a from b\n",
        "executable = j\nqueue\nqueue\n",
        "executable = j\ninclude : x\nqueue\n",
        "executable = j\nif true\nendif\nqueue\n",
        "executable = j\noutput = osdf:///x\nqueue\n",
        "executable = j\ntransfer_input_files = http://x/y\nqueue\n",
        "executable = j\ntransfer_input_files = dir/\nqueue\n",
        "executable = j\ntransfer_input_files = dir/..\nqueue\n",
        "executable = j\ntransfer_input_files = a/_stdout\nqueue\n",
        "executable = j\ntransfer_output_files = .\nqueue\n",
        "executable = j\ntransfer_output_files = _stderr\nqueue\n",
        'executable = j\ntransfer_output_remaps = "a=http://x/y"\nqueue\n',
        'executable = j\ntransfer_output_remaps = "a"\nqueue\n',
        "executable = j\nsuccess_exit_code = x\nqueue\n",
        "executable = j\ntransfer_executable = maybe\nqueue\n",
        # What is looked up where the job runs.
        "executable = j\ntransfer_executable = false\ncontainer_image = /a.sif\nqueue\n",
        "executable = j\nTransferExecutable = false\ndocker_image = a\nqueue\n",
        "executable = j\ncontainer_image = a.sif\ntransfer_container = false\nqueue\n",
        # What a macro was before is for HTCondor to say.
        "executable = j\n+Mine = $EVAL(m)\nm = random(9)\nqueue\n",
        "executable = j\nrequirements = A\nrequirements = $(requirements) && B\nqueue\n",
        "executable = j\nm = 1\nm = $(m) 2\n+Mine = $(m)\nqueue\n",
        "executable = j\nm = $RANDOM_INTEGER(1,2)\n+Mine = $(m)\nqueue\n",
    ],
)
def test_descriptions_that_say_too_much_or_too_little(text: str) -> None:
    assert why(text)


def test_the_jobs_description_has_no_line_of_the_task() -> None:
    text = "executable = j\nrequest_memory = 5\nArguments = a \\\n b\n+Foo = 1\nENV = A=1\nm = 2"
    kept = without_task(text)
    assert kept == "request_memory = 5\n+Foo = 1\nm = 2\n"
