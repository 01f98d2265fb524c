"""Named parts: each extension folder has one registry; the command line and the tests read it."""

import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from olive_iw.errors import InputError, unknown_name

Part = TypeVar("Part")


@cache
def _installed() -> Any:
    """Look for entry points once: it reads the metadata of every installed package."""
    return entry_points()


class Registry(Mapping[str, Part], Generic[Part]):
    """Parts by name, for example `BANDITS["ttts"]`.

    Packages may add their own by an entry point in the group `olive_iw.<plural kind>`, for
    example `[project.entry-points."olive_iw.bandits"]`, `mine = "my_package:MyBandit"`; such a
    plug-in is imported when it is first asked for. A script adds its own with `add`.
    """

    def __init__(self, kind: str, group: str, parts: Mapping[str, Part]) -> None:
        """Parts of one `kind` (a word for messages); `group` is the entry points' group."""
        self.kind = kind
        self._parts = dict(parts)
        points = _installed().select(group=group)
        self._plugins = {point.name: point for point in points if point.name not in parts}
        """Those that are not loaded yet."""

    def __getitem__(self, name: str) -> Part:
        if name in self._plugins:
            try:
                self._parts[name] = self._plugins[name].load()
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                raise InputError(f"the {self.kind} {name!r} cannot be loaded: {said}") from error
            del self._plugins[name]
        if name not in self._parts:
            raise unknown_name(self.kind, name, self)
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts or name in self._plugins

    def __iter__(self) -> Iterator[str]:
        return iter([*self._parts, *self._plugins])

    def __len__(self) -> int:
        return len(self._parts) + len(self._plugins)

    def add(self, name: str, part: Part) -> None:
        """Give a part a name, from now on and in this process; names that are taken stay."""
        if name in self:
            raise InputError(f"there is already a {self.kind} {name!r}; choose another name")
        self._parts[name] = part

    @property
    def loaded(self) -> Mapping[str, Part]:
        """Parts that are built in, added or loaded already."""
        return MappingProxyType(self._parts)

    def known(self, name: str) -> Part:
        """Return a part that a file names: one that is built in, added or loaded already.

        A file never makes a module load. `InputError` for plug-ins that have not been asked for
        by their user, and for unknown names.
        """
        if name in self._plugins:
            raise InputError(
                f"the {self.kind} {name!r} is a plug-in, which a file cannot load: "
                "name it yourself first, or give 'olive-iw --plugins' before the command"
            )
        return self[name]

    def describe(self, name: str) -> str:
        """Say in a line what a part is, without loading a plug-in."""
        if name in self._plugins:
            package = self._plugins[name].dist
            return "a plug-in" if package is None else f"a plug-in of {package.name}"
        part: Any = self[name]
        if hasattr(part, "description"):
            return str(part.description)
        if isinstance(part, tuple):  # a profile: its network says what it is
            part = type(part[0])
        chosen = getattr(part, "keywords", {})  # of functools.partial
        line = (getattr(part, "func", part).__doc__ or "").partition("\n")[0]
        return line + "".join(f" ({name} = {value})" for name, value in chosen.items())

    def load_plugins(self) -> None:
        """Import every plug-in, so that files may name them; of one that fails it is warned."""
        for name in list(self._plugins):
            try:
                self[name]
            except InputError as error:
                warnings.warn(str(error), stacklevel=2)
