"""Makes the pictures of docs/tour.md from small real runs (some minutes on one core).

python examples/make_tour_pictures.py docs/images
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy import stats

import olive_iw as olive
from olive_iw.agents import Observer
from olive_iw.features.bprost import COLUMNS, ROWS, TILE_HEIGHT, TILE_WIDTH
from olive_iw.features.image import grey_image
from olive_iw.features.vae import LAPTOP_TRAINING, make_vae
from olive_iw.randomness import generator
from olive_iw.reports.plot_style import GRID, INK, as_png, colour, marker, panels, styled

GAME = "space_invaders"
SEED = 0


class Later:
    """A simulator whose episodes begin some random actions later than the game's own."""

    def __init__(self, game: str, actions: int) -> None:
        self._simulator = olive.make_simulator(game)
        for action in generator(SEED).integers(self._simulator.action_count, size=actions):
            self._step = self._simulator.step(int(action))
        self._state = self._simulator.save()

    def __getattr__(self, name: str) -> object:
        return getattr(self._simulator, name)

    def reset(self) -> olive.Step:
        """Go to the state after those actions."""
        self._simulator.restore(self._state)
        return self._step


def searched() -> tuple[olive.RolloutIW, olive.Decision, Sequence[str]]:
    """Return a planner after a decision in Asterix, that decision, and the actions' names."""
    planner, simulator = olive.RolloutIW("patches", bandit="ttts"), Later("asterix", 35)
    planner.start(simulator, SEED)
    return planner, planner.decide(200), simulator.action_names


