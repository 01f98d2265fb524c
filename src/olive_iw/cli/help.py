"""What the command line says about itself: the overview, a command's help, and completion."""

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from olive_iw.errors import InputError

if TYPE_CHECKING:
    from olive_iw.cli.arguments import Argument, Command

WIDEST = 100
"""Columns of a help's lines at most."""
BESIDE = 26
"""Column in which the options' texts begin."""


def overview(commands: Mapping[str, str]) -> None:
    """Print every command with what it does."""
    _say("usage: olive-iw [--plugins] [--import MODULE] COMMAND …")
    _say("Play games by width-based planning, with binary features learned while playing.")
    _columns(commands.items(), 14)
    print()
    _say("Every command has its own --help. Example: olive-iw play breakout")
    _columns(
        {
            "--plugins": "Load installed plug-ins, so that files may name them.",
            "--import": "Load a module, for the same.",
            "--completion": "Print a script for the shell: bash, zsh or fish.",
            "--version": "Print the version.",
        }.items(),
        18,
    )


def command_help(name: str, command: "Command", everything: bool) -> None:
    """Print a command's help: of its settings the usual ones, or everything."""
    places = [argument.option for argument in command.own if argument.positional]
    _say(" ".join(("usage: olive-iw", name, *places, "[OPTIONS]")))
    _say(*command.text)
    _show(command.own)
    left_out = 0
    for group in command.groups:
        listed = [it for it in group.arguments if everything or it.name in group.usual]
        left_out += len(group.arguments) - len(listed)
        if everything:
            print(f"\n{group.title}:")
        _show(listed)
    if left_out:
        print(f"\n--help-all shows {left_out} more options.")


def _show(arguments: Iterable["Argument"]) -> None:
    _columns(((argument.usage, argument.help) for argument in arguments), BESIDE)


def _columns(rows: Iterable[tuple[str, str]], beside: int) -> None:
    """Print names with texts beside them, from a column on; below them where a name is longer."""
    for name, text in rows:
        first = f"  {name}"
        if len(first) > beside - 2:
            print(first)
            first = ""
        lines = textwrap.wrap(text, _width() - beside, break_on_hyphens=False)
        print(first.ljust(beside) + f"\n{' ' * beside}".join(lines))


def _say(*paragraphs: str) -> None:
    """Print paragraphs, with an empty line after each."""
    for text in paragraphs:
        print(textwrap.fill(" ".join(text.split()), _width(), break_on_hyphens=False), end="\n\n")


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, 2 * BESIDE), WIDEST)


Choices: TypeAlias = Mapping[str, "Sequence[Argument]"]
"""Arguments by command."""


def completion(shell: str, commands: Choices) -> None:
    """Print a script by which a shell completes commands, options and choices."""
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in scripts:
        raise InputError(f"--completion needs a shell: {', '.join(scripts)}")
    print(scripts[shell](commands))


def _words(argument: "Argument") -> list[str]:
    return [word for word in argument.usage.replace(",", " ").split() if word.startswith("-")]


def _bash(commands: Choices) -> str:
    options, values = [], []
    for name, arguments in commands.items():
        named = [argument for argument in arguments if not argument.positional]
        words = " ".join(word for argument in named for word in _words(argument))
        options.append(f"    {name}) words='{words} --help --help-all' ;;")
        values += [
            f"    {name}:{argument.option}) words='{' '.join(argument.choices)}' ;;"
            for argument in named
            if argument.choices
        ]
    return "\n".join(
        [
            "_olive_iw() {",
            '  local words="" before="${COMP_WORDS[COMP_CWORD-1]}" now="${COMP_WORDS[COMP_CWORD]}"',
            '  case "${COMP_WORDS[1]}" in',
            *options,
            "  esac",
            f"  [ \"$COMP_CWORD\" = 1 ] && words='{' '.join(commands)}'",
            '  case "${COMP_WORDS[1]}:$before" in',
            *values,
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$now"))',
            "}",
            "complete -o default -F _olive_iw olive-iw",
        ]
    )


def _zsh(commands: Choices) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: Choices) -> str:
    lines = [
        f"complete -c olive-iw -n __fish_use_subcommand -a '{' '.join(commands)}'",
    ]
    for name, arguments in commands.items():
        for argument in arguments:
            if not argument.positional:
                words = [word.lstrip("-") for word in _words(argument) if word.startswith("--")]
                for word in words:
                    known = f" -xa '{' '.join(argument.choices)}'" if argument.choices else ""
                    text = argument.text.partition(". ")[0].replace("'", "\\'")
                    where = f"'__fish_seen_subcommand_from {name}'"
                    lines.append(f"complete -c olive-iw -n {where} -l {word}{known} -d '{text}'")
    return "\n".join(lines)
