"""Named parts: each extension folder has one registry; the command line and the tests read it."""

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from olive_iw.errors import unknown_name

Part = TypeVar("Part")


class Registry(Mapping[str, Part], Generic[Part]):
    """Parts by name, for example `BANDITS["ttts"]`.

    Packages may add their own by an entry point in the group `olive_iw.<plural kind>`, for
    example `[project.entry-points."olive_iw.bandits"]`, `mine = "my_package:MyBandit"`.
    """

    def __init__(self, kind: str, group: str, parts: Mapping[str, Part]) -> None:
        """Parts of one `kind` (a word for messages); `group` is the entry points' group."""
        self._kind = kind
        self._parts = dict(parts)
        self._points = {
            point.name: point for point in entry_points(group=group) if point.name not in parts
        }

    def __getitem__(self, name: str) -> Part:
        if name not in self._parts and name in self._points:
            self._parts[name] = self._points[name].load()
        if name not in self._parts:
            raise unknown_name(self._kind, name, self)
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts or name in self._points

    def __iter__(self) -> Iterator[str]:
        yield from self._parts
        yield from (name for name in self._points if name not in self._parts)

    def __len__(self) -> int:
        return sum(1 for _ in self)
