"""Rank and select on tables that are read in chunks, and draw a sample of their rows."""

from fewer.run.streaming import draw_sample, rank, select

__all__ = ["draw_sample", "rank", "select"]
