"""Atari 2600 games through the Arcade Learning Environment (`ale-py`)."""

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from olive_iw.compiled import njit
from olive_iw.errors import InputError, unknown_name
from olive_iw.simulators.base import Screen, Step, check_call, read_only

if TYPE_CHECKING:
    from ale_py import ALEInterface, ALEState

ActionSet: TypeAlias = Literal["minimal", "full"]
FRAME_SKIP = 15
"""Frames an action is held for in one call, as in the paper."""

_PAPER_GAMES = (
    "alien amidar assault asterix asteroids atlantis bank_heist battle_zone beam_rider berzerk "
    "bowling boxing breakout centipede chopper_command crazy_climber demon_attack double_dunk "
    "elevator_action enduro fishing_derby freeway frostbite gopher gravitar ice_hockey "
    "jamesbond kangaroo krull kung_fu_master montezuma_revenge ms_pacman name_this_game phoenix "
    "pitfall pong private_eye qbert riverraid road_runner robotank seaquest skiing solaris "
    "space_invaders star_gunner tennis time_pilot tutankham up_n_down venture video_pinball "
    "wizard_of_wor yars_revenge zaxxon"
)
PAPER_GAMES: tuple[str, ...] = tuple(_PAPER_GAMES.split())
"""The 55 games of the paper's tables, by the names of their ROMs."""


@cache
def all_games() -> tuple[str, ...]:
    """Every game that ale-py ships and can load; reads all their ROMs when first called."""
    from ale_py import roms

    return tuple(filter(is_game, sorted(roms.get_all_rom_ids())))


def is_game(name: str) -> bool:
    """Whether a name is one of `all_games`; found without reading the ROMs of all."""
    from ale_py import ALEInterface

    # ale-py also ships ROMs for several players, and ends the whole process when told to load one:
    # only those it declares supported may be tried.
    return _is_cartridge(name) and bool(ALEInterface.isSupportedROM(_rom(name)))


