"""What a sweep's engine can be told; the command line is made from it, so it loads nothing else."""

from dataclasses import dataclass, fields

from olive_iw.errors import InputError


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where the runs of a sweep are done; each engine refuses what it cannot do."""

    workers: int | None = None
    """Runs at the same time; none: as many as there are cores."""
    address: str | None = None
    """Address of a Ray cluster that is there; without it a local one is started."""
    fetch: bool = False
    """There is no shared disk: send run folders to Ray's nodes and back."""
    cpus: float = 1.0
    """Cores that a run takes on a Ray cluster."""
    gpus: float = 0.0
    """GPUs, or the share of one, that a run takes on a Ray cluster."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers = {self.workers} is not possible; at least 1 is")
        if not (self.cpus > 0 and self.gpus >= 0):
            raise InputError(
                f"cpus = {self.cpus} and gpus = {self.gpus} are not possible; "
                "a run needs more than 0 cores and at least 0 GPUs"
            )

    def refuse_ray_options(self, engine: str) -> None:
        """Raise if something was asked that only the engine `ray` can do."""
        others = [field for field in fields(self) if field.name != "workers"]
        asked = [field.name for field in others if getattr(self, field.name) != field.default]
        if asked:
            raise InputError(f"{', '.join(asked)}: only the engine ray knows this, not {engine}")
