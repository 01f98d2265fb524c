"""Your own simulator: a small game of catching fruit, checked and then played by planning."""

from collections import namedtuple

import numpy as np

import olive_iw as olive

SIDE, CELL = 8, 8  # cells each way; pixels of a cell each way
State = namedtuple("State", "basket column row dropped lives")  # all the game depends on
START = State(basket=3, column=5, row=0, dropped=0, lives=3)


class Catch:
    """Fruit falls, one piece at a time; 1 for each caught, a life for each missed, 12 pieces."""

    action_names = ("STAY", "LEFT", "RIGHT")
    action_count = 3
    _state = START

    def reset(self) -> olive.Step:
        """Start again, always in the same state."""
        self._state = START
        return self._look(0.0)

    def step(self, action: int) -> olive.Step:
        """Do one call."""
        basket, column, row, dropped, lives = self._state
        basket, row, caught = min(max(basket + (0, -1, 1)[action], 0), SIDE - 1), row + 1, 0
        if row == SIDE - 1:
            caught, lives = int(basket == column), lives - int(basket != column)
            dropped, column, row = dropped + 1, (5 * column + 3 * dropped + 1) % SIDE, 0
        self._state = State(basket, column, row, dropped, lives)
        return self._look(float(caught))

    def save(self) -> State:
        """Return the state: immutable, and it can be pickled."""
        return self._state

    def restore(self, state: State) -> None:
        """Go back to a saved state."""
        self._state = state

    def _look(self, reward: float) -> olive.Step:
        state, cells = self._state, np.zeros((SIDE, SIDE), np.uint8)
        cells[state.row, state.column], cells[-1, state.basket] = 150, 250
        screen = np.kron(cells, np.ones((CELL, CELL), np.uint8))
        screen.flags.writeable = False
        return olive.Step(screen, reward, state.dropped == 12 or state.lives == 0, state.lives)


print(olive.simulators.check_simulator(Catch()))
episode = olive.make_agent("patch-iw", seed=0).play(Catch(), max_actions=200)
print(f"\nPlanned: {episode.score:g} of 12 caught, {episode.lives} lives left ({episode.ended}).")
