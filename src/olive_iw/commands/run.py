"""Commands that train and play."""

from pathlib import Path
from typing import Any, Literal

from olive_iw.commands.console import Game, console
from olive_iw.planners.rollout_iw import WhenExhausted


def run(
    game: Game,
    /,
    algorithm: str = "olive",
    profile: Literal["laptop", "paper"] = "laptop",
    seed: int = 0,
    training_calls: int = 100_000,
    calls_per_action: int | None = None,
    seconds_per_action: float | None = None,
    search_workers: int | None = None,
    episodes: int = 10,
    max_actions: int = 18_000,
    out: Path = Path("runs"),
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
    quiet: bool = False,
    tensorboard: bool = False,
    width: int | None = None,
    when_exhausted: WhenExhausted | None = None,
    extend_share: float | None = None,
    discount: float | None = None,
    depth_limit: int | None = None,
    risk_averse: bool | None = None,
    training_actions: int | None = None,
    max_training_episodes: int | None = None,
    first_share: float | None = None,
    screens_per_episode: int | None = None,
    screen_limit: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    patience: int | None = None,
) -> None:
    """Train an agent on a game, then let it play; stop it with Ctrl-C and run it again to go on.

    Everything goes into the folder OUT/GAME/ALGORITHM-PROFILE/seed-SEED: the configuration, the
    events, a checkpoint, every episode's actions, and the result. A finished run is only shown.

    Args:
        game: An Atari game such as breakout, gym:ID for a Gymnasium environment, or grid:WORLD.
        algorithm: See `olive-iw list algorithms`.
        profile: laptop: a small network, trained in seconds. paper: VAE-IW's network and
            training, which wants a GPU.
        seed: Of all randomness: the same seed gives the same run.
        training_calls: Simulator calls for training; algorithms that do not learn spend none.
        calls_per_action: Most simulator calls of a decision (the paper: 100).
        seconds_per_action: Seconds after which a decision makes no more calls; without
            --calls-per-action as many calls as fit. Such a run cannot be repeated exactly.
        search_workers: Processes that make the calls of a decision (Rollout-IW and what is built
            on it). Another number gives another search, as another seed does.
        episodes: Evaluation episodes (the paper: 10).
        max_actions: Most actions of an evaluation episode (the paper: 18,000).
        out: Folder of all runs.
        device: Where the network is trained.
        quiet: Print nothing but errors.
        tensorboard: Also write TensorBoard events into the run's folder.
        width: Width of the novelty that prunes, 1 or 2.
        when_exhausted: When nothing novel is left before the calls are spent: stop (the paper),
            widen (go on with width 2) or extend (go on from the end of the best known path).
        extend_share: Share of each decision's calls that extends the best known path first.
        discount: Discount per call (the paper: 0.99).
        depth_limit: No rollout goes deeper.
        risk_averse: Count a lost life as -500,000 when choosing an action.
        training_actions: Most actions of a training episode (the paper: 200).
        max_training_episodes: Most training episodes (the paper: 30).
        first_share: Share of the training calls for the first training episode (1/30).
        screens_per_episode: Screens learned from each training episode (the paper: 500).
        screen_limit: Most screens in the training set (the paper: 15,000).
        epochs: Epochs of each training of the network (paper profile: 100).
        steps: Steps of each training of the network, instead of epochs (laptop profile: 600).
        patience: Stop a training after so many measurements (every 50 steps) without a better
            held-out loss, and keep the best weights.

    """
    from olive_iw.algorithms import make_spec
    from olive_iw.reports.run_tables import run_table
    from olive_iw.runs.config import RunConfig
    from olive_iw.runs.progress import RunProgress
    from olive_iw.runs.run import run as do_run

    settings: dict[str, Any] = {
        "calls_per_action": calls_per_action,
        "seconds_per_action": seconds_per_action,
        "search_workers": search_workers,
        "width": width,
        "when_exhausted": when_exhausted,
        "extend_share": extend_share,
        "discount": discount,
        "depth_limit": depth_limit,
        "risk_averse": risk_averse,
        "training_actions": training_actions,
        "max_training_episodes": max_training_episodes,
        "first_share": first_share,
        "screens_per_episode": screens_per_episode,
        "screen_limit": screen_limit,
        "epochs": epochs,
        "steps": steps,
        "patience": patience,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    spec = make_spec(algorithm, profile, seed, **given)
    config = RunConfig(game, spec, training_calls, episodes, max_actions)
    if quiet:
        do_run(config, out, device=device, tensorboard=tensorboard)
        return
    folder = config.folder(out)
    console.print(f"{game} · {algorithm} · {profile} · seed {seed} → {folder}", highlight=False)
    with RunProgress(config, console) as progress:
        result = do_run(config, out, progress, device, tensorboard=tensorboard)
    console.print(run_table(result))
