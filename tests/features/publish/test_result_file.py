"""Files with what nodes publish."""

from __future__ import annotations

import os
from pathlib import Path

import classad2
import pytest

from condor_pydagman.features.publish.adapters.result_file import (
    MAX_FILE_BYTES,
    BadResult,
    read_result,
)


@pytest.mark.parametrize(
    "text",
    [
        '[ n = 5; kind = "x"; l = {1,2} ]',
        'n = 5\n# a remark\n\nkind = "x"\nl = {1,2}\n',
        '\ufeffn = 5\nkind = "x"\nl = {1,2}',
        'kind = "x"\r\nn = 5\r\nl = {1,2}',
        '{"n": 5, "kind": "x", "l": [1, 2]}',
        '\ufeff\n{\n  "n": 5,\n  "l": [1, 2],\n  "kind": "x"\n}\n',
    ],
)
def test_a_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.ad"
    path.write_bytes(text.encode())
    assert read_result(str(path)) == [("kind", '"x"'), ("l", "{1,2}"), ("n", "5")]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("9223372036854775807", "9223372036854775807"),
        ("-1.5e-300", "-1.5e-300"),
        ('"99999999999999999999 0x1"', '"99999999999999999999 0x1"'),
    ],
)
def test_numbers_and_texts_stay_as_they_are(tmp_path: Path, value: str, written: str) -> None:
    path = tmp_path / "a.ad"
    path.write_text(f"# 0x1\nn99 = {value}\n")
    assert read_result(str(path)) == [("n99", written)]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775807", "-9223372036854775807"),
        ("-1.5e-300", "-1.5e-300"),
        ("2.0", "2.0"),
        ("NaN", 'real("NaN")'),
        ("Infinity", 'real("INF")'),
        ("[-Infinity, NaN, 1]", '{real("-INF"),real("NaN"),1}'),
        ("null", "undefined"),
        ("[true, false, null, []]", "{true,false,undefined,{}}"),
        ('"NaN"', '"NaN"'),
        (r'"a\"b\\c\nd \u00e9 \ud83d\ude00"', '"a\\"b\\\\c\\nd \u00e9 \U0001f600"'),
        ('"99999999999999999999 0x1 [ {"', '"99999999999999999999 0x1 [ {"'),
    ],
)
def test_values_of_json(tmp_path: Path, value: str, written: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(f'{{"n99": {value}}}')
    assert read_result(str(path)) == [("n99", written)]
    assert repr(classad2.ClassAd(f"[ n99 = {written} ]"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"n": 1,}', "it begins with { but is not JSON: line 1, column 9: "),
        ('{\n"n": .5}', "it begins with { but is not JSON: line 2, column 6: "),
        ("{1, 2}", "it begins with { but is not JSON"),
        ('{"n": 1} {"m": 2}', "it begins with { but is not JSON"),
        ('{"a":' + "[" * 16_000, "its values are nested too deep"),
        ('{"a":' + "[" * 900 + "]" * 900 + "}", "its values are nested too deep"),
        ('{"loss": {"train": 1}, "n": 2}', "loss has an object in it: give its values names"),
        ('{"n": [1, {}]}', "n has an object in it"),
        ('{"n": [[[[1]]]]}', "n is not a number, text, truth value, or list of these"),
        ('{"n": 9223372036854775808}', "9223372036854775808 is not between -9223372036854775807"),
        ('{"n": [-9223372036854775808]}', "-9223372036854775808 is not between"),
        ('{"n": 1' + "0" * 5000 + "}", "10{39} is not between"),
        ('{"n": [1, -1e999]}', "-1e999 is out of the range of numbers"),
        ('{"n": "\\ud800"}', "n has half of a character in it"),
        ('{"n": "' + "x" * 500 + '"}', "n is longer than 500 bytes"),
        ('{"n": 1, "N": 2}', "'n' is there twice"),
        ('{"n": 1, "n": 1}', "'n' is there twice"),
        ('{"f1-score": 1}', "'f1-score' can't be the name of a value"),
        ('{"": 1}', "'' can't be the name of a value"),
        ('{"Outcome": 1}', "Outcome can't be published"),
        ('{"true": 1}', "'true' can't be the name of a value"),
    ],
)
def test_json_that_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BadResult, match=f"^{why}"):
        read_result(str(path))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"[ n = ", "it is not a ClassAd"),
        (b"some words\n", "it is not a ClassAd"),
        (b"x" * (MAX_FILE_BYTES + 1), "it is larger than 16384 bytes"),
        (b"n = \xff", "it is no text in UTF-8"),
        (b"n = 1\0", "it has a byte 0 in it"),
        (b"outcome = 1", "outcome can't be published"),
        (b"n = [ a = 1 ]", "n is not a number, text, truth value, or list"),
        (b'n = real("NaN")', "n is not a number, text, truth value, or list"),
        (b"[1, 2]", "it is not a ClassAd"),
        (b"n = error", "n is not a number, text, truth value, or list"),
        (b"'a b' = 1", "'a b' can't be the name of a value"),
        (b"[ a = 1; True = 2 ]", "'True' can't be the name of a value"),
        (b"a = 1\nis = 2", "'is' can't be the name of a value"),
        (b"parent = 2", "'parent' can't be the name of a value"),
        (b"n = 2 + 3", "n is not a number, text, truth value, or list"),
        (b'n = userHome("root")', "n is not a number, text, truth value, or list"),
        (b"n = {1, 1 + 1}", "n is not a number, text, truth value, or list"),
        (b"n = 12345678901234567890123456", "12345678901234567890123456 is not a decimal number"),
        (b"n = 9223372036854775808", "9223372036854775808 is not a decimal number"),
        (b"n = {1, 1.0E+400}", r"1.0E\+400 is out of the range of numbers"),
        (b"n = {1, 0x10}", "0x10 is not a decimal number"),
        (b'n = "' + b"x" * 500 + b'"', "n is longer than 500 bytes"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "a.ad"
    path.write_bytes(data)
    with pytest.raises(BadResult, match=f"^{why}"):
        read_result(str(path))


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("none", "fifo", "."):
        with pytest.raises(BadResult):
            read_result(str(tmp_path / name))
