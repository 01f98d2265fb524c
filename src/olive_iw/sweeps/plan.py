"""What a sweep is going to do, as a table."""

from collections.abc import Sequence

from rich.table import Table

from olive_iw.sweeps.engines.base import Job


def plan_table(jobs: Sequence[Job], todo: Sequence[Job]) -> Table:
    """Table of the runs of a sweep: a row per algorithm, profile and variation."""
    table = Table(title=f"{len(jobs)} runs, {len(jobs) - len(todo)} of them finished")
    headings = ("algorithm", "variation", "games", "seeds", "runs", "finished", "begun", "new")
    for heading in headings:
        is_name = heading in ("algorithm", "variation")
        table.add_column(heading, justify="left" if is_name else "right")
    left = set(todo)
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        spec = job.config.spec
        groups.setdefault((f"{spec.algorithm}-{spec.profile}", job.variation), []).append(job)
    for (name, variation), group in groups.items():
        unfinished = [job for job in group if job in left]
        begun = sum((job.folder / "config.toml").exists() for job in unfinished)
        counts = (
            len({job.config.game for job in group}),
            len({job.config.spec.seed for job in group}),
            len(group),
            len(group) - len(unfinished),
            begun,
            len(unfinished) - begun,
        )
        table.add_row(name, variation, *(str(count) for count in counts))
    return table
