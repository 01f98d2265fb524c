"""The table that a single run ends with: its scores beside the paper's."""

import numpy as np
from rich.table import Table

from olive_iw.reports.published import published
from olive_iw.runs.records import Result

BESIDE = ("rollout-iw", "vae-iw", "olive")


def run_table(result: Result) -> Table:
    """Scores of one run beside the paper's for that game, with everybody's budgets."""
    scores = np.array(result.scores)
    table = Table(title=f"{result.game}: mean score")
    for heading in ("system", "mean ± stderr", "max", "games", "training", "per action"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    spread = f" ± {scores.std(ddof=1) / len(scores) ** 0.5:.4g}" if len(scores) > 1 else ""
    table.add_row(
        f"{result.algorithm}-{result.profile}, here",
        f"{scores.mean():.6g}{spread}",
        f"{scores.max():g}",
        str(len(scores)),
        f"{result.training_calls:,}",
        str(result.calls_per_action),
        style="bold",
    )
    for name in BESIDE:
        system = published(name)
        if result.game in system.mean:
            error = system.standard_error.get(result.game)
            table.add_row(
                system.title,
                f"{system.mean[result.game]:g}" + ("" if error is None else f" ± {error:g}"),
                f"{system.maximum[result.game]:g}" if result.game in system.maximum else "–",
                "–" if system.episodes is None else str(system.episodes),
                "–" if system.training_calls is None else f"{system.training_calls:,}",
                "–" if system.planning_calls is None else str(system.planning_calls),
            )
    table.caption = (
        "Training and per action: budgets in simulator calls. "
        f"Here {result.seconds_per_action:.2f} seconds per action."
    )
    return table