def game_name(name: str) -> str:
    """Return what a game is called here, however it is spelled: `MsPacman` is ms_pacman.

    Names of other things are returned as they are; of cartridges that cannot be played by one
    player it is an `InputError` to ask.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    found = next(filter(_is_cartridge, (name, name.lower(), words.lower())), name)
    if _is_cartridge(found) and not is_game(found):
        raise InputError(f"{found} is a cartridge for two players or more, not for one")
    return found


def _is_cartridge(name: str) -> bool:
    from ale_py import roms

    return name in roms.get_all_rom_ids()


def _rom(game: str) -> Path:
    from ale_py import roms

    path = roms.get_rom_path(game)
    if path is None:
        raise InputError(f"ale-py has no ROM of {game}")
    return path


class AtariSimulator:
    """An Atari 2600 game, without randomness.

    Its actions are the game's minimal set, or all 18 of the machine (`action_set="full"`).
    A new simulator stands at the start of an episode, where `reset` also goes. Screens are the
    emulator's palette indices, shape (210, 160) in most games, up to 250 rows in others. With
    `pool_frames` every pixel of a screen is taken from the brighter of the call's last two frames,
    so that sprites drawn in every other frame do not vanish.
    """

    def __init__(
        self,
        game: str,
        *,
        frame_skip: int = FRAME_SKIP,
        action_set: ActionSet = "minimal",
        pool_frames: bool = False,
        mode: int | None = None,
        difficulty: int | None = None,
    ) -> None:
        game = game_name(game)
        if not is_game(game):
            raise unknown_name("game", game, all_games())
        if frame_skip < (2 if pool_frames else 1):
            what = "pool_frames needs a frame_skip of" if pool_frames else "frame_skip must be"
            raise InputError(f"{what} at least {2 if pool_frames else 1}, not {frame_skip}")
        if action_set not in get_args(ActionSet):
            raise InputError(f"action_set {action_set!r} is not one of minimal, full")
        self.game = game
        self.action_set = action_set
        self.frame_skip = frame_skip
        self.pool_frames = pool_frames
        self.palette: NDArray[np.uint8] = np.zeros((256, 3), np.uint8)
        self.grey_levels: NDArray[np.uint8] = np.zeros(256, np.uint8)
        self._setting = {"mode": mode, "difficulty": difficulty}
        self._known_colours = np.zeros(256, np.bool_)
        self._emulator = _load(game, self._setting)
        full = action_set == "full"
        emulator = self._emulator
        self._actions = emulator.getLegalActionSet() if full else emulator.getMinimalActionSet()
        self.action_count = len(self._actions)
        self.action_names = tuple(action.name for action in self._actions)
        """The emulator's names of the actions: `RIGHTFIRE`, …"""
        # Of the first screen every row counts: it must differ from the one before.
        self._last_screen = read_only(~self._emulator.getScreen())
        # In a quarter of the games a second reset of the emulator leaves other memory than the
        # first; the state after the first is the same in every process: each episode starts there.
        self._first_step = self._look(0.0, None)
        self._first_state = self.save()
        # In Q*bert and Tetris the first restore after a reset goes on otherwise than later ones, as
        # if the reset stopped within a frame and marked it outside the state; one frame mends it.
        self._emulator.act(self._actions[0])
        self.reset()

    def __repr__(self) -> str:
        return f"<AtariSimulator of {self.game}, {self.action_count} actions>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as another simulator of the same game, at the start of an episode."""
        options: Any = {"frame_skip": self.frame_skip, "pool_frames": self.pool_frames}
        options["action_set"] = self.action_set
        return partial(AtariSimulator, **options | self._setting), (self.game,)

    def reset(self) -> Step:
        """Go to the start of an episode, which is always the same."""
        self.restore(self._first_state)
        return self._first_step

    def step(self, action: int) -> Step:
        """Hold an action for `frame_skip` frames, or until the game is over."""
        return self._call(action, None)

    def step_frames(self, action: int) -> tuple[Step, list[NDArray[np.uint8]]]:
        """Do what `step` does, and also return each frame's picture, uint8 (height, width, 3)."""
        frames: list[NDArray[np.uint8]] = []
        return self._call(action, frames), frames

    def save(self) -> "ALEState":
        """Return the emulator's state; about 8 kB when pickled."""
        # The emulator's random numbers only decide whether an action sticks, which it never does
        # here: leaving them out of the state makes it half the size.
        return self._emulator.cloneState()

    def restore(self, state: "ALEState") -> None:
        """Go back to a state saved in the same game, also one saved in another process."""
        self._emulator.restoreState(state)

    def _call(self, action: int, frames: list[NDArray[np.uint8]] | None) -> Step:
        emulator = self._emulator
        check_call(self, self.game, action, emulator.game_over())
        held = self._actions[action]
        reward = 0
        earlier = None
        for frame in range(self.frame_skip):
            # Before the last act, the screen is still that of the last frame but one.
            if self.pool_frames and 0 < frame == self.frame_skip - 1:
                earlier = self._screen()
            reward += emulator.act(held)
            if frames is not None:
                frames.append(emulator.getScreenRGB())
            if emulator.game_over():
                break
        return self._look(float(reward), earlier)

    def _look(self, reward: float, earlier: Screen | None) -> Step:
        screen = self._screen()
        if earlier is not None:
            levels = self.grey_levels
            screen = np.where(levels[earlier] > levels[screen], earlier, screen)
        emulator, ram = self._emulator, read_only(self._emulator.getRAM())
        return Step(read_only(screen), reward, emulator.game_over(), emulator.lives(), ram)

    def _screen(self) -> Screen:
        """Palette indices of the last frame; the colours among them are known afterwards."""
        screen = self._emulator.getScreen()
        if _shows_unknown(screen, self._last_screen, self._known_colours):
            # The emulator has no call for its palette, but shows the same picture in three ways.
            self.palette[screen] = self._emulator.getScreenRGB()
            self.grey_levels[screen] = self._emulator.getScreenGrayscale()
            self._known_colours[screen] = True
        self._last_screen = read_only(screen)
        return screen


def _load(game: str, setting: Mapping[str, int | None]) -> "ALEInterface":
    """Emulator at the start of a game, in the mode and difficulty given."""
    from ale_py import ALEInterface, LoggerMode

    ALEInterface.setLoggerMode(LoggerMode.Error)
    emulator = ALEInterface()
    emulator.setInt("random_seed", 0)
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setBool("display_screen", False)
    emulator.setBool("sound", False)
    emulator.loadROM(_rom(game))
    for option, available, choose in (
        ("mode", emulator.getAvailableModes(), emulator.setMode),
        ("difficulty", emulator.getAvailableDifficulties(), emulator.setDifficulty),
    ):
        value = setting[option]
        if value is not None and value not in available:
            choices = ", ".join(str(choice) for choice in available)
            raise InputError(f"{game} has no {option} {value}; available: {choices}")
        if value is not None:
            choose(value)
    emulator.reset_game()
    return emulator


@njit
def _shows_unknown(screen: Screen, last: Screen, known: NDArray[np.bool_]) -> bool:
    """Whether a screen, uint8 (height, width), has a value not yet known, bool (256,).

    The last screen's are known: only rows that differ from it are looked at.
    """
    unknown = False
    for row in range(screen.shape[0]):
        differs = False
        for column in range(screen.shape[1]):
            differs |= screen[row, column] != last[row, column]
        if differs:
            for value in screen[row]:
                unknown |= not known[value]
    return unknown
