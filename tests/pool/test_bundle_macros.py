"""Random descriptions full of macros, without bundles, with them, with CHAINS, and under stock: the
programs get the same words, and what they print comes into files of the same names.

PYDAGMAN_RANDOM_DAGS says how many DAGs, PYDAGMAN_RANDOM_SEED with which they begin.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import htcondor2

from condor_pydagman.language.description import SET, SPECIAL
from tests.pool.access_point import AccessPoint, new_directory

COUNT = int(os.environ.get("PYDAGMAN_RANDOM_DAGS", "2"))
FIRST = int(os.environ.get("PYDAGMAN_RANDOM_SEED", "1"))
NODES = 12
WAYS = {
    **{"stock": "", "alone": "", "bundles": "BUNDLE b SIZE 3 ALL_NODES\n"},
    "chains": "BUNDLE b SIZE 3 CHAINS ALL_NODES\n",
}

PROGRAM = """\
#!/bin/sh
# NAME RETRY FAILS WORDS...: fails in its first FAILS attempts
for word; do echo "<$word>"; done
echo "E=$E"
test "$2" -ge "$3"
"""
# Values that differ from run to run, behind a letter, with what hides them.
_CHANGING = {
    "C$(Cluster:0)": r"C[1-9]\d*",
    "C$(clusterid)": r"C[1-9]\d*",
    "J$(JobId:0)": r"J\d+\.\d+",
    "T$(SUBMIT_TIME:5)": r"T\d{10}",
    "Y$(YEAR:1999)": r"Y2\d{3}",
    "M$(Month:99)": r"M[01]\d",
    "D$(DAY)": r"D[0-3]\d",
}
_HIDDEN = re.compile("|".join(dict.fromkeys(_CHANGING.values())))
_OWN = ("v", "w", "n", "Process", "row", "item", "ItemIndex", "failed_count", "SUBMIT_FILE")
# What is known before a job is submitted, if VARS and the description do not have it otherwise.
_KNOWN = (
    *("$(v:d1)", "$(w:d2)", "$(n:d3)", "$(Process:d4)", "$(row:d5)", "$(ItemIndex:d6)"),
    *("$(RETRY:d7)", "$(Step:d8)", "$(none:d9)", "$(procid)", "$(Row)", "$(none:$(v:x))"),
    *("$(none:)", "$(w)", "x", "-", "_", ".y"),
)
_UNKNOWN = (
    *("$(item:d1)", "$(failed_count:d2)", "$(SUBMIT_FILE:d3)", "$(DAG_STATUS:d4)", "$(TaskId:d5)"),
    *("$(dag_parent_names:d6)", "$(IsLinux:d7)", "$(v)", "$INT(n)", "$INT(n,%03d)"),
    *("$CHOICE(n,a,b,c)", "$F(w)", "$SUBSTR(w,1,2)", "$ENV(NO:e)", *_CHANGING),
)
_IN_WORDS = ("$(none:a-b)", "$(none :c)", "$(DOLLAR)", "$(w:/z)")
_TRANSFERS = ('YES\ntransfer_output_files = ""', "NO")
_VALUES = {"n": ("0", "1", "2"), "w": ("abc", "abcd.ef"), "row": ("", "9")}


def _text(random: Random, tokens: tuple[str, ...]) -> str:
    return "".join(random.choice(tokens) for _ in range(random.randint(1, 4)))


def description(random: Random) -> str:
    """A submit file."""
    tokens = random.choice((_KNOWN, _KNOWN, (*_KNOWN, *_UNKNOWN)))
    in_words = tokens if tokens is _KNOWN else (*tokens, *_IN_WORDS)
    words = " ".join(f"'{_text(random, in_words)}'" for _ in range(3))
    own = "".join(f"{name} = {value}\n" for name, value in _set(random, 2))
    return (
        f"universe = vanilla\nexecutable = program\n{own}n = 1\nw = abc\n"
        f'arguments = "$(JOB) $(RETRY) $(fails:0) {words}"\n'
        f"environment = \"E='{_text(random, in_words)}'\"\n"
        f"output = $(JOB).{_text(random, tokens)}\ninitialdir = $(place:.)\n"
        f"should_transfer_files = {random.choice(_TRANSFERS)}\n"
        f"request_memory = {random.choice(('16', '$(none:16)', '$CHOICE(n,16,17,18)'))}\nqueue\n"
    )


def _set(random: Random, most: int) -> Iterator[tuple[str, str]]:
    for name in random.sample(_OWN, random.randint(0, most)):
        yield name, random.choice(_VALUES.get(name, ("seven", "", "$(w)1")))


def files(seed: int) -> dict[str, str]:
    """A DAG and its submit files, by name."""
    random = Random(seed)
    found = {f"{number}.sub": description(random) for number in range(3)}
    lines = []
    for number in range(NODES):
        name = f"N{number}"
        lines += [f"JOB {name} {random.randrange(3)}.sub", f"RETRY {name} 1"]
        values = [*_set(random, 2), ("fails", random.choice("0001"))]
        values += [("place", "d")] * random.randint(0, 1)
        words = " ".join(f'{key}="{value}"' for key, value in values)
        lines.append(f"VARS {name} {random.choice(('', 'APPEND '))}{words}")
        most = min(number, random.choice((0, 0, 1, 2)))
        parents = {f"N{random.randrange(number)}" for _ in range(most)}
        lines += [f"PARENT {parent} CHILD {name}" for parent in sorted(parents)]
    return {**found, "t.dag": "\n".join([*lines, ""]), "program": PROGRAM}


def _submit(access_point: AccessPoint, home: Path, seed: int, way: str) -> None:
    new_directory(home / "d").chmod(0o777)
    for name, text in files(seed).items():
        (home / name).write_text(WAYS[way] * (name == "t.dag") + text)
    (home / "program").chmod(0o755)
    home.chmod(0o777)
    access_point.submit(home, "t.dag", stock=way == "stock")


def _printed(home: Path) -> list[tuple[str, str]]:
    """What programs have printed, and into which files, without what differs from run to run; of
    files with the time in their names, of which each attempt may have its own, the last one."""
    found = {
        _HIDDEN.sub("~", str(path.relative_to(home))): _HIDDEN.sub("~", path.read_text())
        for path in sorted(home.rglob("N*"))
        if path.is_file() and "t.dag.bundles" not in path.parts
    }
    return sorted(found.items())


def test_programs_get_the_same_in_bundles_and_under_stock(
    access_point: AccessPoint, place: Path
) -> None:
    seeds = range(FIRST, FIRST + COUNT)
    homes = {(seed, way): place / f"macros/{seed}.{way}" for seed in seeds for way in WAYS}
    for (seed, way), home in homes.items():
        _submit(access_point, home, seed, way)
    codes = {case: access_point.wait(home / "t.dag").code for case, home in homes.items()}
    assert codes == dict.fromkeys(homes, 0)
    for (seed, way), home in homes.items():
        assert _printed(home) == _printed(homes[seed, "stock"]), (seed, way)
    for way in ("bundles", "chains"):
        logs = "".join((homes[seed, way] / "t.dag.nodes.log").read_text() for seed in seeds)
        assert logs.count("from host: <bundle-") > COUNT * NODES // 6


def test_the_names_that_have_no_default_are_those_of_condor_submit(
    access_point: AccessPoint, place: Path
) -> None:
    """Of all words in the program text of the bindings, which set the same macros."""
    with open("/proc/self/maps", "rb") as maps:
        libraries = {line.split()[-1] for line in maps if b"htcondor" in line and b".so" in line}
    assert htcondor2.version()
    words = b"".join(Path(os.fsdecode(path)).read_bytes() for path in libraries)
    known = {word.decode().lower() for word in re.findall(rb"[A-Za-z_]\w{1,40}(?=\0)", words)}
    names = sorted(known | SET | SPECIAL)
    lines = "".join(f'+Z{number} = "<$({name}:x)>"\n' for number, name in enumerate(names))
    home = new_directory(place / "names")
    (home / "n.sub").write_text(f"executable = /bin/true\n{lines}queue\n")
    said = access_point.run("condor_submit", "-dry-run", "-", "n.sub", cwd=home).stdout
    values = dict(re.findall(r'^Z(\d+) *= *"<(.*)>"$', said, re.MULTILINE))
    assert len(values) == len(names)
    found = {names[int(number)] for number, value in values.items() if value != "x"}
    assert {"cluster", "jobid", "year", "submit_file", "submit_time", "request_cpus"} <= found
    assert found - {"executable"} <= SET
