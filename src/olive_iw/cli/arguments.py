"""A command's arguments, made from its signature and docstring, and from dataclasses of settings.

A command is a function: what stands before its `/` is positional, the rest are options, and their
texts stand in the docstring below `Args:`. Settings are options made from dataclasses; of these
only those that are given reach the command, as its `**settings`.
"""

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NoReturn,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from olive_iw.errors import InputError, one_line, unknown_name
from olive_iw.errors import shown as shown_value
from olive_iw.settings import PartOf, by_name, meanings, settings_of

if TYPE_CHECKING:
    from olive_iw.agents import Spec


@dataclass(frozen=True, slots=True)
class Shown:
    """How the help writes an argument; for `Annotated`."""

    metavar: str = ""
    default: str = ""
    """What counts if it is not given, where that is not a plain value."""
    short: str = ""
    """Another name, such as `-o`."""
    name: str = ""
    """The option's name, if it is not the parameter's."""


USED = ("calls_per_action", "seconds_per_action", "search_workers")
"""Settings of an agent that the short help shows."""
REQUIRED: Any = inspect.Parameter.empty
Games: TypeAlias = Annotated[tuple[str, ...], Shown("GAME …")]
Watched: TypeAlias = Annotated[str, Shown("GAME|FOLDER")]
Folder: TypeAlias = Annotated[Path, Shown("DIR")]
Folders: TypeAlias = Annotated[tuple[Path, ...], Shown("DIR …")]
File: TypeAlias = Annotated[Path, Shown("FILE")]
Out: TypeAlias = Annotated[Path | None, Shown("FILE", short="-o")]
All: TypeAlias = Annotated[int | None, Shown("INT", "all")]
Json: TypeAlias = Annotated[bool, Shown(name="json")]
Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    name: str
    """Of the parameter, or of the setting."""
    type: Any
    default: Any
    """`REQUIRED` if it must be given; `argparse.SUPPRESS` of a setting, which may be left out."""
    text: str
    shown: Shown = Shown()
    positional: bool = False

    @property
    def option(self) -> str:
        """How it is written: `--calls-per-action`, `GAME`."""
        if self.positional:
            return self.shown.metavar
        return f"--{dashed(self.shown.name or self.name)}"

    @property
    def choices(self) -> Sequence[str] | None:
        """The values that there are, where they are few."""
        return get_args(self.type) if get_origin(self.type) is Literal else None

    @property
    def usage(self) -> str:
        """How it is written, with its value: `--seed INT`, `-o FILE, --out FILE`."""
        if self.positional:
            return self.option
        if self.type is bool:
            other = self.option.replace("--", "--no-", 1)
            return self.option if self.default is False else f"{self.option}, {other}"
        value = self.shown.metavar or _METAVARS.get(self.type, "NAME")
        value += " …" * (get_origin(self.type) is tuple)
        if self.choices:
            value = f"{{{','.join(self.choices)}}}"
        names = filter(None, (self.shown.short, self.option))
        return ", ".join(f"{name} {value}" for name in names)

    @property
    def help(self) -> str:
        """Its text, with what counts if it is not given; a command's own switches are off."""
        usual = self.shown.default
        plain = self.type is not bool and self.default not in (REQUIRED, (), "")
        if not usual and plain and "(default:" not in self.text:
            usual = shown(self.default)
        return f"{self.text} (default: {usual})" if usual else self.text

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Make a parser know it."""
        if self.type is bool:
            action: Any = "store_true" if self.default is False else argparse.BooleanOptionalAction
            parser.add_argument(self.option, dest=self.name, action=action, default=self.default)
            return
        several = get_origin(self.type) is tuple
        one = get_args(self.type)[0] if several else self.type
        reader = str if self.choices else _READERS.get(one, one)
        how: dict[str, Any] = {"type": reader, "choices": self.choices}
        if several or (self.positional and self.default is not REQUIRED):
            how["nargs"] = "*" if several else "?"
        if self.default is not REQUIRED:
            how["default"] = self.default
        if self.positional:
            parser.add_argument(self.name, metavar=self.shown.metavar, **how)
        else:
            names = filter(None, (self.shown.short, self.option))
            parser.add_argument(*names, dest=self.name, **how)


def dashed(name: str) -> str:
    """Name of a setting as an option has it."""
    return name.replace("_", "-")


def _whole(text: str) -> int:
    """Read a whole number such as 20000, 20_000 or 2e4."""
    try:
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?e\+?[0-9]{1,2}", text, re.IGNORECASE):
            number = float(text)
            return int(number) if number.is_integer() else int(text)
        return int(text)
    except ValueError:
        what = f"{text} is no whole number, such as 20000 or 2e4"
        raise argparse.ArgumentTypeError(what) from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no number, such as 0.5") from None


_READERS: Mapping[Any, Callable[[str], Any]] = {int: _whole, float: _number}
_METAVARS = {int: "INT", float: "FLOAT", Path: "PATH"}


def arguments_of(command: Callable[..., None]) -> list[Argument]:
    """Read a command's arguments from its signature and docstring; not its settings."""
    hints = get_type_hints(command, include_extras=True)
    section = textwrap.dedent(inspect.cleandoc(command.__doc__ or "").partition("Args:\n")[2])
    texts = dict(re.findall(r"^(\w+): (.*(?:\n .*)*)", section, re.MULTILINE))
    found = []
    for name, parameter in inspect.signature(command).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint, notes = hints[name], Shown()
        if get_origin(hint) is Annotated:
            hint, notes = get_args(hint)
        if get_origin(hint) in (Union, UnionType):
            (hint,) = (it for it in get_args(hint) if it is not NoneType)
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        text = " ".join(texts.get(name, "").split())  # python -OO has no docstrings
        found.append(Argument(name, hint, parameter.default, text, notes, positional))
    return found


