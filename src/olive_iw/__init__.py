"""Width-based planning with binary features learned while playing."""

__version__ = "0.1.0"
