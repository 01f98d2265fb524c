"""What the bench can measure."""

from dataclasses import dataclass, field

from olive_iw.registry import Registry


@dataclass(frozen=True, slots=True)
class System:
    """What is measured: features, a bandit, and how much of it is affordable."""

    title: str
    bandit: str
    features: str | None = None
    """Fixed features; None for an encoder."""
    profile: str | None = None
    """Profile of the encoder."""
    search_workers: int = 1
    """Processes that make the calls."""
    decisions_share: float = 1.0
    """Share of the asked-for decisions that are measured, at least two."""
    warm_up: int = 2
    """Decisions before the measured ones: they load compiled code and fill caches."""
    growth: dict[int, int] = field(default_factory=lambda: {10: 10, 100: 4, 1000: 2})
    """Decisions to measure by their number of calls."""

    def decisions(self, asked: int) -> int:
        """Decisions to measure."""
        return min(asked, max(2, round(asked * self.decisions_share)))

    def turns(self, asked: int) -> int:
        """Return in how many turns the speed-up by search workers is measured."""
        return max(2, self.decisions(asked) // 2)


SYSTEMS: Registry[System] = Registry(
    "system",
    "olive_iw.bench_systems",
    {
        "rollout-iw": System("Rollout-IW, B-PROST, uniform", "uniform", features="bprost"),
        "olive-laptop": System("Rollout-IW, laptop encoder, top-two", "ttts", profile="laptop"),
        "olive-laptop-2": System(
            "Rollout-IW, laptop encoder, top-two, 2 search workers",
            "ttts",
            profile="laptop",
            search_workers=2,
        ),
        "olive-paper": System(
            "Rollout-IW, paper encoder, top-two",
            "ttts",
            profile="paper",
            decisions_share=0.2,
            warm_up=1,
        ),
        "patch-iw": System("Rollout-IW, patches, top-two", "ttts", features="patches"),
    },
)


@dataclass(frozen=True, slots=True)
class Job:
    """One system in one game."""

    game: str
    system: str
    decisions: int
    calls_per_action: int
    seed: int
    training: bool
    """Measure the training of the system's network, if it has one?"""
    growth: bool
    """Measure decisions of few and many calls too?"""

    @property
    def ticks(self) -> int:
        """Times that `run` calls back."""
        system = SYSTEMS[self.system]
        ticks = system.warm_up + system.decisions(self.decisions)
        if system.profile is not None:
            ticks += 2
        if self.training and system.profile == "paper":
            ticks += 1
        if system.search_workers > 1:
            ticks += system.turns(self.decisions)
        return ticks + (sum(system.growth.values()) if self.growth else 0)
