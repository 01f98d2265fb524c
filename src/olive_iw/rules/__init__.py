"""Our own ideas beyond the papers: one object and one file each, in the order they are asked."""

from olive_iw.registry import Registry
from olive_iw.rules.dropout import Dropout
from olive_iw.rules.explore import Explore
from olive_iw.rules.further import Further
from olive_iw.rules.grain import Grain
from olive_iw.rules.noise import Noise
from olive_iw.rules.outlook import Outlook
from olive_iw.rules.persistence import Persistence
from olive_iw.rules.recall import Recall
from olive_iw.rules.safety import Safety
from olive_iw.rules.scout import Scout
from olive_iw.rules.ties import Ties
from olive_iw.rules.turning_back import TurningBack
from olive_iw.rules.twins import Twins
from olive_iw.rules.usual import Usual
from olive_iw.search.rule import Rule

RULES: Registry[type[Rule]] = Registry(
    "rule",
    "olive_iw.rules",
    {
        "explore": Explore,
        "turning_back": TurningBack,
        "scout": Scout,
        "outlook": Outlook,
        "ties": Ties,
        "twins": Twins,
        "safety": Safety,
        "recall": Recall,
        "persistence": Persistence,
        "further": Further,
        "grain": Grain,
        "noise": Noise,
        "dropout": Dropout,
        "usual": Usual,
    },
)

__all__ = [
    "RULES",
    "Dropout",
    "Explore",
    "Further",
    "Grain",
    "Noise",
    "Outlook",
    "Persistence",
    "Recall",
    "Rule",
    "Safety",
    "Scout",
    "Ties",
    "TurningBack",
    "Twins",
    "Usual",
]
