"""Completion scripts for bash, zsh and fish, made from the table of commands, their options and choices."""

from __future__ import annotations

from collections.abc import Iterable

from hindbrain.edge.choices import SHELLS, Option, Value, Word, options_of, words_of
from hindbrain.edge.commands import COMMANDS, NAMES

__all__ = ["SHELLS", "options_of", "script_for"]


def script_for(shell: str) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _flags(options: Iterable[Option]) -> str:
    return " ".join(name for option in options for name in option.names)


def _valued() -> list[str]:
    """Command and option, for all that take a value: that value is no word of the command. The same option
    may take none elsewhere."""
    return [
        f"{name} {flag}"
        for name in NAMES
        for option in options_of(name)
        if option.value and "--vault" not in option.names
        for flag in option.names
    ]


# bash


def _bash() -> str:
    options = [f'            {name}) words="{_flags(options_of(name))}" ;;' for name in NAMES]
    values = [f"        {patterns}) {offer} ;;" for offer, patterns in _bash_values().items()]
    places = [
        f'            "{word.place} {name} "{word.after or "*"}) {_bash_value(word.value)} ;;'
        for name in NAMES
        for word in words_of(name)
    ]
    return f"""\
# hindbrain completion for bash: eval "$(hindbrain completion bash)"
_hindbrain() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="" first="" count=0 words="" i
    local IFS=$' \\t\\n'
    COMPREPLY=()
    # --name=value comes as three words.
    [[ $current == "=" ]] && current=""
    [[ $previous == "=" ]] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$command ${{COMP_WORDS[i]}}" in
            *" --vault"|{"|".join(f'"{one}"' for one in _valued())})
                ((i++))
                [[ ${{COMP_WORDS[i]}} == "=" ]] && ((i++)) ;;
            *" -"*) ;;
            *)
                ((count++))
                [[ $count == 1 ]] && command="${{COMP_WORDS[i]}}"
                [[ $count == 2 ]] && first="${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$command $previous" in
{_lines(values)}
    esac
    if [[ -z $words && $current != -* ]]; then
        case "$count $command $first" in
            "0  ") words="{" ".join(NAMES)}" ;;
{_lines(places)}
        esac
    fi
    if [[ -z $words ]]; then
        case "$command" in
            "") words="--help --version --vault --json --debug" ;;
{_lines(options)}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _hindbrain hindbrain
"""


def _bash_values() -> dict[str, str]:
    """What to do, and the patterns of command and option that ask for it."""
    found = {_bash_value(Value("folder")): ['*" --vault"']}
    for name in NAMES:
        for option in options_of(name):
            if option.value and "--vault" not in option.names:
                found.setdefault(_bash_value(option.value), []).extend(
                    f'"{name} {flag}"' for flag in option.names
                )
    return {offer: "|".join(patterns) for offer, patterns in found.items()}


def _bash_value(value: Value) -> str:
    if value.kind == "text":
        return "return"
    if value.kind == "choice":
        return f'words="{" ".join(value.choices)}"'
    flag = "-d" if value.kind == "folder" else "-f"
    named = f' -W "{" ".join(value.choices)}"' if value.choices else ""
    # A name may have spaces; the choices are split by them, and so asked for before.
    ask = f'COMPREPLY=($(compgen{named} -- "$current")); ' if named else ""
    return f"{ask}IFS=$'\\n'; COMPREPLY+=($(compgen {flag} -- \"$current\")); return"


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


# zsh


def _zsh() -> str:
    commands = "\n".join(f"        {_quoted(f'{name}:{text}')}" for name, text in COMMANDS)
    cases = "\n".join(f"        {name}) _arguments {' '.join(_zsh_specs(name))} ;;" for name in NAMES)
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


def _zsh_specs(command: str) -> list[str]:
    options = [spec for option in options_of(command) for spec in _zsh_option(option)]
    places = [
        _quoted(f"{word.place}:{word.name}:{_zsh_action(word.value, word)}") for word in words_of(command)
    ]
    return [*options, *places, "'*: :_files'"]


def _zsh_option(option: Option) -> list[str]:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", ";")
    value = f":value:{_zsh_action(option.value)}" if option.value else ""
    return [
        _quoted(f"*{name}{'=' if value and name.startswith('--') else ''}[{text}]{value}")
        for name in option.names
    ]


def _zsh_action(value: Value, word: Word | None = None) -> str:
    choices = " ".join(value.choices)
    if value.kind == "choice":
        if word is not None and word.after:
            return f"{{[[ -n $words[(r){word.after}] ]] && compadd - {choices}}}"
        return f"({choices})"
    if value.kind == "text":
        return " "
    files = "_files -/" if value.kind == "folder" else "_files"
    return f"{{compadd - {choices}; {files}}}" if choices else files


# fish


def _fish() -> str:
    lines = [
        f"complete -c hindbrain -n '__hindbrain_at 0' -a {name} -d {_quoted(text)}" for name, text in COMMANDS
    ]
    for name in NAMES:
        for option in options_of(name):
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.names
            )
            value = f" {_fish_value(option.value)}" if option.value else ""
            lines.append(
                f"complete -c hindbrain -n '__hindbrain_in {name}' {flags}{value} -d {_quoted(option.help)}"
            )
        for word in words_of(name):
            when = f"__hindbrain_at {word.place} {name} {word.after}".rstrip()
            offer = _fish_value(word.value).removeprefix("-x ").removeprefix("-r ")
            lines.append(f"complete -c hindbrain -n '{when}' {offer}")
    valued = " ".join(_quoted(one) for one in ("* --vault", *_valued()))
    return _FISH_START.replace("VALUED", valued) + _lines(lines) + "\n"


_FISH_START = """\
# hindbrain completion for fish: hindbrain completion fish | source
function __hindbrain_words
    set -l skip 0
    set -l command
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$command $word"
            case VALUED
                set skip 1
            case '* -*'
            case '*'
                test -n "$command"; or set command $word
                printf '%s\\n' $word
        end
    end
end
# So many words are there, the command and its first word among them.
function __hindbrain_at
    set -l words (__hindbrain_words)
    test (count $words) -eq $argv[1]; or return 1
    test -z "$argv[2]"; or test "$argv[2]" = "$words[1]"; or return 1
    test -z "$argv[3]"; or test "$argv[3]" = "$words[2]"
end
function __hindbrain_in
    set -l words (__hindbrain_words)
    test "$argv[1]" = "$words[1]"
end
complete -c hindbrain -f
"""


def _fish_value(value: Value) -> str:
    if value.kind == "text":
        return "-x"
    if value.kind == "folder":
        return "-x -a '(__fish_complete_directories)'"
    offered = f" -a {_quoted(' '.join(value.choices))}" if value.choices else ""
    return f"-x{offered}" if value.kind == "choice" else f"-r -F{offered}"


def _quoted(text: str) -> str:
    """In single quotes, for any of the three shells."""
    return "'" + text.replace("'", "’") + "'"
