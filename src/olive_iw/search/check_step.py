"""What a planner looks at in every step, so that it does not plan on nonsense."""

from numbers import Real

import numpy as np

from olive_iw.errors import SimulatorError, shown
from olive_iw.simulators.base import (
    LARGEST_REWARD,
    Simulator,
    Step,
    screen_problem,
)


def check_step(
    step: Step, shape: tuple[int, ...] | None, simulator: Simulator, method: str
) -> None:
    """Raise `SimulatorError` if what a method of a simulator returned breaks the contract.

    `shape` is that of the episode's first screen, None if this is the first.
    """
    if (
        type(step) is Step
        and type(step.screen) is np.ndarray
        and step.screen.dtype == np.uint8
        and step.screen.shape == shape
        and type(step.reward) is float
        and -LARGEST_REWARD <= step.reward <= LARGEST_REWARD  # nor is it no number
    ):
        return  # nearly always, so that only this much is looked at
    name = f"{type(simulator).__name__}.{method}"
    if not isinstance(step, Step):
        raise SimulatorError(f"{name} returned {type(step).__name__}, not a Step")
    if problem := screen_problem(step.screen):
        raise SimulatorError(f"{name} shows a screen that {problem}")
    if shape not in (None, step.screen.shape):
        raise SimulatorError(
            f"{name} shows a screen of shape {step.screen.shape}; reset() showed {shape}"
        )
    if not isinstance(step.reward, Real) or not abs(step.reward) <= LARGEST_REWARD:
        hint = f"it must be a number from -{LARGEST_REWARD:g} to {LARGEST_REWARD:g}"
        raise SimulatorError(f"{name} gave the reward {shown(step.reward)}; {hint}")
