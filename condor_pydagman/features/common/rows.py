"""Rows: the commands that stock DAGMan does not have, each of them declared once.

A row decorates the class of a command, whose fields name the parts of its line:

    @rows.Row("BRAKE", "Stops the DAG when more nodes fail than so many.", after="NOT_NEEDED")
    class Brake(NamedTuple):
        line: int
        name: str = rows.name("name of the brake")
        limit: int = rows.share("number of the brake", 0)
        percent: bool = False
        last: int = rows.option("OF", rows.number("number", 1), 0)
        effect: str = rows.one_of(("HALT", "HOLD", "ABORT"))

From it come how the line is read and written, its form in error messages and in the manual, and
what messages expect at each place; `tests/rows.py` makes lines up from it.  The parts stand in the
line in the order of their fields, but for options that follow each other, which stand in any order.
A part of several values gives the fields behind its own as well; a field without a part that no
part gives is in no line.

This module is loaded with the first command of a feature.
"""

# ruff: noqa: D102 (what the methods of parts do is said of those of Part)

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from itertools import groupby
from typing import Any, TypeVar, cast

from condor_pydagman import feature_table
from condor_pydagman.feature_table import FEATURE_OF, home
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import DEFINING, ROWS, CommandWord
from condor_pydagman.language.lexer import LineError, Words, file_word, name_word, node_word
from condor_pydagman.language.lines import (
    HIGHEST,
    Context,
    checked_number,
    end,
    integer,
    needed,
    needed_file,
    normal,
    number_range,
    unexpected,
)
from condor_pydagman.language.modifier_lines import read_time

NEEDED: Any = object()  # default of a part that a line must have
Check = Callable[[str, Words], str]  # gives a word as it is meant, or raises LineError

_KEYWORD = re.compile(r"[A-Za-z_-]+(?=[ \t\r]|$)")
_WHOLE_NUMBER = re.compile("[+-]?[0-9]+")
_C = TypeVar("_C", bound=type)


