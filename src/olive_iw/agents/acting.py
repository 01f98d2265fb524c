"""A policy: which action an agent would take where an environment is that somebody else steps."""

from typing import TYPE_CHECKING, Any, final

from olive_iw.errors import InputError
from olive_iw.randomness import child_seed
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.simulators import Simulator, Step, is_environment, make_simulator, warn_of_chance
from olive_iw.simulators.messages import freeze

if TYPE_CHECKING:
    from olive_iw.agents.agent import Agent
    from olive_iw.simulators.gymnasium_states import Environment


@final
class Policy:
    """Plans with an agent from wherever an environment, or a simulator, is.

    As long as that goes where the plan foresaw, what was searched is kept, and it plays as
    `agent.play` does; otherwise it plans anew from there.
    """

    def __init__(self, agent: "Agent") -> None:
        # Not the agent itself, which has a policy: two that hold each other stay in memory.
        self._spec, self._planner = agent.spec, agent.planner
        self._followed: Simulator | Environment | None = None
        self._episode = 0
        self._decisions = 0
        self._tree: Tree | None = None
        """The planner's tree, as long as it is of this episode."""
        self._action = NONE

    def __repr__(self) -> str:
        return f"<Policy of {self._spec.label}, seed {self._spec.seed}>"

    def reset(self) -> None:
        """Begin the next episode, which has its own random numbers; forget what was searched."""
        self._episode += 1
        self._decisions, self._tree = 0, None

    def act(self, env: "Simulator | Environment", shown: Any = None) -> Any:
        """Return an action for a Gymnasium environment, or simulator, which stays as it is.

        `shown` is what it showed last: a simulator's `Step`; of environments it is only needed if
        their pictures are observations that cannot be asked for.
        """
        planner, options = self._planner, self._spec.options
        if env is not self._followed:
            self._beside = _beside(env, shown, options.of_environments())
            self._followed, self._tree = env, None
            if not options.reseed_search:
                self._beside.follow(shown)
                try:
                    warn_of_chance(self._beside, str(getattr(env, "unwrapped", env)))
                finally:
                    self._beside.leave()
        self._beside.follow(shown)
        try:
            if not self._goes_on():
                seed = self._spec.evaluation_seed(self._episode)
                seed = child_seed(seed, self._decisions) if self._decisions else seed
                planner.start(self._beside, seed)
            decision = planner.decide(options.calls_per_action, options.seconds_per_action)
        finally:
            self._beside.leave()
        self._tree, self._action = planner.tree, decision.action
        self._decisions += 1
        return getattr(self._beside, "actions", range(decision.action + 1))[decision.action]

    def _goes_on(self) -> bool:
        """Whether the planner's tree leads to where it begins in one step; if so, go it."""
        planner, tree = self._planner, self._planner.tree
        if tree is not self._tree:
            return False
        for action in sorted(range(tree.actions), key=lambda action: action != self._action):
            child = tree.children[ROOT, action]
            if child == NONE or tree.terminal[child]:
                continue
            if self._beside.begins_at(tree.saved_state(child)):
                planner.advance(action)
                return True
        return False


def _beside(env: "Simulator | Environment", shown: Any, options: dict[str, Any]) -> Any:
    """Return a simulator that can `follow` the environment or simulator, and `leave` it."""
    if not is_environment(env):
        return _BesideSimulator(make_simulator(env))
    from olive_iw.simulators.gymnasium import GymnasiumSimulator

    return GymnasiumSimulator.beside(env, shown, **options)


class _BesideSimulator:
    """A simulator whose episodes begin where it is; left, it is there again."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def follow(self, shown: Step | None) -> None:
        """Let episodes begin where the simulator is now."""
        if shown is None:
            raise InputError("say what the simulator shows: act(simulator, step)")
        self._first_state, self._first_step = self._simulator.save(), shown

    def begins_at(self, state: Any) -> bool:
        """Whether episodes begin in this state."""
        return freeze(state) == freeze(self._first_state)

    def leave(self) -> None:
        """Go back to where the simulator was."""
        self._simulator.restore(self._first_state)

    def reset(self) -> Step:
        """Go to where episodes begin."""
        self.leave()
        return self._first_step

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the simulator itself, which search workers restore anyway."""
        return make_simulator, (self._simulator,)
