"""DAG files by chance, from the grammar of all commands: most lines are right, some nearly so."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from condor_pydagman.feature_table import FEATURE_OF
from condor_pydagman.features.common import rows
from condor_pydagman.features.common.expression_text import Expression
from condor_pydagman.features.common.rows import Part, row_of
from condor_pydagman.features.run_if.commands import Condition
from condor_pydagman.language.lexer import file_word, node_word
from tests.examples import EXAMPLES, IN_NO_DAG_FILE
from tests.fuzz.sample import Sample, as_read, random_options

FILES = ("x.dag", "b.dag", "c.dag", "sub/d.dag", "o\udcff\x1b.dag")
_OTHER_FILES = ("./b.dag", "sub/../c.dag", "d.dag", "../x.dag", "sub", "missing.dag", "/abs/e.dag",
    "no/such/f.dag", ".", '"a b.dag"', "x.dag.condor.sub", "\x1b[31m.dag", "\udcff.dag",
    "f" * 300, "\u00e9.dag")  # fmt: skip
_NODES = ("A", "B", "C", "D", "E", "N1", "N2", "N3")
_ODD_NODES = ("a", "ALL_NODES", "all_nodes", "S+A", "T+S+B", "0.A", "1.B", "+", "PARENT", "child",
    "_condor_join_node0", "S+_condor_join_node0", '"a b"', "'q'", "x'y z'", '"a\\"b"', "\u00e9",
    "A\u00a0", "\udcff", "\x1b[31m", "\x0b", "n" * 300, "A\\", "-", "%", "=", "{", "@=E",
    "\u202e", "S", "T", "Missing")  # fmt: skip
_SPLICES = ("S", "T", "U", "A", "S+T", '"s t"', "+", "\u00e9", "0.S")
_CATEGORIES = ("cat", "dog", "+all", "+", "c\u00e9", "cat+", '"c d"')
_NUMBERS = ("0", "1", "2", "3", "17", "255", "+5", "007")
_ODD_NUMBERS = ("-1", "256", "2147483647", "2147483648", "-2147483648", "99999999999999999999",
    "3x", "x", "1e9", "\u0663", "--1", "5%", "%", "0x10", "1_000", '"1"', "")  # fmt: skip
_FACTORS = ("1", "2", "1.5", "10.25", "01.50")
_KEYS = ("k", "key2", "_x", "+ad", "My.x", "queue", "queue_x", "my-key", "k\u00e9", '"k"', "", "+")
_VALUES = ('"v"', '""', '"a b"', "bare", "'single'", r'"esc \" \\ \n"', '"open', '"a"b', "=", "",
    '"$(JOB)"', '"\u00e9"', '"a"  "b"', '"x\x0by"', '"' + "v" * 2000 + '"', "\udcff")  # fmt: skip
_KEEPERS = ("\n}", "\n} DONE", "\n} DIR sub", "\n}x", "", "\n@E", "\n@END DONE", "\n @E NOOP")
_BODY = ("executable = x", "queue", "}x", "# no", "", "a = b \\", "JOB A x", "@E2", "PARENT A", "{")
_EXAMPLES = sorted(set(EXAMPLES) - IN_NO_DAG_FILE)
_ROWS = [row_of(word) for word in sorted(FEATURE_OF.keys() - IN_NO_DAG_FILE)]
_BLANKS = (" ", " ", " ", " ", " ", "  ", "\t", " \t", "\r ", "\x0b", " \\\n ", "\u00a0", "")


class Writer:
    """Writes the lines of one file, which may name `files`."""

    def __init__(self, random: Random, files: tuple[str, ...] = ()) -> None:
        self._random = random
        self._files = files
        self._special = False
        self._defined: list[str] = []
        self._splices: list[str] = []
        self.oddness = random.choice((0.0, 0.0, 0.005, 0.03, 0.2))

    def text(self) -> str:
        """A file."""
        random = self._random
        lines = [self._node() for _ in range(random.randrange(1, 7))]
        if self._files and random.random() < 0.6:
            lines += [self._splice() for _ in range(random.randrange(1, 3))]
        lines += [self._command() for _ in range(random.choice((0, 1, 2, 3, 5, 8, 16)))]
        if random.random() < 0.1:
            lines += self._many()
        if random.random() < self.oddness:
            random.shuffle(lines)
        end = "\r\n" if random.random() < 0.1 else "\n"
        return end.join(lines) + end * (random.random() < 0.9)

    def progress(self) -> str:
        """A rescue file."""
        random = self._random
        lines = ["# Rescue DAG file", f"# Node {self._name()}"]
        for _ in range(random.randrange(8)):
            choice = random.random()
            if choice < 0.6:
                lines.append(f"DONE {self._name()}")
            elif choice < 0.9:
                lines.append(self._retry())
            else:
                lines.append(self._command())
        return "\n".join(lines)

    def known(self, names: list[str]) -> None:
        """Nodes that are in sight beside its own."""
        self._defined += names

    def _odd(self) -> bool:
        return self._random.random() < self.oddness

    def _pick(self, usual: tuple[str, ...], odd: tuple[str, ...]) -> str:
        return self._random.choice(odd if self._odd() else usual)

    def _new_name(self) -> str:
        name = self._pick(_NODES, _ODD_NODES)
        if name in self._defined and not self._odd():
            name += str(len(self._defined))
        self._defined.append(name)
        return name

    def _name(self, instead: str = "ALL_NODES") -> str:
        if not self._defined:
            self._defined.append("A")  # a good chance that another file has it
        if self._odd():
            return self._random.choice(_ODD_NODES)
        return self._random.choice(
            (instead or self._defined[0], *self._defined, *self._defined, *self._defined)
        )

    def _end(self) -> str:
        """A node or a splice."""
        return self._random.choice((self._name(""), *self._splices))

    def _number(self) -> str:
        return self._pick(_NUMBERS, _ODD_NUMBERS)

    def _file(self) -> str:
        return self._pick(FILES, _OTHER_FILES)

    def _maybe(self, *choices: str) -> str:
        return self._random.choice(("", "", "", *choices))

    def _line(self, *words: str) -> str:
        """The words with blanks between them, now and then with something wrong."""
        words = tuple(word for word in words if word)
        if not words or not self._odd():
            return " ".join(words)
        random = self._random
        copy = list(words)
        place = random.randrange(len(copy))
        change = random.randrange(6)
        if change == 0:
            del copy[place]
        elif change == 1:
            copy.insert(place, random.choice(copy))
        elif change == 2:
            copy[place] = random.choice((copy[place].lower(), copy[place].replace("_", "-")))
        elif change == 3:
            copy.append(random.choice(("#x", "x", "{", "CHILD", "DONE", "\\", '"', "\udc80")))
        line = ""
        for word in copy:
            line += word + random.choice(_BLANKS)
        return line

    def _options(self) -> str:
        directory = self._maybe("DIR sub", "DIR d/e/", 'DIR "a b"', "DIR /", "NOOP DIR x")
        if self._odd():
            directory = "DIR"
        return f"{directory} {self._maybe('NOOP')} {self._maybe('DONE', 'done')}".strip()

    def _inline(self) -> str:
        random = self._random
        opening = self._pick(("{", "@=E", "@=END"), ("{ x", "@=", "{}"))
        body = [random.choice(_BODY) for _ in range(random.randrange(4))]
        closing = f"\n@{opening[2:]}" if opening[0] == "@" else "\n}"
        if self._odd():
            closing = random.choice(_KEEPERS)
        return "\n".join([opening, *body]) + closing

    def _node(self) -> str:
        random = self._random
        kind = random.random()
        if kind < 0.75:
            submit = self._pick(("a.sub", "b.sub"), ("D1", '"a b"', "{", "D1", "e.condor.sub"))
            return self._line("JOB", self._new_name(), submit, self._options())
        if kind < 0.85:
            return f"JOB {self._new_name()} {self._inline()} {self._options()}"
        if kind < 0.9:
            subdag = self._file()
            return self._line("SUBDAG", "EXTERNAL", self._new_name(), subdag, self._options())
        if self._special and not self._odd():
            return self._line("DATA", self._new_name(), "f.sub")
        self._special = True
        word = random.choice(("FINAL", "PROVISIONER", "SERVICE"))
        name = "special" if random.random() < 0.9 else self._new_name()
        return self._line(word, name, "f.sub", self._maybe("NOOP", "DIR x"))

    def _other_file(self) -> str:
        if self._files and not self._odd():
            return self._random.choice(self._files)
        return self._file()

    def _splice(self) -> str:
        name = self._pick(("S", "T", "U", "V"), _SPLICES)
        if name in self._splices and not self._odd():
            name += str(len(self._splices))
        self._splices.append(name)
        file = self._other_file()
        if file.startswith("sub/") and self._random.random() < 0.3:
            return self._line("SPLICE", name, file[4:], "DIR sub")
        return self._line("SPLICE", name, file, "DIR .." * self._odd())

    def _command(self) -> str:
        command: Callable[[], str] = self._random.choice(_COMMANDS).__get__(self)
        if command.__name__ in ("_include", "_splice") and not self._files and not self._odd():
            return self._edge()
        return command()

    def _include(self) -> str:
        return self._line("INCLUDE", self._other_file())

    def _edge(self) -> str:
        random = self._random
        parents = [self._end() for _ in range(random.choice((1, 1, 1, 2, 3)))]
        children = [self._end() for _ in range(random.choice((1, 1, 1, 2, 3)))]
        weak = "WEAK" * (random.random() < 0.1)
        return self._line(weak, "PARENT", *parents, "CHILD", *children)

    def _connect(self) -> str:
        if len(self._splices) < 2 and not self._odd():
            return self._edge()
        names = (*self._splices, "S", "T")
        return self._line("CONNECT", self._random.choice(names), self._random.choice(names))

    def _description(self) -> str:
        return f"SUBMIT-DESCRIPTION {self._pick(('D1', 'D2'), _ODD_NODES)} {self._inline()}"

    def _script(self) -> str:
        kind = self._random.choice(("PRE", "POST", "HOLD"))
        defer = f"DEFER {self._number()} {self._number()}"
        options = (
            f"TIMES {self._number()}",
            f"FOR {self._time()}",
            f"BACKOFF {self._pick(_FACTORS, _ODD_NUMBERS)}",
        )
        defer = self._maybe(
            defer, f"{defer} {self._random.choice(options)} MAX-DELAY {self._time()}"
        )
        debug = self._maybe("DEBUG f.txt ALL", "DEBUG 'f g' STDOUT")
        words = self._pick(("s.sh", "s.sh $JOB 'a b'", '"s', "s\udcff"), ("", "DEBUG f X"))
        return self._line("SCRIPT", defer, debug, kind, self._name(), words)

    def _retry(self) -> str:
        options = self._maybe(f"UNLESS-EXIT {self._number()}", *self._retry_options())
        return self._line("RETRY", self._name(), self._number(), *options.split(" "))

    def _retry_options(self) -> tuple[str, str]:
        """One that only we have, and several in any order."""
        options = [
            f"UNLESS-EXIT {self._codes()}",
            f"ONLY-IF {self._codes()}",
            f"DELAY {self._time()}",
            f"BACKOFF {self._pick(_FACTORS, _ODD_NUMBERS)}",
            f"MAX-DELAY {self._time()}",
        ]
        self._random.shuffle(options)
        return options[0], " ".join(options[: self._random.randrange(2, 6)])

    def _codes(self) -> str:
        return self._pick(
            ("1", "3", "-9", "1,3,-9,-1002", "+5,007"), ("0", "1,0", "1,", ",", "2,x")
        )

    def _time(self) -> str:
        return self._pick(("0", "90", "10m", "2H", "1d", "007s"), ("", "5w", "-1", "m", "99999d"))

    def _sweep(self) -> str:
        values = self._pick(("1 2", "1..3", "a b", "0..1..0.5"), ("", "1..", "1..2..0"))
        clauses = self._maybe(f"OVER y IN {values}", "ALONG y IN 1 2", 'VARS k="{x}"', "DIR d{x}")
        name = self._pick(("s{x}", "t{x}{y}"), ("s", "A", "s{z}"))
        return self._line("SWEEP", name, "a.sub", *f"OVER x IN {values} {clauses}".split(" "))

    def _own(self) -> str:
        """A line of a command of a feature, from its row."""
        row = self._random.choice(_ROWS)
        words = [row.word]
        for group in row.groups:
            for one in self._random.sample(group, len(group)):
                words += self._part(one).split(" ")
        return self._line(*words)

    def _part(self, part: Part | None) -> str:
        if isinstance(part, rows.Option):
            if self._odd() or (part.default is not rows.NEEDED and self._random.random() < 0.5):
                return ""
            key = self._random.choice(part.keywords)
            return key if isinstance(part, rows.Flag) else f"{key} {self._part(part.part)}"
        if isinstance(part, rows.Variants):
            key = self._pick(part.keywords, ("", "OF"))
            return f"{key} {self._part(part.variants.get(key))}".rstrip()
        if isinstance(part, rows.OneOf):
            return self._pick((*part.keywords, part.keywords[0].lower()), ("", "STOP"))
        if part is None:
            return ""
        words = _WORDS.get(part.put if type(part) is rows.Part else type(part))
        return words(self) if words else part.sample

    def _own_number(self) -> str:
        return self._pick(("1", "2", "3"), _ODD_NUMBERS)

    def _share(self) -> str:
        return self._pick(("1", "2", "50%", "100 %"), ("", "0", "101%", "99"))

    def _names(self) -> str:
        return f"{self._name()} {self._maybe(self._name(), 'M*', '?')}".rstrip()

    def _expression(self) -> str:
        return self._pick(
            ("Failed == 0", f"Parents.{self._name()}.n > 1 || Category.c.Done > 0"), ("", "x = 1")
        )

    def _vars(self) -> str:
        random = self._random
        pairs = [
            f"{self._pick(('k', 'k1', 'k2'), _KEYS)}={self._pick(_VALUES[:3], _VALUES)}"
            for _ in range(random.choice((1, 1, 2, 3)))
        ]
        return self._line("VARS", self._name(), self._maybe("APPEND", "PREPEND"), *pairs)

    def _simple(self) -> str:
        """A line of one of _SIMPLE."""
        template = self._random.choice(_SIMPLE)
        return self._line(
            *re.sub(r"{(\w+)}", lambda found: self._filled(found[1]), template).split(" ")
        )

    def _filled(self, name: str) -> str:
        """What stands for a name in a template."""
        return self._maybe(*_MAYBE[name]) if name in _MAYBE else _FILLED[name](self)

    def _example(self) -> str:
        """Of any command, those included that have no method here."""
        word = self._random.choice(_EXAMPLES)
        lines = EXAMPLES[word].split("\n")
        return "\n".join(self._line(*line.split(" ")) for line in lines)

    def _many(self) -> list[str]:
        """A run of simple lines, as programs write them."""
        random = self._random
        count = random.choice((2, 3, 17))
        names = [f"{random.choice('MPQ')}{n}" for n in range(count)]
        lines = [f"JOB {name} a.sub" for name in names]
        for name in names:
            lines.append(f'VARS {name} k="{name}" l="m n"')
            if random.random() < 0.1:
                lines.append(self._command())
        known = [*names, *self._defined[:3]]
        for _ in range(count):
            children = " ".join(random.choices(known, k=random.choice((1, 1, 2, 3))))
            lines.append(f"PARENT {random.choice(known)} CHILD {children}")
        if random.random() < 0.2:
            random.shuffle(lines)
        return lines


_WORDS: dict[object, Callable[[Writer], str]] = {
    node_word: Writer._name,
    file_word: Writer._file,
    rows.Names: Writer._names,
    rows.Files: Writer._file,
    rows.Number: Writer._own_number,
    rows.Share: Writer._share,
    rows.Time: Writer._time,
    Expression: Writer._expression,
    Condition: Writer._expression,
}

_SIMPLE = (
    *("PIN_IN {one} {pin}", "PIN_OUT {one} {pin}", "ABORT-DAG-ON {node} {number} {returns}"),
    *("PRIORITY {node} {number}", "PRE_SKIP {node} {number}", "SAVE_POINT_FILE {one} {save}"),
    *("TOLERANCE {node} {number}{percent} {how}", "CATEGORY {node} {category}", "DONE {one}"),
    *("MAXJOBS {category} {number}", "DOT {file} {dot}", "JOBSTATE_LOG {file}", "CONFIG {file}"),
    *("NODE_STATUS_FILE {file} {number} {always}", "SET_JOB_ATTR a = b", "ENV SET A=B"),
    *("ENV GET A", "{reject}", "//", ""),
)
_FILLED: dict[str, Callable[[Writer], str]] = {
    "node": Writer._name,
    "one": lambda writer: writer._name(""),
    "number": Writer._number,
    "pin": lambda writer: writer._pick(("1", "1", "2"), _ODD_NUMBERS),
    "category": lambda writer: writer._pick(_CATEGORIES[:3], _CATEGORIES),
    "file": lambda writer: writer._pick(("f.out", "g.out"), _OTHER_FILES),
    "reject": lambda writer: "REJECT" if writer._odd() else "# nothing",
}
_MAYBE = {
    "returns": ("RETURN 3", "RETURN 256"),
    "percent": ("%", " %"),
    "how": ("FAIL-FAST", "WAIT"),
    "save": ("s.save", '""', "d/e"),
    "dot": ("UPDATE", "DONT-OVERWRITE", "INCLUDE h"),
    "always": ("ALWAYS-UPDATE",),
}

_COMMANDS = (
    *(Writer._node, Writer._splice, Writer._include, Writer._connect, Writer._description),
    *(Writer._script, Writer._retry, Writer._sweep, *[Writer._vars] * 2, *[Writer._edge] * 3),
    *(*[Writer._own] * 6, *[Writer._simple] * 11, *[Writer._example] * 3),
)


def generate(random: Random) -> Sample:
    """A sample of one to five files."""
    count = random.choice((1, 1, 2, 3, 4, 5))
    files: dict[str, str] = {}
    for depth, path in enumerate(FILES[:count]):
        files[path] = as_read(Writer(random, FILES[depth + 1 : count]).text())
    dags = ("x.dag",) if random.random() < 0.85 else ("x.dag", *random.choices(FILES, k=1))
    writer = Writer(random)
    writer.known(files["x.dag"].split()[1:12:3])
    progress = as_read(writer.progress()) if random.random() < 0.3 else ""
    block, shortest = random.choice((0, 0, 1, 40, 200)), random.choice((1, 2, 2, 5, 16))
    return Sample(files, dags, random_options(random), progress, block, shortest)
