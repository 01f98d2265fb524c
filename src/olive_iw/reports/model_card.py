"""The card of a pretrained agent: what it is, what it scored, and how to see that this is so."""

import json
import shlex
from hashlib import sha256

from olive_iw.runs.pretrained import Pretrained
from olive_iw.stats.summary import summarise
from olive_iw.tables import Cell, Table, plain

_CARD = """\
---
library_name: olive-iw
pipeline_tag: reinforcement-learning
tags: [reinforcement-learning, planning, width-based-planning, {game}]
model-index:
- name: {label}
  results:
  - task: {{type: reinforcement-learning, name: reinforcement-learning}}
    dataset: {{name: {game}, type: {game}}}
    metrics:
    - {{type: mean_reward, name: mean_reward, value: {mean}, verified: false}}
---

# `{title}`, played by {algorithm}

An agent of olive-iw that was trained on this game. It plans every move in the game's simulator,
and prunes by features that it has learned: the file holds the network of these features.

{facts}

## Play

```
olive-iw play {words} --agent {file}
```

```python
import olive_iw as olive

agent = olive.load_pretrained({path})
print(agent.play(olive.make_simulator({game}), max_actions=100).score)
```

Nothing in the file is run when it is read. Its hash ties weights, settings and scores to each
other, not to who made it.

## Verify

With the versions above, each of these games is played again, move by move, to the same score:

```
{again}
```
"""


def model_card(found: Pretrained) -> str:
    """Markdown with the front matter that hubs of models read, for the file's README.md."""
    config, result = found.config, found.result
    summary = summarise(result.scores)
    mean = f"{summary.mean:.2f}" + f" +/- {summary.standard_error:.2f}" * (len(result.scores) > 1)
    words, file = shlex.quote(config.game), found.path.name
    facts = {
        "algorithm": f"{config.spec.label}, seed {config.spec.seed}",
        "training": f"{found.progress.calls:,} simulator calls",
        "planning": f"{result.calls_per_action:,} simulator calls for each action",
        "episodes": f"{len(result.scores)}, of at most {config.max_actions:,} actions",
        "scores": ", ".join(map(plain, result.scores)),
        "versions": ", ".join(f"{name} {version}" for name, version in result.versions.items()),
        "SHA-256 of the file": sha256(found.path.read_bytes()).hexdigest(),
    }
    rows = [list(map(Cell, fact)) for fact in facts.items()]
    plays = f"olive-iw play {words} --agent {shlex.quote(file)} --max-actions {config.max_actions}"
    again = [
        f"{plays} --episode {number}  # {plain(score)}"
        for number, score in enumerate(result.scores)
    ]
    return _CARD.format(
        game=json.dumps(config.game),
        label=json.dumps(config.spec.label),
        mean=json.dumps(mean),
        title=config.game,
        words=words,
        file=shlex.quote(file),
        path=json.dumps(file),
        algorithm=config.spec.algorithm,
        facts=Table("What it is", ("what", "how"), rows, left=frozenset({0, 1}))
        .as_markdown()
        .strip(),
        again="\n".join(again),
    )
