"""Completion scripts for bash, zsh and fish, made from the table of commands and their options."""

from __future__ import annotations

from argparse import Action
from dataclasses import dataclass

from hindbrain.edge.commands import COMMANDS
from hindbrain.edge.parser import command_module, make_parser

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]  # "-k", "--keyword"
    takes_value: bool
    help: str


def script_for(shell: str) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def options_of(command: str) -> list[Option]:
    parser = make_parser(command, command_module(command))
    return [_option(action) for action in parser._actions if action.option_strings]


def _option(action: Action) -> Option:
    return Option(tuple(action.option_strings), action.nargs != 0, action.help or "")


def _names(command: str) -> str:
    return " ".join(name for option in options_of(command) for name in option.names)


def _bash() -> str:
    cases = "\n".join(f'        {name}) words="{_names(name)}" ;;' for name, _ in COMMANDS)
    return f"""\
# hindbrain completion for bash: eval "$(hindbrain completion bash)"
_hindbrain() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="" words i
    local IFS=$' \\t\\n'
    COMPREPLY=()
    case "$previous" in
        --vault|--keep) IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$current")); return ;;
    esac
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{COMP_WORDS[i]}}" in
            --vault) ((i++)) ;;
            -*) ;;
            *) command="${{COMP_WORDS[i]}}"; break ;;
        esac
    done
    case "$command" in
        "") words="{" ".join(name for name, _ in COMMANDS)} --help --version --vault --json --debug" ;;
{cases}
    esac
    [[ $command == completion && $current != -* ]] && words="{" ".join(SHELLS)}"
    if [[ $command == init && $current != -* ]]; then
        IFS=$'\\n'
        COMPREPLY=($(compgen -d -- "$current"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _hindbrain hindbrain
"""


def _zsh() -> str:
    commands = "\n".join(f"        {_quoted(f'{name}:{text}')}" for name, text in COMMANDS)
    cases = "\n".join(
        f"        {name}) _arguments {' '.join(map(_zsh_option, options_of(name)))} '*:: :_files' ;;"
        for name, _ in COMMANDS
    )
    return f"""\
#compdef hindbrain
# hindbrain completion for zsh: eval "$(hindbrain completion zsh)"
_hindbrain() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command="$words[2]"
    shift words
    (( CURRENT-- ))
    case "$command" in
{cases}
    esac
}}
compdef _hindbrain hindbrain
"""


def _zsh_option(option: Option) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", ";")
    value = ":value:_files" if option.takes_value else ""
    return " ".join(_quoted(f"*{name}[{text}]{value}") for name in option.names)


def _fish() -> str:
    lines = [
        "# hindbrain completion for fish: hindbrain completion fish | source",
        "complete -c hindbrain -f",
    ]
    for name, text in COMMANDS:
        lines.append(f"complete -c hindbrain -n __fish_use_subcommand -a {name} -d {_quoted(text)}")
    for name, _ in COMMANDS:
        for option in options_of(name):
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.names
            )
            value = " -r -F" if option.takes_value else ""
            when = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c hindbrain {when} {flags}{value} -d {_quoted(option.help)}")
    lines.append(f"complete -c hindbrain -n '__fish_seen_subcommand_from completion' -a '{' '.join(SHELLS)}'")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """In single quotes, for any of the three shells."""
    return "'" + text.replace("'", "’") + "'"
