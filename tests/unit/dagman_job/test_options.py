"""The command lines of condor_submit_dag and condor_dagman; what stock makes of 500 of them is in
`tests/contract/test_submit_command_lines.py`."""

from __future__ import annotations

import shlex

import pytest

from condor_pydagman.dagman_job.options import (
    OPTIONS,
    SubmitOptions,
    arguments,
    dagman_usage,
    parse_dagman,
    parse_submit,
    submit_usage,
)
from condor_pydagman.errors import UsageError


def submit(*words: str) -> SubmitOptions:
    return parse_submit([*words, "t.dag"])


def written(*words: str) -> str:
    """What condor_dagman is given for these options, without what is always there."""
    options = submit(*words)._replace(dagman="D")
    if options.auto_rescue is None:
        options = options._replace(auto_rescue=1)
    line = " ".join(arguments(options, "V"))
    assert line.startswith("-f -l . ")
    return line


@pytest.mark.parametrize("word", ["-xyz", "-w", "--", "--no_sub", "-foo", "-waitfordebug"])
def test_unknown_option(word: str) -> None:
    with pytest.raises(UsageError, match=f"^Error: Unknown flag '{word}' provided$"):
        submit(word.upper())


@pytest.mark.parametrize("word", ["--no_submit", "-no-submit", "--NO-SUBMIT", "-no_submit"])
def test_one_spelling_of_options(word: str) -> None:
    assert submit(word).no_submit
    assert submit("--batch_name", "x").batch_name == "x"
    assert submit("-schedd_address_file", "x").schedd_address_file == "x"
    with pytest.raises(UsageError):  # its words come from condor_submit_dag, or from stock's
        parse_dagman(["-f", "--Dag", "t.dag"])


def test_a_dag_file_that_is_taken_for_a_value_is_told() -> None:
    with pytest.raises(UsageError, match="is taken as the value of -batch-name"):
        parse_submit(["-batch-name", "x.dag"])


@pytest.mark.parametrize(("word", "name"), [('"', '"'), ('""a""', '"a"')])
def test_quotes_of_a_batch_name_as_stock_takes_them(word: str, name: str) -> None:
    assert submit("-batch-name", word).batch_name == name


def test_arguments_in_the_order_of_stock() -> None:
    line = written(
        "-force", "-update_submit", "-submitmethod", "1", "-suppress_notification", "-insert_env",
        "A=1", "-include_env", "B", "-import_env", "-allow", "-dorescuefrom", "2", "-autorescue",
        "0", "-outfile_dir", "o", "-usedagdir", "-notification", "always", "-verbose", "-priority",
        "4", "-dorecovery", "-dontalwaysrunpost", "-maxpost", "4", "-maxpre", "3",
        "-maxjobs", "2", "-maxidle", "0", "-maxhold", "9", "-debug", "5", "-lockfile", "mine",
        "-insert_env", "C=2", "-csd", "old", "-batch-name", "b", "-append", "x=y", "-no_submit",
    )  # fmt: skip
    assert line == (
        "-f -l . -Debug 5 -Lockfile t.dag.lock -Dag t.dag -MaxIdle 0 -MaxJobs 2 -MaxPre 3 "
        "-MaxPost 4 -DontAlwaysRunPost -DoRecov -CsdVersion V -Priority 4 "
        "-verbose -notification never -dagman D -UseDagDir -outfile_dir o -AutoRescue 0 "
        "-DoRescueFrom 2 -AllowVersionMismatch -import_env -include_env B -insert_env A=1 "
        "-insert_env C=2 -suppress_notification -SubmitMethod 1 -force -update_submit"
    )


@pytest.mark.parametrize(
    ("words", "attribute", "value"),
    [
        (["-load_save", "s.save"], "load_save", "s.save"),
        (["-DoRescueFrom", "3"], "do_rescue_from", 3),
        (["-RescueFile", "t.dag.rescue002"], "rescue_file", "t.dag.rescue002"),
        (["-choose_from", "A,B*"], "choose_from", ("A,B*",)),
    ],
)
def test_where_a_run_starts_from_is_handed_on_to_dagman(
    words: list[str], attribute: str, value: object
) -> None:
    given = submit(*words)._replace(dagman="D", auto_rescue=1)
    line = arguments(given, "V")
    at = line.index(words[0])
    assert line[at : at + 2] == words
    assert getattr(parse_dagman(line), attribute) == value


