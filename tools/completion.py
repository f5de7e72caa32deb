"""Writes completion for bash, zsh and fish from the tables of the commands.

`python -m tools.generate` writes them.

Each shell finds the files by itself in the share/ of a prefix that it knows.  Options are offered
as stock spells them, whatever the case of what was typed; an argument's place is known behind an
abbreviated option too (bash).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from condor_pydagman.cli import checker_options
from condor_pydagman.dagman_job.options import LETTERS, OPTIONS, WAIT_FOR_DEBUG
from tools import bash_completion, command_tables
from tools.command_tables import Word

BASH, ZSH, FISH = (
    "share/bash-completion/completions/",
    "share/zsh/site-functions/",
    "share/fish/vendor_completions.d/",
)
TITLE = "# Completion of {} for {}; made by tools/completion.py.\n"
_GENERAL = [
    Word(("-help",), "", (), "Print a summary"),
    Word(("-version",), "", (), "Print version"),
]


def files() -> dict[str, str]:
    """Path and text of each file."""
    found = {}
    for name, words in commands().items():
        title = TITLE.format(name, "bash")
        typed = _as_typed() if name in ("condor_submit_dag", "condor_dagman") else []
        first = name == "condor_submit_dag"  # options come before DAG files
        found[BASH + name] = title + bash_completion.text(name, words, typed, first)
        found[FISH + name + ".fish"] = TITLE.format(name, "fish") + _fish(name, words)
    found[BASH + "condor_pydagman"] = TITLE.format("condor_pydagman", "bash") + (
        bash_completion.subcommands_text("condor_pydagman", command_tables.parsers())
    )
    found[FISH + "condor_pydagman.fish"] = TITLE.format("condor_pydagman", "fish") + (
        _fish_subcommands("condor_pydagman")
    )
    found[ZSH + "_condor_pydagman"] = _zsh()
    return found


def commands() -> dict[str, list[Word]]:
    """The options of each command that has no subcommands."""
    rows = checker_options._OPTIONS
    usage = checker_options.USAGE.replace("-[No]JoinNodes", "-JoinNodes -NoJoinNodes")
    spelled = {word.lower(): word for word in usage.replace("/", " ").split() if word[0] == "-"}
    checker = [Word((spelled["-" + row.name],), "", (), "") for row in rows]
    return {
        "condor_submit_dag": _GENERAL + command_tables.option_words(daemon=False),
        "condor_dagman": _GENERAL + command_tables.option_words(daemon=True),
        "condor_dag_checker": checker,
    }


def _as_typed() -> list[Word]:
    """Every option by every word that it is known by, in the order in which abbreviations are
    looked up."""
    by_name = {row.name.lower(): row for row in (*OPTIONS, WAIT_FOR_DEBUG)}
    words = {**{name: name for name in by_name}, **{a: b.lower() for a, b in LETTERS.items()}}
    found = []
    for word in sorted(words):
        values = command_tables.words_of(by_name[words[word]]).values
        found.append(Word(("-" + word,), "", values, ""))
    return found


def _zsh() -> str:
    names = [*commands(), "condor_pydagman"]
    lines = ["#compdef " + " ".join(names), TITLE.format("these commands", "zsh").rstrip(), ""]
    lines += ["case $service in"]
    for name, words in commands().items():
        stop = ' -A "-*"' if name == "condor_submit_dag" else ""
        lines += [f"{name})", f"    _arguments -M 'm:{{a-zA-Z}}={{A-Za-z}}'{stop} \\"]
        lines += [f"        {spec} \\" for word in words for spec in _zsh_options(word)]
        lines += [f"        {_zsh_files('*:DAG file', command_tables.DAG)}", "    ;;"]
    lines += ["condor_pydagman)", *("    " + line for line in _zsh_subcommands()), "    ;;", "esac"]
    return "\n".join(lines) + "\n"


_ZSH_ACTIONS = {
    command_tables.NOTHING: "",
    command_tables.FILE: "_files",
    command_tables.DAG: '_files -g "*.dag(-.)"',
    command_tables.DIRECTORY: "_files -/",
    command_tables.RESCUE: '_files -g "*.rescue<->(-.)"',
    command_tables.SAVE: '_alternative "saves:save file:_files -W save_files" "files:file:_files"',
    command_tables.VARIABLE: "_parameters -g '*export*'",
    command_tables.COMMAND: "_normal",
    command_tables.NODE: '{compadd -- ${(f)"$(condor_pydagman steer names ${words[2]} $PREFIX'
    ' 2>/dev/null)"}}',
}


def _zsh_options(word: Word) -> Iterator[str]:
    for name in word.names:
        spec = f"*{name}[{_zsh_text(word.text)}]"
        if word.argument:
            yield _zsh_files(f"{spec}:{_zsh_text(word.argument)}", *word.values)
        else:
            yield _quoted(spec)


def _zsh_files(head: str, *values: str) -> str:
    if values[0] in _ZSH_ACTIONS:
        return _quoted(f"{head}:{_ZSH_ACTIONS[values[0]]}")
    return _quoted(f"{head}:({' '.join(values)})")


def _zsh_text(text: str) -> str:
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def _zsh_subcommands() -> Iterator[str]:
    """The position of a word says which level it is of, since options follow the commands."""
    parsers = command_tables.parsers()
    yield 'case "${words[2]} ${words[3]}" in'
    for path, parser in sorted(parsers.items(), key=lambda item: -len(item[0].split())):
        inner = command_tables.children(parser)
        options = [word for word in command_tables.parser_options(parser) if not inner]
        specs = [spec for word in options for spec in _zsh_options(word)]
        depth = len(path.split())
        if inner:
            yield _zsh_case(path)
            yield f"    (( CURRENT == {depth + 2} )) && compadd -- {' '.join(inner)}"
        else:
            specs += _zsh_operands(command_tables.operands(parser))
            yield _zsh_case(path)
            # As if the command were `condor_pydagman` alone.
            yield f"    shift {depth} words; (( CURRENT -= {depth} ))"
            yield "    _arguments -S " + " ".join(specs)
        yield "    ;;"
    yield "esac"


def _zsh_operands(words: list[Word]) -> Iterator[str]:
    for place, word in enumerate(words, 1):
        which = "*" if word is words[-1] else place
        yield _zsh_files(f"{which}:{_zsh_text(word.argument.strip('[]'))}", *word.values)


def _zsh_case(path: str) -> str:
    return {0: "*", 1: f'"{path} "*', 2: f'"{path}"'}[len(path.split())] + ")"


_FISH_VALUES = {
    command_tables.NOTHING: "-x",
    command_tables.FILE: "-r -F",
    command_tables.DAG: "-x -k -a '(__fish_complete_suffix .dag)'",
    command_tables.DIRECTORY: "-x -a '(__fish_complete_directories)'",
    command_tables.RESCUE: "-r -F",
    command_tables.SAVE: "-r -F -a '(string replace save_files/ \"\" -- save_files/*)'",
    command_tables.VARIABLE: "-x -a '(set -nx)'",
    command_tables.COMMAND: "-x -a '(__fish_complete_subcommand)'",
    command_tables.NODE: "-x -a '(condor_pydagman steer names (commandline -opc)[4]"
    " (commandline -ct) 2>/dev/null)'",
}


def _fish(name: str, words: Iterable[Word]) -> str:
    lines = [f"complete -c {name} -k -x -a '(__fish_complete_suffix .dag)'"]
    return "\n".join([*lines, *(_fish_option(name, word) for word in words)]) + "\n"


def _fish_option(name: str, word: Word, condition: str = "") -> str:
    parts = [f"complete -c {name}{condition}"]
    for option in word.names:
        kind = "-l" if option.startswith("--") else "-o" if len(option) > 2 else "-s"
        parts.append(f"{kind} {option.lstrip('-')}")
    if word.argument:
        parts.append(_fish_values(word.values))
    if word.text:
        parts.append("-d " + _quoted(word.text))
    return " ".join(parts)


def _fish_values(values: tuple[str, ...]) -> str:
    return _FISH_VALUES.get(values[0], f"-x -a '{' '.join(values)}'")


def _fish_subcommands(name: str) -> str:
    lines = [f"complete -c {name} -f"]
    for path, parser in command_tables.parsers().items():
        inner = command_tables.children(parser)
        seen = "".join(f"; and __fish_seen_subcommand_from {word}" for word in path.split())
        others = f"; and not __fish_seen_subcommand_from {' '.join(inner)}" if inner else ""
        condition = f" -n 'true{seen}{others}'"
        for child, sub in inner.items():
            text = _quoted(re.split(r"[.:] ", sub.description or "")[0].rstrip(".:"))
            lines.append(f"complete -c {name}{condition} -a {child} -d {text}")
        for word in [] if inner else command_tables.parser_options(parser):
            lines.append(_fish_option(name, word, condition))
        for word in command_tables.operands(parser):
            lines.append(f"complete -c {name}{condition} {_fish_values(word.values)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\n", " ").replace("'", "'\\''") + "'"
