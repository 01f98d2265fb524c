"""The temperature of the relaxation in the course of training."""


def temperature(step: int, steps: int, maximum: float, minimum: float) -> float:
    """Temperature of one of `steps` steps, exponential from `maximum` to `minimum`.

    The first step has `maximum` and the last `minimum`, exactly (a single step has `maximum`). The
    paper anneals from 5 to 0.5 until the end of training; equal values keep it fixed.
    """
    progress = step / max(1, steps - 1)
    between = maximum ** (1.0 - progress) * minimum**progress
    return float(min(max(between, minimum), maximum))  # rounding must not leave the range