def settings_arguments(config: type, defaults: Mapping[str, str]) -> list[Argument]:
    """Make options of a dataclass' settings, of those that there are defaults of.

    `defaults` says, for the help, what counts where one is not given.
    """
    texts = meanings(config)
    return [
        Argument(
            name,
            kind.type,
            argparse.SUPPRESS,
            texts.get(name, ""),
            Shown("NAME" * isinstance(kind.limit, PartOf), defaults[name]),
        )
        for name, kind in settings_of(config).items()
        if name in defaults
    ]


def options_groups(spec: "Spec", tables: Mapping[str, str], who: str = "") -> "list[Group]":
    """Make groups of all options that an agent has: its parts are those that can be told it."""
    found: dict[str, dict[str, Argument]] = {table: {} for table in tables}
    defaults = {name: who + shown(value) for name, value in spec.settings().items()}
    for table, part in spec.options.parts:
        for argument in settings_arguments(type(part), defaults) if table in tables else ():
            found[table].setdefault(argument.name, argument)
    return [Group(tables[it], [*found[it].values()], USED, spec.who) for it in found if found[it]]


def shown(value: Any) -> str:
    """Write a setting as the help has it: `15,000`, `0.0333333`, `none`."""
    if isinstance(value, tuple | Path):
        return str(value) if isinstance(value, Path) else " ".join(value)
    value = by_name(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return value if isinstance(value, str) else str(value).lower()


@dataclass(frozen=True, slots=True)
class Group:
    """Settings of one part, as a heading of the help."""

    title: str
    arguments: Sequence[Argument]
    usual: Collection[str] = ()
    """Those that people use, which the short help shows."""
    of: str = ""
    """Whose they are: an algorithm's."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(one_line(message, 300))


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it is called with, and the function that does it."""

    function: Callable[..., None]
    groups: Sequence[Group] = ()
    """Its settings."""

    @property
    def own(self) -> list[Argument]:
        """Arguments of its signature."""
        return arguments_of(self.function)

    @property
    def text(self) -> Sequence[str]:
        """What it does, in paragraphs."""
        text = inspect.cleandoc(self.function.__doc__ or "").partition("Args:\n")[0]
        return text.strip().split("\n\n")

    @property
    def all_arguments(self) -> list[Argument]:
        """These, and its settings."""
        return [*self.own, *(it for group in self.groups for it in group.arguments)]

    def call(self, words: Sequence[str]) -> None:
        """Parse the words and do it; `InputError` where they do not fit."""
        whose = next((f" of {group.of}" for group in self.groups if group.of), "")
        found = parse(self.all_arguments, words, f"option{whose}")
        places = [found.pop(it.name) for it in self.own if it.positional]
        self.function(*places, **found)


def parse(
    arguments: Sequence[Argument], words: Sequence[str], kind: str = "option"
) -> dict[str, Any]:
    """Return the value of every argument; `InputError` where the words do not fit."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    for argument in arguments:
        argument.add_to(parser)
    found, others = parser.parse_known_intermixed_args(_with_dashes(words))
    for word in others:
        if word.startswith("-"):
            usages = " ".join(argument.usage for argument in arguments)
            raise unknown_name(kind, word, re.findall(r"--[\w-]+", usages))
        raise InputError(f"{shown_value(word)} is one argument too many")
    return {name: tuple(it) if isinstance(it, list) else it for name, it in vars(found).items()}


def asked(words: Sequence[str], *names: str) -> list[str | None]:
    """Look up what some options are given before the others are known."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    for name in names:
        parser.add_argument(f"--{name}")
    found = vars(parser.parse_known_args(_with_dashes(words))[0])
    return [found[name] for name in names]


def _with_dashes(words: Sequence[str]) -> list[str]:
    """Let `--calls_per_action` be `--calls-per-action`."""
    return [re.sub(r"^--[\w-]+", lambda option: dashed(option[0]), word) for word in words]
