"""Novelty: which states a decision need not look behind, because it has seen their like."""

from olive_iw.errors import InputError
from olive_iw.novelty.base import UNSEEN, NoveltyTable
from olive_iw.novelty.reward import RewardTable
from olive_iw.novelty.width1 import Width1Table
from olive_iw.novelty.width2 import Width2Table


def make_novelty_table(width: int, size: int, depth_limit: int = 100) -> NoveltyTable:
    """Return a table of width 1 or 2 for atoms in [0, size) and depths from 0 to the limit."""
    if width == 1:
        return Width1Table(size, depth_limit)
    if width == 2:
        return Width2Table(size, depth_limit)
    raise InputError(f"there are novelty tables of width 1 and 2, not {width}")


__all__ = [
    "UNSEEN",
    "NoveltyTable",
    "RewardTable",
    "Width1Table",
    "Width2Table",
    "make_novelty_table",
]
