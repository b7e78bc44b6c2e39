"""Splits of rows into folds."""

from fewer.validate._folds import assign_folds, stratified_folds

__all__ = ["assign_folds", "stratified_folds"]
