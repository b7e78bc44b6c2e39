"""The input reader: arrays, frames and files become a `Problem`; kinds and missing are recorded, nothing is changed.

Rules of the input reader
-----------------
- Kinds. Numbers are numeric; true and false are boolean; text and categories are nominal. `nominal` and `numeric`
  overrule this column by column. In text files a column is numeric if all its cells are numbers.
- Dates and times count as days since 1970-01-01, in frames, Parquet files and, if written as 2026-01-31 or
  2026-01-31T12:00:00, in text files. Durations count as days.
- Missing cells: null and NaN; in text files also the empty cell and `?`, `NA`, `N/A`, `NaN`, `null`.
- The target may not be missing or infinite, features may be missing but not infinite.
- Task. Text, truth values and up to 20 distinct whole numbers are classes, other numbers a quantity; `task`
  overrules this.
- Levels of a nominal column are those of these rows. A selector picks columns and passes whatever cells they
  hold; where cells are compared with earlier ones (as in predicting new rows), a level never seen is equal to none.
- The same table gives the same problem whatever it is stored in.
"""

from fewer.io._files import read_frame, read_table
from fewer.io._reader import infer_task, is_frame, refuse_useless_target, to_problem

__all__ = [
    "infer_task",
    "is_frame",
    "read_frame",
    "read_table",
    "refuse_useless_target",
    "to_problem",
]
