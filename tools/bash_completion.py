"""Completion for bash: one file for each command, which needs nothing but bash 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tools import command_tables
from tools.command_tables import Parser, Word

# Fills COMPREPLY.  Every file brings it, since bash loads each by itself.
_FILL = r"""
# What the word $1 can be completed to, as one of the kinds, or the values, in the rest.
_condor_pydagman_fill() {
    local word=$1 kind=$2
    case $kind in
        file | directory | dag | rescue | save) compopt -o filenames 2>/dev/null ;;
    esac
    case $kind in
        nothing) ;;
        file) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        directory) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        dag) _condor_pydagman_files "$word" '!*.dag' ;;
        rescue) _condor_pydagman_files "$word" '!*.rescue[0-9]*' ;;
        save)
            mapfile -t COMPREPLY < <(
                compgen -f -- "$word"
                cd save_files 2>/dev/null && compgen -f -- "$word"
            ) ;;
        node)
            if [[ -z ${first-} ]]; then
                compopt -o filenames 2>/dev/null
                _condor_pydagman_files "$word" '!*.dag'
            else
                mapfile -t COMPREPLY < <(
                    condor_pydagman steer names "$first" "$word" 2>/dev/null |
                        while IFS= read -r name; do printf '%q\n' "$name"; done
                )
            fi ;;
        variable) mapfile -t COMPREPLY < <(compgen -e -- "$word") ;;
        command) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
        *)
            shift
            mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word") ;;
    esac
}

# Files of the pattern and directories; if there is no such file, every file.
_condor_pydagman_files() {
    mapfile -t COMPREPLY < <(compgen -f -X "$2" -- "$1")
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$1")
    else
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$1")
    fi
}

# Those of the words after the first that begin with the first, whatever the case.
_condor_pydagman_options() {
    local typed=${1,,} word
    shift
    COMPREPLY=()
    for word; do
        [[ ${word,,} == "$typed"* ]] && COMPREPLY+=("$word")
    done
}
"""

_ONE_COMMAND = r"""
_NAME() {
    local current=${COMP_WORDS[COMP_CWORD]} want=dag file= word i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $want != dag ]]; then
            want=dag
        elif [[ $word == -* ]]; then
            _NAME_argument "$word"
        else
            file=yes
        fi
    done
    if [[ $want == dag && $current == -* ]]; then
        OPTIONS
    else
        _condor_pydagman_fill "$current" $want
    fi
}

# Sets `want` to what follows an option, which may be abbreviated: the first that begins so is it.
_NAME_argument() {
    local entry
    for entry in \
        TABLE; do
        if [[ ${entry%%:*} == "${1,,}"* ]]; then
            want=${entry#*:}
            want=${want//,/ }
            return
        fi
    done
}

complete -F _NAME NAME
"""

_SUBCOMMANDS = r"""
_NAME() {
    local current=${COMP_WORDS[COMP_CWORD]} path= want= first= word entry i
    local inner options arguments operand
    _NAME_at ''
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $want ]]; then
            want=
        elif [[ $word == -* ]]; then
            for entry in $arguments; do
                [[ ${entry%%:*} == "$word" ]] && want=${entry#*:} && want=${want//,/ }
            done
        elif [[ " $inner " == *" $word "* ]]; then
            path+=" $word"
            _NAME_at "$path"
        elif [[ -z $inner ]]; then
            first=${first:-$word}
        fi
    done
    if [[ -n $want ]]; then
        _condor_pydagman_fill "$current" $want
    elif [[ $current == -* ]]; then
        _condor_pydagman_options "$current" $options
    else
        _condor_pydagman_fill "$current" ${inner:-$operand}
    fi
}

# Sets what can be said after the words of a command.
_NAME_at() {
    inner= options=--help arguments= operand=nothing
    case $1 in
CASES
    esac
}

complete -F _NAME NAME
"""


def text(name: str, words: Iterable[Word], typed: Iterable[Word], options_first: bool) -> str:
    """Completion of a command of options and DAG files.

    Args:
        words: what is offered.
        typed: every word that stands for an option, in the order of their look-up.
        options_first: whether no option may follow a DAG file.
    """
    names = " ".join(max(word.names, key=len) for word in words)
    offer = f'_condor_pydagman_options "$current" {names}'
    if options_first:
        offer = f"[[ -n $file ]] || {offer}"
    table = " \\\n        ".join(
        f"{word.names[0]}:{','.join(word.values) or 'dag'}" for word in typed
    )
    body = _ONE_COMMAND
    if not table:
        body = body[: body.index("# Sets")] + body[body.index("complete -F") :]
        body = body.replace('_NAME_argument "$word"', ":  # none has an argument")
    body = body.replace("OPTIONS", offer).replace("TABLE", table).replace("NAME", name)
    return _FILL + body


def subcommands_text(name: str, parsers: Mapping[str, Parser]) -> str:
    """Completion of a command of commands."""
    cases = []
    for path, parser in parsers.items():
        inner = " ".join(command_tables.children(parser))
        words = command_tables.parser_options(parser)
        options = " ".join(max(word.names, key=len) for word in words)
        arguments = " ".join(
            f"{option}:{','.join(word.values)}"
            for word in words
            if word.argument
            for option in word.names
        )
        operands = command_tables.operands(parser)
        operand = " ".join(operands[-1].values) if operands else "nothing"
        general = "--help --version" if not path else "--help"
        cases.append(
            f"        '{' ' + path if path else ''}')\n"
            f"            inner='{inner}'\n"
            f"            options='{' '.join(filter(None, [general, options]))}'\n"
            f"            arguments='{arguments}'\n"
            f"            operand='{operand}' ;;"
        )
    body = _SUBCOMMANDS.replace("CASES", "\n".join(cases)).replace("NAME", name)
    return _FILL + body