def with_or(words: Iterable[str]) -> str:
    """Words with commas, and "or" before the last."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def as_it_is(word: str, words: Words) -> str:
    """No check: the word means itself."""
    return word


class Part:
    """A value of a line: a word, unless a kind of part says otherwise."""

    fields: tuple[str, ...] = ()  # the fields of a row that it gives
    width = 1  # how many fields it gives
    empty: Any = ""  # a value of it that says nothing
    keywords: tuple[str, ...] = ()  # words that can begin it
    says_keyword = False  # whether what it writes begins with the word that announces it
    has_more = False  # whether it has any number of values
    # gives the value from that of the first time and that of the second, if an option may be there
    # twice
    again: Callable[[Any, Any], Any] | None = None
    sample = "x"  # what may stand there, for examples

    def __init__(
        self,
        noun: str = "",
        shown: str = "",
        check: Check = as_it_is,
        default: Any = NEEDED,
        sample: str = "",
        take: Callable[[Words, str], str] = needed,
        put: Callable[[Any], str] = name_word,
    ) -> None:
        """`take` reads the word, `put` writes it."""
        self.noun = noun  # what messages call it
        self.shown = shown  # how the form of the line shows it; '' for the name of its field
        self.check = check
        self.default = default  # its value if the line does not have it; NEEDED if the line must
        self.sample = sample or self.sample
        self.take = take
        self.put = put

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        """The value.

        Args:
            words: the words of the line.
            key: the word that has announced it, '' if none has.
            also: words that could stand in its place.

        Raises:
            LineError: it is not there, or is wrong.
            QuotingError: a quote is not closed.
        """
        return self.check(self.take(words, self.missing(key)), words)

    def write(self, value: Any) -> str:
        """Its words; raises ValueError if there are none that say this value."""
        return self.put(value)

    def more(self, words: Words) -> str:
        """One more value of a part that has any number of them; '' if there is none."""
        return ""

    def form(self, field: str) -> str:
        """How the form of the line shows it."""
        return self.shown or f"<{field}>"

    def missing(self, key: str) -> str:
        """What is said if it is not there."""
        return f"{key} missing its {self.noun}" if key else f"Missing {self.noun}"

    def invalid(self, key: str) -> str:
        """What is said if it is wrong, with a place for the word."""
        return f"Invalid {key} {self.noun} '{{}}'" if key else f"Invalid {self.noun} '{{}}'"

    def value(self, command: Any) -> Any:
        """Its value in a command."""
        values = tuple(getattr(command, field) for field in self.fields)
        return values if self.width > 1 else values[0]

    def given(self, value: Any) -> Iterable[tuple[str, Any]]:
        """The fields of a command that it gives, with that value."""
        return zip(self.fields, value if self.width > 1 else (value,))


# As defaults of fields, parts have the types of the values.


def name(noun: str, shown: str = "", check: Check = as_it_is, sample: str = "") -> Any:
    """A name, of which quotes stay."""
    return Part(noun, shown, check, sample=sample)


def node(check: Check = as_it_is) -> Any:
    """The name of a node, ALL_NODES included."""
    return Part("node", "<node>", check, sample="A", put=node_word)


def file(noun: str, shown: str = "", check: Check = as_it_is, sample: str = "") -> Any:
    """The name of a file or directory."""
    return Part(noun, shown, check, sample=sample, take=needed_file, put=file_word)


class Number(Part):
    """A whole number, `low` or more.  Nothing may follow the digits: 1h is not one second."""

    empty = 0

    def __init__(self, noun: str, low: int, shown: str = "<n>") -> None:
        super().__init__(noun, shown, sample=str(max(low, 1)), put=str)
        self.low = low

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        word = needed(words, self.missing(key))
        invalid = self.invalid(key)
        if not _WHOLE_NUMBER.fullmatch(word):
            hint = number_range(self.low, HIGHEST)
            hint += ", without a unit, a point or anything else behind it"
            raise LineError(invalid.format(word), words, hint=hint)
        return checked_number(word, words, invalid, self.low)


class Share(Part):
    """A whole number from `low`, and whether it is a share: per cent, of at most 100.  The `%` may
    be a word of its own."""

    width = 2

    def __init__(self, noun: str, low: int) -> None:
        super().__init__(noun, "<number>[%]", sample=str(max(low, 1)))
        self.low = low

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        said = needed(words, self.missing(key))
        column = words.column
        if words.peek() == "%":
            said += f" {words.next()}"
        percent = said.endswith("%")
        digits = said[:-1].rstrip() if percent else said
        value = integer(digits) if _WHOLE_NUMBER.fullmatch(digits) else None
        if value is None or not self.low <= value <= (100 if percent else HIGHEST):
            hint = (
                f"{number_range(self.low, HIGHEST)}, or a share of them: a whole number of per cent"
                f" from {self.low} to 100, as in 50%"
            )
            raise LineError(self.invalid(key).format(said), words, hint=hint, column=column)
        return value, percent

    def write(self, value: tuple[int, bool]) -> str:
        return f"{value[0]}{'%' * value[1]}"


class Time(Part):
    """Seconds, written as 90, 10m, 2h or 1d."""

    empty = 0

    def __init__(self) -> None:
        super().__init__("time", "<time>", sample="60", put=str)

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        return read_time(words, key)


class OneOf(Part):
    """One of some words; the value is the word as it stands there."""

    def __init__(self, choices: tuple[str, ...], default: Any = NEEDED) -> None:
        super().__init__(with_or(choices), "|".join(choices), default=default, sample=choices[0])
        self.keywords = choices

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        known = (*also, *self.keywords)
        word = words.next()
        if not word and self.default is not NEEDED:
            return self.default
        if not word:
            raise LineError(self.missing(key), words)
        if normal(word) not in self.keywords:
            unexpected(word, words, *known)
        return normal(word)

    def missing(self, key: str) -> str:
        return f"{key} missing {self.noun}" if key else f"Missing {self.noun}"

    def form(self, field: str) -> str:
        return self.shown if self.default is not NEEDED else f"({self.shown})"


class Names(Part):
    """Names up to the end of the line, `most` of them at most; 0 for any number."""

    empty = ()
    sample = "A"

    def __init__(self, noun: str, shown: str, most: int = 0) -> None:
        super().__init__(noun, shown)
        self.most = most

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        names = [needed(words, self.missing(key))]
        while len(names) != self.most:
            name = words.next()
            if not name:
                break
            names.append(name)
        return tuple(names)

    def write(self, value: tuple[str, ...]) -> str:
        return " ".join(map(name_word, value))


class Files(Part):
    """Names of files up to the next word that announces an option."""

    empty = ()
    has_more = True

    def more(self, words: Words) -> str:
        word = words.next_file()
        return self.check(word, words) if word else ""

    def write(self, value: tuple[str, ...]) -> str:
        return " ".join(map(file_word, value))


def text_to_the_end(words: Words, missing: str) -> str:
    """The rest of the line as it stands; `missing` is said if there is none."""
    text = words.rest().strip()
    if not text:
        raise LineError(missing, words)
    return text


def rest(noun: str, shown: str, check: Check = as_it_is, sample: str = "") -> Any:
    """The rest of the line as it stands."""
    return Part(noun, shown, check, sample=sample, take=text_to_the_end, put=str)


def _behind(key: str, part: Part, words: Words) -> Any:
    """What a word announces."""
    try:
        return part.read(words, key)
    except LineError as wrong:
        _show(f"{key} {part.sample}", wrong)
        raise


def _show(sample: str, wrong: LineError) -> None:
    """If nothing else says what was expected."""
    if not (wrong.hint or wrong.expected):
        wrong.hint = f"as in: {sample}"


class Variants(Part):
    """A word of several, and behind it what that takes: the value of this field and of the next.

    A word that takes nothing has None for its part; the next field is `empty` then.
    """

    width = 2

    def __init__(
        self,
        variants: Mapping[str, Part | None],
        shown: str = "",
        empty: Any = "",
        refuse: Check = as_it_is,
    ) -> None:
        """`refuse` may raise an error of its own for a word that is none of them."""
        key, part = next(iter(variants.items()))
        sample = key if part is None or part.default is not NEEDED else f"{key} {part.sample}"
        super().__init__(with_or(variants), shown, refuse, sample=sample)
        self.keywords = tuple(variants)
        self.variants = variants
        self.empty = empty

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        word = needed(words, self.missing(key))
        if normal(word) not in self.variants:
            self.check(word, words)
            unexpected(word, words, *self.keywords)
        key, part = normal(word), self.variants[normal(word)]
        if isinstance(part, Option):  # which may be left out
            key = keyword(words, part.keywords)
            if not key:
                return normal(word), part.default
            words.next()
        return normal(word), self.empty if part is None else _behind(key, part, words)

    def write(self, value: tuple[str, Any]) -> str:
        part = self.variants[value[0]]
        is_said = part is not None and value[1] != part.default
        return f"{value[0]} {part.write(value[1])}".rstrip() if part and is_said else value[0]

    def form(self, field: str) -> str:
        forms = (
            key if part is None else f"{key} {part.form(part.noun)}"
            for key, part in self.variants.items()
        )
        return self.shown or f"({'|'.join(forms)})"


class Option(Part):
    """A part that a word announces; of those that follow each other, in any order."""

    def __init__(
        self,
        keywords: str | tuple[str, ...],
        part: Part,
        default: Any = NEEDED,
        again: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        # the words, any of which announces it
        self.keywords = (keywords,) if isinstance(keywords, str) else keywords
        sample = f"{self.keywords[0]} {part.sample}"
        super().__init__(part.noun, default=default, sample=sample)
        self.part = part  # what follows
        self.again = again
        self.has_more = part.has_more
        self.width = part.width
        self.empty = part.empty

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        """The value, behind the word `key`."""
        if not self.has_more:
            return _behind(key, self.part, words)
        first = "" if keyword(words, also) else self.part.more(words)
        if not first:
            raise LineError(self.part.missing(key), words, hint=f"as in: {key} {self.part.sample}")
        return (first,)

    def more(self, words: Words) -> str:
        return self.part.more(words)

    def write(self, value: Any) -> str:
        text = self.part.write(value)
        return text if self.part.says_keyword else f"{self.keywords[0]} {text}"

    def form(self, field: str) -> str:
        form = self.part.shown or self.part.form(field)
        if not self.part.says_keyword:
            form = f"{'|'.join(self.keywords)} {form}"
        return form if self.default is NEEDED else f"[{form}]"


class Flag(Option):
    """A word that says yes, or one of several words, each with what it says."""

    def __init__(self, keywords: str | Mapping[str, Any], *, again: bool = False) -> None:
        means = {keywords: True} if isinstance(keywords, str) else keywords
        default = not next(iter(means.values())) if len(means) == 1 else next(iter(means.values()))
        last = _last if again else None
        super().__init__(tuple(means), Part(), default, last)
        self.means = means
        self.sample = self.keywords[0]

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        return self.means[key]

    def write(self, value: Any) -> str:
        return next(key for key, meant in self.means.items() if meant == value)

    def form(self, field: str) -> str:
        return f"[{'|'.join(self.keywords)}]"


def _last(first: Any, second: Any) -> Any:
    return second


LAST_COUNTS, ADDED_UP = _last, operator.add  # for `Option.again`

number: Any = Number
share: Any = Share
time: Any = Time
one_of: Any = OneOf
names: Any = Names
files: Any = Files
variants: Any = Variants
option: Any = Option
flag: Any = Flag


def keyword(words: Words, known: Collection[str]) -> str:
    """The next word in its normal form, if that is known; it is not taken.  Else ''."""
    words.peek()
    found = _KEYWORD.match(words.line, words.column)
    word = normal(found[0]) if found else ""
    return word if word in known else ""


class Row:
    """A command; to decorate its class with it makes it known."""

    command: Any  # its class
    parts: list[Part]  # of its line, in their order
    groups: list[list[Part]]  # the same, options that follow each other together

    def __init__(
        self,
        word: str,
        summary: str,
        *,
        after: str,
        in_rescue: bool = False,
        options: str = "",
        check: Callable[[Any, Words, Context], None] | None = None,
        usage: str = "",
        example: str = "",
    ) -> None:
        """A row without its class.

        Args:
            word: the word; FEATURES has it as well, so that it is known without its feature.
            summary: what the command does, in one line, for the manual.
            after: the word that it stands behind in the manual.
            in_rescue: whether it may stand in a rescue file.
            options: "some" if the line needs at least one of its options, "one" if exactly one.
            check: refuses a command, each part of which is right, given the words of its line and
                what is around it; raises LineError.
            usage: the form of its line, if it is not what the parts say.
            example: a short line, if it is not what the parts say.
        """
        self.word = word  # its word
        self.example = example  # a line with nothing that can be left out
        self._options = options
        self._check = check
        # what the language says of it
        self.about = CommandWord(
            word, usage, summary, extension=True, after=after, in_rescue=in_rescue
        )

    def __call__(self, kind: _C) -> _C:
        """Make this the row of a class."""
        word = self.word
        if FEATURE_OF.get(word) != home(kind):
            raise TypeError(f"{word} is no word of {home(kind) or kind.__module__} in FEATURES")
        self.command = kind
        self.parts = list(_placed(kind))
        self.groups = list(_grouped(self.parts))
        self._keys = [_keys(group) for group in self.groups]
        self._needed = {
            one.fields[0] for one in self.parts if isinstance(one, Option) and one.default is NEEDED
        }
        self._keywords = {normal(key) for one in self.parts for key in one.keywords}
        usage = self.about.usage or self._form()
        self.about = self.about._replace(usage=usage, defines=word in DEFINING)
        self.example = self.example or " ".join(self._example()).rstrip()
        ROWS[word] = self
        return kind

    def read(self, words: Words, context: Context) -> Command:
        """The command that the words after the command word say.

        Raises:
            LineError: they say none.
            QuotingError: a quote is not closed.
        """
        try:
            return self._read(words, context)
        except LineError as wrong:
            _show(self.example, wrong)
            raise

    def write(self, command: Any) -> str:
        """The line of the command; raises ValueError if there is none."""
        written = [self.word]
        for one in self.parts:
            value = one.value(command)
            default = one.default
            if default is NEEDED or value != default:
                written.append(one.write(value))
        return " ".join(filter(None, written))

    def _read(self, words: Words, context: Context) -> Command:
        values: dict[str, Any] = {}
        left: tuple[str, ...] = ()
        for group, keys in zip(self.groups, self._keys):
            if keys:
                found = self._read_options(keys, words)
                left = self._left(group, found, words)
                for one in group:
                    if one.fields[0] in found:
                        values.update(one.given(found[one.fields[0]]))
                continue
            try:
                value = group[0].read(words, "", left)
            except LineError as wrong:
                raise self._explained(wrong, group[0], words) from None
            values.update(group[0].given(value))
            left = ()
        self._end(words, left)
        command: Command = self.command(context.lines.number, **values)
        if self._check is not None:
            self._check(command, words, context)
        return command

    def _read_options(self, keys: Mapping[str, Part], words: Words) -> dict[str, Any]:
        """The values of the options that are there, by the first field of each."""
        found: dict[str, Any] = {}
        named = Part()  # the option of files to which what follows may belong
        while True:
            key = keyword(words, keys)
            if key:
                words.next()
                one = keys[key]
                field = one.fields[0]
                found[field] = _read_option(one, key, words, found.get(field, NEEDED), keys)
                if self._options == "one":
                    return found
                if one.has_more:
                    named = one
                continue
            more = named.more(words) if named.fields and words.peek() else ""
            if not more:
                return found
            found[named.fields[0]] += (more,)

    def _left(self, group: list[Part], found: dict[str, Any], words: Words) -> tuple[str, ...]:
        """The words of options that could follow.

        Raises:
            LineError: one is not there that must be.
        """
        is_enough = bool(found) or not self._options
        if is_enough and self._needed <= found.keys() and not words.peek():
            return ()
        missing = [one for one in group if one.fields[0] not in found]
        left = tuple(key for one in missing for key in one.keywords)
        needs = [one.keywords for one in missing if one.default is NEEDED]
        if not is_enough:
            needs = [left]
        if needs:
            unexpected(words.next(), words, *left)
            raise LineError(f"Missing {with_or(needs[0])}", words)
        return () if self._options == "one" else left

    def _end(self, words: Words, left: tuple[str, ...]) -> None:
        if not words.peek():
            return
        if not left and any(keyword(words, keys) for keys in self._keys):
            word = words.next()
            hint = f"expected the end of the line: {word} stands further in front"
            raise LineError(f"Unexpected token '{word}'", words, hint=hint)
        end(words, *left)

    def _explained(self, wrong: LineError, part: Part, words: Words) -> LineError:
        """The error; if a later word of the line stands in the place of a part, it says so."""
        word = _KEYWORD.match(words.line, wrong.column)
        if word is None or part.keywords or normal(word[0]) not in self._keywords:
            return wrong
        hint = f"{word[0]} stands behind it, as in: {self.example}"
        return LineError(part.missing(""), words, hint=hint, column=wrong.column)

    def _example(self) -> Iterator[str]:
        yield self.word
        options = self._options
        for one in self.parts:
            if one.default is NEEDED or (options and isinstance(one, Option)):
                yield one.sample
                options = "" if isinstance(one, Option) else options

    def _form(self) -> str:
        forms = [self.word]
        for group, keys in zip(self.groups, self._keys):
            shown = [one.form(one.fields[0]) for one in group]
            if keys and self._options == "one":
                shown = [f"({'|'.join(form[1:-1] for form in shown)})"]
            elif not keys and group[0].default is not NEEDED:
                shown = [f"[{shown[0]}]"]
            forms += shown
        return " ".join(forms)


def _grouped(parts: Iterable[Part]) -> Iterator[list[Part]]:
    for is_option, group in groupby(parts, lambda one: isinstance(one, Option)):
        if is_option:
            yield list(group)
        else:
            yield from ([one] for one in group)


def _keys(group: Iterable[Part]) -> dict[str, Part]:
    """The options of a group by their words; none if it is no group of options."""
    options = (one for one in group if isinstance(one, Option))
    return {normal(key): one for one in options for key in one.keywords}


def _read_option(part: Part, key: str, words: Words, before: Any, keys: Collection[str]) -> Any:
    """What follows a word; `before`: what stood behind such a word before, NEEDED if nothing."""
    if "_" in key and key not in part.keywords:
        key = key.replace("_", "-")
    if before is NEEDED:
        return part.read(words, key, keys)
    if part.again is None:
        raise LineError(f"Unexpected token '{key}'", words, hint=f"{key} can stand here once")
    return part.again(before, part.read(words, key, keys))


def _placed(command: Any) -> Iterator[Part]:
    """The parts of a class; from now on its fields have the defaults of these."""
    fields, defaults = command._fields, command._field_defaults
    parts = {field: one for field, one in defaults.items() if isinstance(one, Part)}
    for index, field in enumerate(fields):
        if field in parts:
            part = copy(parts[field])
            part.fields = fields[index : index + part.width]
            if part.default is NEEDED:
                defaults[field] = part.empty if part.width == 1 else ""
            else:
                defaults.update(part.given(part.default))
            yield part


def row_of(word: str) -> Row:
    """The row of a word of a feature."""
    feature_table.part(FEATURE_OF[word], "commands")
    return cast(Row, ROWS[word])
