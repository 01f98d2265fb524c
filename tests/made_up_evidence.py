"""A folder `results/five-minute` with made-up scores, to test what is made from it."""

from made_up_runs import write_run

from olive_iw.randomness import generator
from olive_iw.reports.published import published, random_scores
from results_page.copies import copy_runs

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ALGORITHMS = ("rollout-iw", "patch-iw", "olive", "olive-plus")


def write_results(tmp_path, games, algorithms=ALGORITHMS, commit=COMMIT, **budget):
    """Scores are the paper's Olive's above random play, times a factor of each algorithm."""
    runs, results = tmp_path / f"runs-{commit[:4]}", tmp_path / "five-minute"
    random, olive = random_scores(), published("olive").mean
    for place, algorithm in enumerate(algorithms):
        for number, game in enumerate(games):
            luck = generator(0, place, number).lognormal(0.15 * place - 0.2, 0.5)
            low = random.get(game, 0.0)
            score = round(low + luck * (olive.get(game, low + 10.0) - low))
            learns = algorithm.startswith("olive")
            lengths = {"max_actions": 1_200, "training_calls": 100_000 if learns else 0}
            training = [score / 8, score / 4, score / 2] if learns else ()
            write_run(
                runs,
                [score],
                game=game,
                algorithm=algorithm,
                training=training,
                **(lengths | budget),
            )
    copy_runs(runs, results, commit)
    return results
