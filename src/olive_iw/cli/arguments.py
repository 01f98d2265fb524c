"""How arguments are written: settings become options, made from the dataclasses that have them."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, cast

import tyro

from olive_iw.agents import Spec
from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.features.vae import PROFILES
from olive_iw.settings import PartOf, by_name, meanings, settings_of

Games = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[GAME …]")]
Watched = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME|FOLDER")]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
Folders = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR …")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
Out = Annotated[
    Path | None,
    tyro.conf.arg(aliases=["-o"], metavar="FILE", help_behavior_hint="(default: none)"),
]
MaybePath = Annotated[
    Path | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="(default: none)")
]
MaybeAll = Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="(default: all)")]
Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]
Json = Annotated[Flag, tyro.conf.arg(name="json")]
Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Settings: TypeAlias = Any
"""A dictionary of the settings that are given; `settings_type` makes its type."""
NONE_GIVEN: Settings = {}


PARSING = tyro.constructors.ConstructorRegistry()
"""How tyro reads types that we read otherwise."""


@PARSING.primitive_rule
def _whole_number(
    wanted: tyro.constructors.PrimitiveTypeInfo,
) -> tyro.constructors.PrimitiveConstructorSpec[int] | None:
    """Read whole numbers such as 20000, 20_000 and 2e4."""
    if wanted.type is not int:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: _read_whole(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    )


def _read_whole(text: str) -> int:
    if (
        re.fullmatch(r"[0-9]+(\.[0-9]+)?e\+?[0-9]{1,2}", text, re.IGNORECASE)
        and float(text).is_integer()
    ):
        return int(float(text))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text} is no whole number, such as 20000 or 2e4") from None


def otherwise(default: str, metavar: str = "NAME") -> Any:
    """Say in the help what an option is if it is not given; for `Annotated`."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


def asked(option: str, arguments: Sequence[str]) -> str | None:
    """Value that the arguments give an option, looked up before they are parsed."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == f"--{option}":
            return value if equals else next(iter(arguments[place + 1 :]), None)
    return None


def settings_type(
    config: Any, defaults: Mapping[str, str], names: Collection[str] | None = None
) -> Any:
    """Type of a dictionary of those settings of a dataclass that are given as options.

    `defaults` says, for the help, what counts where one is not; `names` are those that there are
    options for, if not all.
    """
    texts = meanings(config)
    entries = {
        name: Annotated[
            kind.type,
            tyro.conf.arg(
                help=texts[name],
                metavar="NAME" if isinstance(kind.limit, PartOf) else None,
                help_behavior_hint=f"(default: {defaults[name]})",
            ),
        ]
        for name, kind in settings_of(config).items()
        if name in (texts if names is None else names)
    }
    made = cast(Any, TypedDict)("Settings", entries, total=False)
    return Annotated[made, tyro.conf.OmitArgPrefixes]


def shown_defaults(spec: Spec) -> dict[str, str]:
    """Say what each setting of a specification is, and what other algorithms and profiles have."""
    usual = make_spec(spec.parts, spec.profile).settings()
    algorithms = [make_spec(name, spec.profile).settings() for name in ALGORITHMS.loaded]
    profiles = {name: make_spec(spec.parts, name).settings() for name in PROFILES.loaded}
    texts = {}
    for name, value in spec.settings().items():
        words = [shown(value)]
        own = [found[name] for found in algorithms if name in found]
        if others := [shown(it) for it in own if it != usual[name]]:
            words.append(f"other algorithms: {', '.join(dict.fromkeys(others))}")
        for profile, found in profiles.items():
            if name in found and found[name] != usual[name]:
                words.append(f"{profile}: {shown(found[name])}")
        texts[name] = "; ".join(words)
    return texts


def shown(value: Any) -> str:
    """Write a setting as the help has it: `15,000`, `0.0333333`, `none`."""
    value = by_name(value)
    if isinstance(value, bool | str) or value is None:
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
