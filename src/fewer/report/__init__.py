"""The answer in one page: a self-contained HTML file to open, mail and print."""

from fewer.report._comparison import (
    alternatives_report,
    comparison_report,
    write_alternatives_report,
    write_comparison_report,
)
from fewer.report._parcel import parcel_report, write_parcel_report
from fewer.report._selection import run_report, selection_report, slider_stops, worries, write_selection_report

__all__ = [
    "alternatives_report", "comparison_report", "parcel_report", "run_report", "selection_report", "slider_stops",
    "worries", "write_alternatives_report", "write_comparison_report", "write_parcel_report", "write_selection_report",
]  # fmt: skip
