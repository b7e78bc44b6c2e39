"""The answer in one page: a self-contained HTML file to open, mail and print."""

from fewer.report._selection import selection_report, write_selection_report

__all__ = ["selection_report", "write_selection_report"]
