"""Experiments: runs, their folders, sweeps over many of them, and measurements."""
