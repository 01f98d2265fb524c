"""Games of retro consoles through `stable-retro`, and an example of an adapter.

What an emulator must offer is little: do an action, show a picture, hand out its state and take
one back. All else here is what this emulator needs to keep the contract of `Simulator`.
"""

import threading
import weakref
import zlib
from functools import partial, reduce
from itertools import product
from operator import or_
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, final, get_args

import numpy as np
from numpy.typing import NDArray

from olive_iw.errors import InputError, needing, unknown_name
from olive_iw.simulators.base import Step, check_call, read_only
from olive_iw.simulators.observations import grey

ActionSet: TypeAlias = Literal["minimal", "full"]
Picture: TypeAlias = NDArray[np.uint8]
FRAME_SKIP = 15
_WAYS = ("UP", "DOWN", "LEFT", "RIGHT")
_TURN = threading.RLock()


class RetroState(NamedTuple):
    """A saved state."""

    console: bytes
    """The emulator's state, compressed: 12 kB of 1 MB for a Genesis game."""
    over: bool


@final
class RetroSimulator:
    """A game of a console, by stable-retro's name for it: `Airstriker-Genesis-v0`.

    An action is held for `frame_skip` frames. The minimal action set are a direction, a button, or
    both; the full one all that stable-retro deems useful. Screens are grey; `step_frames` has the
    colours. Simulators of one process take turns with its only emulator.
    """

    _holder: ClassVar["weakref.ref[RetroSimulator] | None"] = None
    """Who has the process's emulator now."""

    def __init__(
        self, game: str, *, frame_skip: int = FRAME_SKIP, action_set: ActionSet = "minimal"
    ) -> None:
        if frame_skip < 1:
            raise InputError(f"frame_skip must be at least 1, not {frame_skip}")
        if action_set not in get_args(ActionSet):
            raise InputError(f"action_set {action_set!r} is not one of minimal, full")
        self.game, self.frame_skip, self.action_set = game, frame_skip, action_set
        self._shape: tuple[int, ...] | None = None
        self._console: Any = None
        self._aside: RetroState | None = None
        """Where it stood when another simulator took the emulator."""
        self._over = False
        with _TURN:
            console = self._take()
            self._masks = _actions(console, action_set)
            console.reset()
            self._first_step = self._look(0.0)
            self._first_state = self.save()
        self.action_count = len(self._masks)
        self.action_names = tuple(_name(console, mask) for mask in self._masks)
        """The buttons that are held: `UP B`; NOOP: none."""

    def __repr__(self) -> str:
        return f"<RetroSimulator of {self.game}, {self.action_count} actions>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as another simulator of the same game, at the start of an episode."""
        options: Any = {"frame_skip": self.frame_skip, "action_set": self.action_set}
        return partial(RetroSimulator, **options), (self.game,)

    def reset(self) -> Step:
        """Go to the start of an episode, which is always the same."""
        self.restore(self._first_state)
        return self._first_step

    def step(self, action: int) -> Step:
        """Hold an action for `frame_skip` frames, or until the game is over."""
        return self._call(action, None)

    def step_frames(self, action: int) -> tuple[Step, list[Picture]]:
        """Do what `step` does, and also return each frame's picture, uint8 (height, width, 3)."""
        frames: list[Picture] = []
        return self._call(action, frames), frames

    def save(self) -> RetroState:
        """Return the console's state."""
        with _TURN:
            # Some ten parts in a thousand of it are used; the fastest level finds them.
            return RetroState(zlib.compress(self._take().em.get_state(), 1), self._over)

    def restore(self, state: RetroState) -> None:
        """Go back to a state saved in the same game, also one saved in another process."""
        with _TURN:
            console, self._over = self._take(), state.over
            console.em.set_state(zlib.decompress(state.console))
            # What stable-retro reads of the memory, and compares for rewards, is beside the state.
            console.data.reset()
            console.data.update_ram()

    def close(self) -> None:
        """Give the emulator back, so that others than these simulators can have one."""
        with _TURN:
            if self._console is not None:
                RetroSimulator._holder = None
                self._leave().close()

    def _leave(self) -> Any:
        """Note where it stands, and return the emulator, to be taken by another."""
        self._aside = self.save()
        console, self._console = self._console, None
        return console

    def _take(self) -> Any:
        """Return the process's emulator, with this game in it and where it stood."""
        if self._console is None:
            held, console = RetroSimulator._holder, None
            RetroSimulator._holder = None
            if held is not None and (other := held()) is not None:
                console = other._leave()
                if other.game != self.game:
                    console = console.close()
            self._console = console or _opened(self.game)
            RetroSimulator._holder = weakref.ref(self)
            if self._aside is not None:
                self.restore(self._aside)
        return self._console

    def _call(self, action: int, frames: list[Picture] | None) -> Step:
        check_call(self, self.game, action, self._over)
        with _TURN:
            console, reward = self._take(), 0.0
            console.em.set_button_mask(self._masks[action])
            for _ in range(self.frame_skip):
                console.em.step()
                console.data.update_ram()
                reward += console.data.current_reward()
                if frames is not None:
                    frames.append(self._picture())
                self._over = bool(console.data.is_done())
                if self._over:
                    break
            return self._look(reward)

    def _look(self, reward: float) -> Step:
        lives = max(0, int(self._take().data.lookup_all().get("lives", 0)))
        return Step(read_only(grey(self._picture())), float(reward), self._over, lives)

    def _picture(self) -> Picture:
        """Return what is shown in the first picture's shape: some games change theirs."""
        picture: Picture = self._take().get_screen(apply_rotation=True)
        if self._shape is None:
            self._shape = picture.shape
        (rows, columns), (now, across) = self._shape[:2], picture.shape[:2]
        down = np.arange(rows) * now // rows
        fitted: Picture = picture[down[:, None], np.arange(columns) * across // columns]
        return fitted


def _opened(game: str) -> Any:
    """Open the console with a game in it."""
    with needing("retro", f"retro:{game}"):
        import stable_retro
    games = stable_retro.data.list_games()
    if game not in games:
        raise unknown_name("retro game", game, games)
    try:
        return stable_retro.make(game, render_mode="rgb_array")
    except FileNotFoundError:
        raise InputError(
            f"there is no ROM of {game}, which stable-retro does not bring; "
            "import yours: python -m stable_retro.import FOLDER"
        ) from None
    except RuntimeError as error:
        raise InputError(
            f"{game} cannot be opened ({error}): stable-retro has one emulator a process. "
            "Simulators share it, but an environment of its own must be closed before"
        ) from None


def _actions(console: Any, action_set: ActionSet) -> list[NDArray[np.uint8]]:
    """Buttons held in each action, uint8, shape (buttons,), of stable-retro's useful ones.

    It gives groups of buttons, of which one each is held: up or down, left or right, and the rest.
    """
    *directions, rest = (sorted(group) for group in console.button_combos)
    found = {reduce(or_, held) for held in product(*directions, rest)}
    if action_set == "minimal":
        one_way = [0, *(held for group in directions for held in group if held)]
        found = {way | held for way in one_way for held in rest if held.bit_count() <= 1}
    bits = np.arange(console.num_buttons)
    return [(mask >> bits & 1).astype(np.uint8) for mask in sorted(found)]


def _name(console: Any, mask: NDArray[np.uint8]) -> str:
    held = [name for name, down in zip(console.buttons, mask, strict=True) if down]
    return " ".join(sorted(held, key=lambda name: name not in _WAYS)) or "NOOP"
