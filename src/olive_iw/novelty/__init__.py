"""Novelty: which states a decision need not look behind, because it has seen their like."""

from olive_iw.novelty.base import UNSEEN, NoveltyTable
from olive_iw.novelty.judge import Judge, Judging, make_novelty_table
from olive_iw.novelty.reward import RewardTable
from olive_iw.novelty.width1 import Width1Table
from olive_iw.novelty.width2 import Width2Table

__all__ = [
    "UNSEEN",
    "Judge",
    "Judging",
    "NoveltyTable",
    "RewardTable",
    "Width1Table",
    "Width2Table",
    "make_novelty_table",
]
