"""Submit descriptions: what the schedd's side of the bindings reads is what the user wrote, and an
accounting group has a user."""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path
from typing import Any

import htcondor2
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from condor_pydagman.adapters import descriptions
from condor_pydagman.adapters.submit_checks import remarks_of, values
from condor_pydagman.errors import PoolError
from condor_pydagman.language.description import Queue
from condor_pydagman.language.lexer import item_text

ME = pwd.getpwuid(os.geteuid()).pw_name


class Schedd:
    """Reads a description as `htcondor2.Schedd.submit` does; refuses what has no items."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def submit(self, description: Any) -> htcondor2.Submit:
        pairs = "".join(f"{key} = {value}\n" for key, value in description.items())
        self.texts.append(f"{pairs}\nqueue {description.getQArgs()}\n")
        read = htcondor2.Submit(self.texts[-1])
        if Queue(read.getQArgs()).items and not _items(read):
            raise ValueError(descriptions.NO_ITEMS)
        return read


def _items(description: htcondor2.Submit) -> Any:
    try:
        found = description.itemdata()
    except ValueError as error:
        assert "invalid qargs" in str(error)  # Python's side knows no empty item
        return [""]
    return None if found is None else list(found)


def handed_over(text: str) -> htcondor2.Submit:
    return descriptions.submit(Schedd(), descriptions.parse(text), text)


@pytest.mark.parametrize(
    "value",
    ["a\nb", "one two\nthree = 3", "queue 3\n@end_\n", "[ a = 1;\nb = 2 ]", "@PYDAGMAN_END\nx"],
)
def test_values_of_several_lines(value: str) -> None:
    text = f"a = 1\ntext @=END\n{value}\n@END\nlast = $(text)\nqueue 2\n"
    read = handed_over(text)
    assert dict(read) == dict(descriptions.parse(text))
    assert read["text"] == value.strip()
    assert read.getQArgs() == "2"


# What the bindings read has no remarks, no blanks around a line, no backslash before a line's end.
LINES = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r#\\"), min_size=1).filter(
    lambda line: line == line.strip()
)


@given(st.dictionaries(st.sampled_from(["a", "B", "My.C"]), st.lists(LINES, min_size=1)))
def test_every_value_is_handed_over_as_it_was_read(values: dict[str, list[str]]) -> None:
    description = htcondor2.Submit("z = 1\nqueue\n")
    for key, lines in values.items():
        description[key] = "\n".join(lines)
    read = descriptions.submit(Schedd(), description, "queue\n")
    assert dict(read) == dict(description)


def test_a_backslash_at_the_end_swallows_nothing() -> None:
    description = htcondor2.Submit("z = 1\nqueue\n")
    description["a"] = "x\\"
    read = descriptions.submit(Schedd(), description, "queue\n")
    assert read.expand("a") == "x\\"
    assert read["z"] == "1"


@pytest.mark.parametrize(
    ("statement", "items"),
    [
        ("queue x in (a b)", ["a", "b"]),
        ("queue x in (a\nb\n)", ["a", "b"]),
        ("queue x from (\n a\n b c\n)", ["a", "b c"]),
        ("queue x \\\n from (\na\n)", ["a"]),
        ("QUEUE 2 x From (\n\"q\" 'r'\nb\\c\n)", ["\"q\" 'r'", "b\\c"]),
        ("ite\\\n rate x from (\na\n# b \\\nc\n)", ["a", "c"]),
        ("iter from table(header csv) (\nx,y\na,b\n)", ["a"]),
    ],
)
def test_inline_items(statement: str, items: list[str]) -> None:
    read = handed_over(f"a = 1\n{statement}\nb = 2\n")
    assert [item["x"] for item in read.itemdata()] == items


def test_inline_items_of_one_of_two_statements() -> None:
    read = handed_over("if false\nqueue x in (\na\n)\nelse\nqueue x in (\nb\nc\n)\nendif\n")
    assert [item["x"] for item in read.itemdata()] == ["b", "c"]


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        ("queue x in ()", "x from (\n\n)"),
        ("queue 2 x in ()", "2 x from (\n\n)"),
        ("queue in ()", " from (\n\n)"),
        ("queue x from (\n)", "x from (\n\n)"),
        ("queue $(n)+1 x,y Matching files *.nothing", "$(n)+1 x,y from (\n\n)"),
        ("queue x from /dev/null", "x from (\n\n)"),
        ("queue x from false |", "x from (\n\n)"),
    ],
)
def test_no_items_make_a_job_for_each_count(statement: str, arguments: str) -> None:
    schedd = Schedd()
    text = f"n = 1\n{statement}\n"
    descriptions.submit(schedd, descriptions.parse(text), text)
    assert schedd.texts[-1].endswith(f"\nqueue {arguments}\n")
    assert len(schedd.texts) == 2


@pytest.mark.parametrize(
    "text", ["queue x in [1:] ()\n", "max_idle = 2\nqueue x in ()\n"], ids=["slice", "late"]
)
def test_no_items_are_an_error_where_stock_has_one(text: str) -> None:
    with pytest.raises(ValueError, match=descriptions.NO_ITEMS):
        handed_over(text)


def test_another_error_is_not_tried_again() -> None:
    class Refusing(Schedd):
        def submit(self, description: Any) -> htcondor2.Submit:
            super().submit(description)
            raise ValueError("invalid Queue statement, errmsg=something else")

    schedd = Refusing()
    with pytest.raises(ValueError, match="something else"):
        descriptions.submit(schedd, descriptions.parse("queue 2\n"), "queue 2\n")
    assert len(schedd.texts) == 1


@pytest.mark.parametrize(
    ("lines", "user"),
    [
        ("accounting_group = g.h", ME),
        ("AcctGroup = g.h", ME),
        ("AccountingGroup = g.h", ME),
        ("accounting_group = $(x)", ME),
        ("accounting_group = g\naccounting_group_user =", ME),
        ("accounting_group = g\naccounting_group_user = $(u)", f"$(u:{ME})"),
        ("accounting_group = g\nu = eva\naccounting_group_user = $(u)", "$(u)"),
        ("accounting_group = g\naccounting_group_user = marie", "marie"),
        ("accounting_group = g\nAcctGroupUser = marie", None),
        ("accounting_group_user = marie", "marie"),
        ("accounting_group =", None),
        ("nice_user = true", ME),
        ("nice_user = $(n)\nn = TRUE", ME),
        ("nice_user = false", None),
        ("nice_user = $(none)", None),
        ("nice_user = a b", None),
        ("nice_user = true\naccounting_group_user = marie", "marie"),
        ('My.AcctGroup = "g"', None),
        ("a = 1", None),
    ],
)
def test_who_is_charged(lines: str, user: str | None) -> None:
    description = descriptions.parse(f"{lines}\nqueue\n")
    descriptions.set_accounting_user(description)
    assert description.get("accounting_group_user") == user


def test_an_account_without_a_name_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000_000)
    with pytest.raises(ValueError, match="user 4000000000 has no name"):
        handed_over("accounting_group = g\nqueue\n")


def test_commands_of_a_description_run_once(tmp_path: Path) -> None:
    (tmp_path / "once").write_text(f"mkdir {tmp_path}/ran && echo a = 1\n")
    lines = [
        f"include : /bin/sh {tmp_path}/once |",
        "b @=end\nx\ny\n@end",
        "request_memory = $(a)$(x)",
        "zork = $(a)",
    ]
    text = "\n".join([*lines, "queue 2 x in (3 4)\n"])
    description = descriptions.parse(text)
    assert dict(descriptions.copy_of(description)) == dict(description)
    assert list(values(description, "request_memory")) == ["13", "13", "14", "14"]
    assert remarks_of(description, text)


@pytest.mark.parametrize("count", ["three", "3 4", "2 # two", "-1", "= 3", "1e999"])
def test_a_count_that_is_none(count: str) -> None:
    with pytest.raises(ValueError, match="the count is not a number"):
        descriptions.procs_of(descriptions.parse(f"queue {count}\n"))


def test_what_can_not_be_read() -> None:
    with pytest.raises(descriptions.Unreadable):
        descriptions.parse("a b c\nqueue\n")
    with pytest.raises(PoolError, match="not UTF-8"):
        descriptions.parse("a = \udcff\nqueue\n")


ITEM = (
    "executable = /bin/echo\nuniverse = {}\nitem = {}\nagain = $(item)\narguments = <{}>\nqueue\n"
)


def read_item(item: str, *, universe: str = "scheduler", use: str = "$(again)") -> str:
    text = ITEM.format(universe, item_text(item), use)
    return descriptions.expanded(descriptions.parse(text), "arguments")


PIECES = st.text("$()[]DOLARabE:.+ ", max_size=7) | st.sampled_from(
    ["$", "$$", "(DOLLAR)", "$(DOLLAR)", "([1 + 1])", "$ENV", "(HOME)", "a$ENV", "a$b", "$$([1])"]
)


@given(
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "x", "(y)", "(DOLLAR)", "$(DOLLAR)"]),
)
def test_items_are_text_whatever_they_are_joined_with_or_refused(
    items: list[str], between: str
) -> None:
    # HTCondor reads two $(DOLLAR) of the author side by side as `$$(DOLLAR)`, also without items.
    assume(between != "$(DOLLAR)" or all(item.strip() for item in items[1:-1]))
    lines = [f"item{place} = {item_text(item)}\n" for place, item in enumerate(items)]
    joined = between.join(f"$(item{place})" for place in range(len(items)))
    text = f"{''.join(lines)}arguments = <{joined}>\nqueue\n"
    try:
        read = descriptions.parse(text)
    except PoolError as error:
        assert re.search(r"^item\d has text that could become a macro", error.reason)
        return
    said = between.replace("$(DOLLAR)", "$").join(item.strip() for item in items)
    assert descriptions.expanded(read, "arguments") == f"<{said}>"
    assert "$$(" not in said
    assert "$$[" not in said


@pytest.mark.parametrize("item", ["$", "x$", "a$$b", "a$(b)", "a$[b]"])
def test_an_item_that_could_become_a_macro_is_refused_by_name(item: str) -> None:
    with pytest.raises(PoolError, match=rf"^item has text .*: {re.escape(item)}\. Such text"):
        read_item(item)
    unused = descriptions.parse(f"note = {item_text(item)}\nexecutable = a\nqueue\n")
    assert descriptions.expanded(unused, "executable") == "a"
    for key in ("arguments", "My.Note"):
        with pytest.raises(PoolError, match=f"^{key} has text"):
            descriptions.parse(f"{key} = {item_text(item)}\nqueue\n")


@pytest.mark.parametrize(
    "item",
    ["US$5", "a$b$c d", "x ${y}", "a$ENV(HOME)", "$ENV(HOME)", "$HOME/x", "(a)$b", "[1]", "(x)"],
)
@pytest.mark.parametrize("universe", ["vanilla", "scheduler"])
def test_an_item_with_a_harmless_dollar_is_text(item: str, universe: str) -> None:
    assert read_item(item, universe=universe) == f"<{item}>"


@pytest.mark.parametrize("use", ["$Fn(item)", "$EVAL(item)", "$STRING(again)"])
def test_a_function_that_would_expand_an_item_is_refused(use: str) -> None:
    with pytest.raises(PoolError, match=r"would expand the \$ in a\$ENV\(HOME\)"):
        read_item("a$ENV(HOME)", use=use)
    assert read_item("plain", use=use).strip('<>"')


def test_functions_of_other_macros_may_stand_beside_an_item() -> None:
    assert (
        read_item("a$x", use="$(item) $Fn(universe) $ENV(NO_SUCH:none)") == "<a$x scheduler none>"
    )


def test_bindings_that_refuse_older_daemons_are_told_with_what_to_do() -> None:
    said = "AUTHENTICATE:1004:Failed to authenticate using FS\nFS:1004:Directory name doesn't match"
    text = descriptions.reason_of(htcondor2.HTCondorException(f"{said} server's network address."))
    assert text.startswith("AUTHENTICATE:1004:Failed to authenticate using FS FS:1004:Directory")
    assert "bindings that are no newer: docs/administrators.md, Bindings and daemons" in text
    page = Path(__file__).parents[3] / "docs/administrators.md"
    assert "\n### Bindings and daemons\n" in page.read_text()


@pytest.mark.parametrize(("value", "late"), [("maybe", False), ("Yes", True), ("False", False)])
def test_a_default_that_is_no_boolean_makes_no_procs_late(value: str, late: bool) -> None:
    """Bindings before 25.1 end the process if they are asked for it."""
    description = descriptions.parse("executable = a\nqueue\n")
    before = htcondor2.param.get("SUBMIT_FACTORY_JOBS_BY_DEFAULT")
    htcondor2.param["SUBMIT_FACTORY_JOBS_BY_DEFAULT"] = value
    try:
        assert descriptions.materializes_late(description) is late
    finally:
        htcondor2.param["SUBMIT_FACTORY_JOBS_BY_DEFAULT"] = str(before)


@pytest.mark.parametrize("error", [IndexError("string index out of range"), RecursionError("deep")])
def test_a_fault_within_the_bindings_is_told_as_such(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(_: str) -> None:
        raise error

    monkeypatch.setattr(htcondor2, "Submit", submit)
    with pytest.raises(PoolError) as caught:
        descriptions.parse("executable = a\nqueue\n")
    assert caught.value.reason.startswith(f"{type(error).__name__}: {error} (an error within HTC")
    assert f"bindings {htcondor2.version().split()[1]}, or in how we call" in caught.value.reason
    assert "please report it" in caught.value.reason


LONG = "".join(f"{one} = {99 * f'$({used})'}\n" for one, used in zip("abcd", "bcde")) + "e = x\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("output = $(x)\nx = $(y)\ny = $F(X)\n", "macro x stands for itself"),
        ("output = $INT(output)\n", "macro output stands for itself"),
        (f"output = $(a)\n{LONG}", "more than 1,048,576 characters"),
    ],
)
def test_macros_without_an_end_are_not_expanded(text: str, why: str) -> None:
    """The bindings would not return, or end the process."""
    description = descriptions.parse(f"executable = $(x:a)\n{text}queue\n")
    with pytest.raises(ValueError, match=why):
        descriptions.expanded(description, "output")


def test_macros_that_only_look_endless() -> None:
    text = (
        "x = $(x)b\nfile = a/$(x)\nfile = $F(file)\nout = $ENV(o:)$RANDOM_CHOICE(out, out)$$(o)\n"
    )
    description = descriptions.parse(f"executable = $(x)\n{text}queue\n")
    assert descriptions.expanded(description, "executable") == "b"
    assert descriptions.expanded(description, "out") == "out$$(o)"


def test_items_of_what_is_no_file(work_directory: Path) -> None:
    os.mkfifo("fifo")
    (work_directory / "items").write_text("1\n2\n")
    for path in "fifo", "[:1] fifo", "/dev/zero", ".":
        description = descriptions.parse(f"executable = a\nqueue x from {path}\n")
        with pytest.raises(ValueError, match="is not a regular file"):
            descriptions.queued(description)
    description = descriptions.parse("executable = a\nqueue 2 x from items\n")
    assert descriptions.procs_of(description) == 4