def draw_tiles() -> Figure:
    """Show a screen, and which tiles hold the colour of the invaders."""
    simulator = Later(GAME, 30)
    screen = simulator.reset().screen
    picture = simulator.palette[screen]
    tiles = screen.reshape(ROWS, TILE_HEIGHT, COLUMNS, TILE_WIDTH)
    values = np.unique(screen)
    by_colour = [(tiles == value).any(axis=(1, 3)) for value in values]
    in_tiles = np.array([lit.sum() for lit in by_colour])
    which = np.argsort(in_tiles)[-2]  # the background is in more
    shown, lit, basic = int(values[which]), by_colour[which], in_tiles.sum()

    figure, axes = panels(2, 2, (3.1, 4.0))
    for axis, image in zip(axes, (picture, picture // 3), strict=True):
        axis.imshow(image, aspect=210 / 160 * 0.75, interpolation="nearest")
        axis.set(xticks=[], yticks=[])
        axis.grid(visible=False)
    for row in range(1, ROWS):
        axes[1].axhline(row * TILE_HEIGHT - 0.5, color="white", linewidth=0.3)
    for column in range(1, COLUMNS):
        axes[1].axvline(column * TILE_WIDTH - 0.5, color="white", linewidth=0.3)
    overlay = np.zeros((*screen.shape, 4))
    overlay[..., :3] = simulator.palette[shown] / 255
    overlay[..., 3] = 0.75 * lit.repeat(TILE_HEIGHT, 0).repeat(TILE_WIDTH, 1)
    axes[1].imshow(overlay, aspect=210 / 160 * 0.75, interpolation="nearest")
    axes[0].set_title("the screen, 210×160", fontsize=9.5)
    axes[1].set_title(f"{lit.sum()} tiles of 16×14 show one colour", fontsize=9.5)
    atoms = olive.features.BProst().atoms(screen)
    figure.supxlabel(
        f"{len(values)} colours: {basic} basic atoms, {len(atoms) - basic:,} B-PROS atoms",
        fontsize=9.5,
    )
    return figure


def met_images(count: int) -> np.ndarray:
    """Return distinct grey images that a random player meets, shape (count, 128, 128)."""
    simulator, draw = olive.make_simulator(GAME), generator(SEED, 1)
    simulator.reset()
    found: dict[bytes, np.ndarray] = {}
    while len(found) < count:
        step = simulator.step(int(draw.integers(simulator.action_count)))
        image = grey_image(step.screen, simulator.grey_levels)
        found[image.tobytes()] = image
        if step.terminal:
            simulator.reset()
    return np.stack(list(found.values()))


def draw_reconstruction() -> Figure:
    """Show a screen, what a VAE makes of it before and after training, and how many bits it uses.

    The screen is one that the network was not trained on.
    """
    images = met_images(401)
    held_out = images[200:201]
    trained_on = np.delete(images, 200, axis=0)
    vae = make_vae("laptop", SEED)
    before = vae.reconstruct(held_out)[0]
    vae.train(trained_on, LAPTOP_TRAINING, generator(SEED, 2))
    after = vae.reconstruct(held_out)[0]
    bits = vae.encode(held_out)[0].reshape(16, 16, -1).sum(axis=2)
    figure, axes = panels(4, 4, (2.15, 2.6))
    titles = ("grey image, 128×128", "untrained network", "after 600 steps", "bits true per patch")
    for axis, shown, title in zip(axes, (held_out[0], before, after, bits), titles, strict=True):
        peak = {"vmax": 20, "cmap": "viridis"} if shown is bits else {"cmap": "gray"}
        if shown.dtype == np.float32:
            peak["vmax"] = 1.0
        drawn = axis.imshow(shown, vmin=0, interpolation="nearest", **peak)
        axis.set(xticks=[], yticks=[])
        axis.set_title(title, fontsize=9.5)
        axis.grid(visible=False)
    figure.colorbar(drawn, ax=list(axes), shrink=0.7, pad=0.01, ticks=(0, 10, 20))
    return figure


def positions(tree: object) -> np.ndarray:
    """Place the nodes from left to right: leaves side by side, parents above their middle."""
    place = np.zeros(tree.size)
    leaves = 0
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += [int(child) for child in tree.children[node][::-1] if child >= 0]
    for node in order:
        if (tree.children[node] < 0).all():
            place[node], leaves = leaves, leaves + 1
    for node in reversed(order):
        children = tree.children[node][tree.children[node] >= 0]
        if len(children):
            place[node] = place[children].mean()
    return place


def best_path(tree: object, action: int) -> list[int]:
    """Return the nodes from the root to the leaf for whose sake an action was chosen."""
    path = [0, int(tree.children[0, action])]
    while (tree.children[path[-1]] >= 0).any():
        children = tree.children[path[-1]][tree.children[path[-1]] >= 0]
        returns = tree.shaped_reward[children] + tree.discount * tree.value[children]
        path.append(int(children[np.argmax(returns)]))
    return path


def draw_tree() -> Figure:
    """Show the tree of one decision."""
    planner, decision, _ = searched()
    tree = planner.tree
    place, depth = positions(tree), tree.depth[: tree.size] - tree.depth[0]
    below = np.arange(1, tree.size)
    parent = tree.parent[below]
    figure, (axis,) = panels(1, 1, (7.4, 3.8))
    lines = [
        [(place[above], depth[above]), (place[node], depth[node])]
        for node, above in zip(below, parent, strict=True)
    ]
    axis.add_collection(LineCollection(lines, colors=GRID, linewidths=0.8, zorder=1))
    rewarded = (tree.reward[: tree.size] > 0) & (depth > 0)
    solved = tree.solved[: tree.size] & ~rewarded
    other = ~solved & ~rewarded
    for number, (which, label) in enumerate(
        ((other, "still open"), (rewarded, "gave a reward"), (solved, "solved: nothing new below"))
    ):
        style = {"s": 12, "color": colour(number), "marker": marker(number), "zorder": 2}
        axis.scatter(place[which], depth[which], label=label, **style)
    chosen = best_path(tree, decision.action)
    axis.plot(place[chosen], depth[chosen], color=INK, linewidth=2.2, label="best path", zorder=1.5)
    axis.invert_yaxis()
    axis.set(xticks=[], ylabel="actions ahead")
    axis.grid(visible=False, axis="x")
    axis.legend(loc="upper center", ncols=4, bbox_to_anchor=(0.5, 1.14), fontsize=9)
    return figure


def draw_posteriors() -> Figure:
    """Show what the bandit believes of the next return of the actions that it tried often."""
    planner, _, names = searched()
    tree = planner.tree
    count, mean, variance = tree.count[0], tree.mean[0], tree.variance[0]
    several = np.flatnonzero(count > 5)
    spread = np.sqrt(variance * (1 + 1 / np.maximum(count, 1)))
    grid = np.linspace(-100, 200, 600)
    figure, (axis,) = panels(1, 1, (7.0, 3.4))
    for number, action in enumerate(several):
        density = stats.t.pdf(grid, count[action] + 1, mean[action], spread[action])
        label = f"{names[action]}: {count[action]} rollouts, mean {mean[action]:.1f}"
        axis.plot(grid, density, color=colour(number), label=label)
        axis.fill_between(grid, density, color=colour(number), alpha=0.12)
    axis.set(xlabel="return of the next rollout", ylabel="density", ylim=(0, None))
    axis.legend(loc="upper right", fontsize=9)
    return figure


class Curve(Observer):
    """Keeps what each training episode came to."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.score: list[float] = []
        self.loss: list[float] = []

    def on_training_episode(self, done: object) -> None:
        """Note calls, held-out loss, and the score of an episode that was not cut short."""
        self.calls.append(done.calls_spent)
        cut_short = done.games[-1].ended == "calls spent"
        self.score.append(np.nan if cut_short else done.games[-1].score)
        self.loss.append(done.training.held_out_loss)


def draw_learning() -> Figure:
    """Show a small training of Olive: 12,000 calls in episodes of at most 30 actions."""
    figure, axes = panels(2, 2, (3.6, 2.8))
    for seed in range(2):
        agent = olive.make_agent("olive", seed=seed, calls_per_action=50, training_actions=30)
        curve = Curve()
        agent.train(olive.make_simulator(GAME), calls=12_000, observer=curve)
        style = {"color": colour(seed), "marker": marker(seed), "label": f"seed {seed}"}
        axes[0].plot(curve.calls, curve.score, **style)
        axes[1].plot(curve.calls, curve.loss, **style)
    axes[0].set(xlabel="training calls", ylabel="score of the training episode", ylim=(0, None))
    axes[1].set(xlabel="training calls", ylabel="held-out loss per screen (nats)")
    axes[0].legend()
    return figure


def draw_anytime() -> Figure:
    """Show coins collected in 60 actions against calls per action; three seeds each."""
    figure, (axis,) = panels(1, 1, (5.4, 3.3))
    budgets = (5, 10, 20, 50, 100, 200)
    for number, bandit in enumerate(("uniform", "ttts")):
        coins = np.array(
            [[coins_of(bandit, calls, seed) for seed in range(3)] for calls in budgets]
        )
        style = {"color": colour(number), "marker": marker(number)}
        axis.plot(budgets, coins.mean(axis=1), label=f"{bandit}, mean of 3 seeds", **style)
        for seed in range(3):
            axis.scatter(budgets, coins[:, seed], s=12, alpha=0.5, color=colour(number))
    axis.set(xscale="log", xlabel="calls per action", ylabel="coins in 60 actions", ylim=(0, 7.2))
    axis.set_xticks(budgets, [str(calls) for calls in budgets])
    axis.minorticks_off()
    axis.legend(loc="upper left")
    return figure


def coins_of(bandit: str, calls: int, seed: int) -> float:
    """Return the score of 60 actions in the world grid:collect, which has 7 coins."""
    planner = olive.RolloutIW("patches", bandit=bandit)
    planner.start(olive.make_simulator("grid:collect"), seed)
    score = 0.0
    for _ in range(60):
        if not planner.over:
            score += planner.advance(planner.decide(calls).action).reward
    return score


PICTURES: dict[str, Callable[[], Figure]] = {
    "tiles": draw_tiles,
    "reconstruction": draw_reconstruction,
    "tree": draw_tree,
    "posteriors": draw_posteriors,
    "learning": draw_learning,
    "anytime": draw_anytime,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or PICTURES:
        with styled():
            (folder / f"tour-{name}.png").write_bytes(as_png(PICTURES[name]()))
        print(f"wrote tour-{name}.png")