def test_dagman_understands_all_that_submit_writes() -> None:
    options = submit(
        "-f", "-debug", "4", "-maxidle", "3", "-notif", "error", "-insert_env", "A=b c"
    )  # fmt: skip
    given = options._replace(
        dagman="D", auto_rescue=0, priority=-2, rescue_file="r x",
        do_recurse=True, load_save="", valgrind=False,
    )  # fmt: skip
    found = parse_dagman(arguments(given, "$CondorVersion: 1 $", disable_port=True))
    for name in ("debug", "max_idle", "dagman", "priority", "rescue_file", "force"):
        assert getattr(found, name) == getattr(given, name)
    assert found.dag_files == ("t.dag",)
    assert found.lockfile == "t.dag.lock"
    assert found.csd_version == "$CondorVersion: 1 $"
    assert found.insert_env == ("A=b c",)
    assert found.auto_rescue == 0


@pytest.mark.parametrize(
    "line",
    [
        "-p 0 -f -l . -Lockfile t.dag.lock -Dag t.dag -Dag u.dag -AutoRescue 1",
        "-f -l . -Debug 3 -lock l -dag t.dag -DoRecov -csdver x -dagman /x -autores 1 -maxj 5",
        "-pidfile p -sock s -local-name n -t -q -b -f t.dag",
        "t.dag -SubmitMethod 0 -remote r -valgrind -no_submit -append x -config c",
        "-Dag t.dag -waitfordebug -batch-name b -terse -do_recurse",
    ],
)
def test_lines_that_dagman_accepts(line: str) -> None:
    assert parse_dagman(line.split()).dag_files[0] == "t.dag"


def test_daemon_core_takes_whole_words_only() -> None:
    assert parse_dagman(["-lockfile", "x", "t.dag"]).lockfile == "x"
    assert parse_dagman(["-force", "-maxj", "3", "t.dag"]).max_jobs == 3
    assert parse_dagman(["-f", "-v"]).show == "version"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-f -l .", "No DAG file was specified"),
        ("-f -l . -Dag ''", "No DAG file was specified"),
        ("-w t.dag", "Unknown flag '-w'"),
        ("-waitfor t.dag", "Unknown flag '-waitfor'"),
        ("-SubmitMethod 2 t.dag", "-SubmitMethod must be 0 or 1, not 2"),
        ("-f -l . -foo t.dag", "Unknown flag '-foo'"),
        ("-f t.dag -maxjobs -4", "-MaxJobs must be non-negative"),
        ("-f t.dag -DoRescueFrom -3", "-DoRescueFrom must be non-negative"),
        ("-f t.dag -maxhold", "requires an additional argument"),
    ],
)
def test_lines_that_dagman_refuses(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_dagman(shlex.split(line))


def test_table_names_existing_attributes_once() -> None:
    assert {option.attribute for option in OPTIONS} <= set(SubmitOptions._fields)
    names = [option.name.lower() for option in OPTIONS]
    assert len(names) == len(set(names))


def test_usage_texts() -> None:
    usage = submit_usage()
    assert usage.startswith("Usage: condor_submit_dag [options] dag_file ")
    assert "-MaxJobs <N>  " in usage
    assert "SetupOnly" not in usage
    assert "\t[-MaxJobs <N>]\n" in dagman_usage()


@pytest.mark.parametrize(
    ("word", "attribute", "value"),
    [("-check_dag", "check_dag", True), ("-NO_CHECK_DAG", "check_dag", False)],
)
def test_options_of_ours_are_typed_whole(word: str, attribute: str, value: bool) -> None:
    assert getattr(parse_submit([word, "t.dag"]), attribute) is value
    assert parse_submit(["t.dag"]).check_dag is None


@pytest.mark.parametrize(
    ("word", "attribute"),
    [("-c", "config"), ("-co", "config"), ("-no", "do_recurse"), ("-no_", "do_recurse")],
)
def test_they_take_no_abbreviation_from_those_of_stock(word: str, attribute: str) -> None:
    words = [word, "x"] if attribute == "config" else [word]
    options = parse_submit([*words, "t.dag"])
    assert getattr(options, attribute) == ("x" if attribute == "config" else False)
    for part in ("-check", "-check_da", "-no_c", "-no_check", "-choose", "-choose_f"):
        with pytest.raises(UsageError):
            parse_submit([part, "t.dag"])
