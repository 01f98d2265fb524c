"""Your own bandit: Boltzmann exploration, beside the ones that come with the package."""

from dataclasses import dataclass

import numpy as np

import olive_iw as olive


@dataclass(frozen=True)
class Boltzmann:
    """Takes an unsolved action with a probability that grows with its mean return."""

    temperature: float = 0.1

    def choose(self, statistics, generator):
        """See `olive_iw.bandits.Bandit`; the statistics have one entry per action."""
        count, mean, unsolved = statistics.count, statistics.mean, statistics.unsolved
        untried = np.flatnonzero(unsolved & (count == 0))
        if len(untried):
            return int(generator.choice(untried))
        actions = np.flatnonzero(unsolved)
        weights = np.exp((mean[actions] - mean[actions].max()) / self.temperature)
        return int(generator.choice(actions, p=weights / weights.sum()))


def coins(bandit, seed):
    """Coins collected in 40 actions, planning 30 calls for each."""
    planner = olive.RolloutIW("patches", bandit=bandit)
    planner.start(olive.make_simulator("grid:collect"), seed)
    score = 0.0
    for _ in range(40):
        score += planner.advance(planner.decide(calls=30).action).reward
        if planner.over:
            break
    return score


print("Coins found in the world grid:collect (there are 7), 40 actions, seeds 0 to 4:")
for name, bandit in (("uniform", "uniform"), ("ttts", "ttts"), ("Boltzmann (ours)", Boltzmann())):
    found = [coins(bandit, seed) for seed in range(5)]
    print(f"  {name:<18} {' '.join(f'{score:g}' for score in found)}   mean {np.mean(found):.1f}")
