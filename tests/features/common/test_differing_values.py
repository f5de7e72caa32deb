"""Lines of a description that nodes share: which may differ, and by which values."""

from __future__ import annotations

import pytest

from condor_pydagman.features.common.shared_description import have_same_form, may_differ, shared
from condor_pydagman.language.description import NOTHING, template_of
from tests.features.common.test_shared_description import TEMPLATE, lines


def test_both_values_must_have_the_form_of_an_item() -> None:
    assert have_same_form("a", "b c")
    assert have_same_form('"a"', '"b"')
    assert have_same_form("http://a/b", "x,http://c")
    assert not have_same_form("http://a", "https://a")


def test_keys_are_compared_without_case() -> None:
    assert may_differ(["V "], "Arguments = $(v)\n")
    assert not may_differ(["V "], "GetEnv = $(v)\n")


@pytest.mark.parametrize(
    "other",
    [
        "",
        "/dev/null",
        "undefined",
        "s3://b/f",
        "http:",
        "$(v)",
        "$(x:)",
        "$ENV(X)",
        '"q"',
        NOTHING + " ",
    ],
)
def test_values_that_can_not_be_items(other: str) -> None:
    """The proc would have the value of the first one, or none."""
    for pair in (("1", other), (other, "1")):
        assert shared(TEMPLATE, [lines(n, v) for n, v in zip("AB", pair)]) == ("", 1)


@pytest.mark.parametrize("value", ["x$(DOLLAR)y", "a b" + NOTHING, "#", ")", "\u00fc", "a,b"])
def test_values_that_can_be_items(value: str) -> None:
    assert shared(TEMPLATE, [lines("A", "1"), lines("B", value)])[1] == 2


@pytest.mark.parametrize(
    "body",
    [
        "output = $(v)\n",
        "+Foo = $(v)\n",
        "My.Foo = 1 + $INT(v)\n",
        "arguments = a \\\n $(v)\n",
        "arguments = x $Fn(v)\n",
        "name = $(v)\noutput = $(name)\n",
        "transfer_input_files = http://host/$(v)\n",
        "name = $Fn(v)\noutput = $(name).out\n",
        "# getenv = $(v)\narguments = $(v)\n",
        "getenv = true\nrequest_gpus = 1\nenvironment = A=1\narguments = $(v)\n",
    ],
)
def test_lines_that_may_differ(body: str) -> None:
    assert shared(template_of(body), [lines("A", "1"), lines("B", "2")])[1] == 2


@pytest.mark.parametrize(
    "body",
    [
        "request_gpus = $(v)\n",
        "GetEnv = $(V)\n",
        "environment = A=$(v)\n",
        "docker_image = x:$(v)\n",
        "name = x$(v)\ncontainer_image = $(name)\n",
        "executable = $(v)\n",
        "nice_user = $(v)\narguments = $(nice_user)\n",
        "a_command_of_later_versions = $(v)\n",
        "transfer_executable = $CHOICE(v,true,false)\n",
        "request_gpus = $RANDOM_CHOICE(0,1)\narguments = $(v)\n",
        "output = $Fp(v)\n",
        'arguments = "$Fp(v)"\n',
        "name = $Fp(v)\noutput = $(name)\n",
        "My.Foo = $SUBSTR(v,1)\n",
        "My.DeferralTime = $(v)\n",
        "+WantContainer = $(v)\n",
        "transfer_input_files = a, $(v)://host/b\n",
        "",
    ],
)
def test_lines_that_must_be_the_same(body: str) -> None:
    assert shared(template_of(body), [lines("A", "1"), lines("B", "2")]) == ("", 0)


@pytest.mark.parametrize("key", ["getenv", "docker_image", "request_GPUs", "nice_user"])
def test_commands_that_nodes_set_must_be_the_same(key: str) -> None:
    nodes = [lines(name, more=f"{key} = {name}\n") for name in "AB"]
    assert shared(TEMPLATE, nodes) == ("", 0)
    nodes = [lines(name, more=f"{key} = A\n") for name in "AB"]
    assert shared(TEMPLATE, nodes)[1] == 2
