"""What the checker says of request files."""

from __future__ import annotations

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld

GOOD = "dap_type = transfer\nsrc_url = http://h/$(file)\ndest_url = $ENV(HOME)/x\n"


def findings(dag: str, **files: str) -> list[tuple[str, str, int, int, str]]:
    world = PaperWorld(
        {"t.dag": dag, **{name.replace("_", "."): text for name, text in files.items()}}
    )
    found = lint(["t.dag"], world, BuildOptions()).kept
    return [(one.code, one.file, one.line, one.column, one.hint) for one in found]


def test_good_requests() -> None:
    assert findings('DATA in in.dap\nVARS in file="a"\n', in_dap=GOOD) == []
    assert findings("DATA in in.sub\n", in_sub="executable = /bin/true\nqueue\n") == []


def test_a_wrong_request_has_its_place() -> None:
    assert findings("DATA in in.dap\n", in_dap=GOOD) == [
        ("DAG309", "in.dap", 2, 11, "set it with VARS, or give a default: $(file:default)")
    ]


def test_a_file_that_several_nodes_name_is_blamed_once() -> None:
    dag = "DATA in in.dap\nDATA out in.dap\n"
    assert len(findings(dag, in_dap="dap_type = transfre\n")) == 1


def test_inline_requests() -> None:
    dag = "DATA in {\n dap_type = release\n dest_hots = h\n}\nDATA done nope.dap DONE\n"
    ((code, file, line, _, hint),) = findings(dag)
    assert (code, file, line, hint) == ("DAG309", "t.dag", 1, "did you mean dest_host?")


def test_what_a_match_to_a_site_sets() -> None:
    """The macros of a group's site, in the request and in VARS; nowhere else."""
    request = GOOD.replace("http://h/", "$( match_Door )/").replace("$(file)", "$(file)$(JOB)")
    dag = 'DATA in in.dap\nVARS in file="$(MATCH_Name)"\n'
    assert findings(f"{dag}SITE_GROUP g NODES in\n", in_dap=request) == []
    ((code, _, line, _, _),) = findings(dag, in_dap=request)
    assert (code, line) == ("DAG309", 2)


def test_an_order_that_makes_no_sense() -> None:
    space = "[ dap_type = {}; dest_host = h; allocation_id = a; ]\n"
    request = space.format("release") + (
        "[ dap_type = transfer; src_url = /a; dest_url = /b; allocation_id = a ]\n"
    )
    hint = "requests that name one allocation run in the order of the file; all others run at once"
    assert findings("DATA in in.dap\n", in_dap=request) == [("DAG313", "in.dap", 2, 0, hint)]
    inline = f"DATA in {{\n{request}}}\n"
    assert [(code, line) for code, _, line, *_ in findings(inline)] == [("DAG313", 1)]


def test_a_final_node_may_release() -> None:
    dag, request = "JOB a a.sub\nFINAL f f.dap\n", "dap_type = release\ndest_host = h\n"
    job = "executable = /bin/true\nqueue\n"
    assert findings(dag, a_sub=job, f_dap=request) == []
    ((code, _, line, *_),) = findings(dag, a_sub=job, f_dap=request.replace("= h", "= $(no)"))
    assert (code, line) == ("DAG309", 2)
    assert findings(dag, a_sub=job, f_dap=job) == []


def test_an_allocation_without_a_size() -> None:
    """Unless a module makes it, or nobody can know yet which one."""
    request = "dap_type = allocate\ndest_host = {}\n"
    ((code, file, line, *_),) = findings("DATA in in.dap\n", in_dap=request.format("h"))
    assert (code, file, line) == ("DAG314", "in.dap", 1)
    for host in ("nest", "$ENV(HOST)"):
        assert findings("DATA in in.dap\n", in_dap=request.format(host)) == []
    at_a_site = "DATA in in.dap\nSITE_GROUP g NODES in\n"
    assert findings(at_a_site, in_dap=request.format('"$(MATCH_Door)"')) == []


def test_a_pattern_to_a_file() -> None:
    request = 'dap_type = transfer\nsrc_url = "/a/{}"\ndest_url = "/b/{}"\n'
    dag = "DATA in in.dap\nDATA again in.dap\n"
    ((code, file, line, *_),) = findings(dag, in_dap=request.format("*.txt", "x"))
    assert (code, file, line) == ("DAG315", "in.dap", 1)
    for source, destination in (("*.txt", "x/"), ("a[1]", "a[1]"), ("a", "b*")):
        assert findings(dag, in_dap=request.format(source, destination)) == []


def test_two_requests_that_write_one_file() -> None:
    request = "[ dap_type = transfer; src_url = {}; dest_url = {}; ]\n"

    def codes(*pairs: tuple[str, str]) -> list[tuple[str, int]]:
        text = "".join(request.format(*pair) for pair in pairs)
        return [(code, line) for code, _, line, *_ in findings("DATA in in.dap\n", in_dap=text)]

    assert codes(("/a/x", "/b/x"), ("/c/x", "/b/")) == [("DAG316", 2)]
    assert codes(("/a/x", "http://h/b"), ("/a/y", "http://h/b")) == [("DAG316", 2)]
    assert codes(("/a/x", "/b/x"), ("/a/x", "/c/x")) == []
    assert codes(("/a/", "/d/"), ("/b/", "/d/")) == []
    assert codes(('"/a/*"', "/d/"), ('"/b/*"', "/d/")) == []
