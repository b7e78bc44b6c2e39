"""The input reader: arrays, frames and files become a `Problem`; kinds and missing cells are recorded.

Rules of the reader
-------------------
- Kinds. Numbers are numeric; true and false are boolean; text and categories are nominal. `nominal` and `numeric`
  overrule this column by column.
- Text files are understood by the whole column, never by half of one. A column is numeric if all its cells are numbers
  of one format: thousands separators, decimal commas, a currency, per cent or one unit, accounting negatives. Whole
  numbers with leading zeros stay codes. What is not written as in a program is converted with a note.
- Dates and times count as days since 1970-01-01: in frames and Parquet files as they are, in text as year-month-day,
  day/month/year, month/day/year, with month names, times, zones (moments in UTC), yyyymmdd, or seconds since 1970 if
  the column is named like a date. Where days and months cannot be told apart, the other columns decide, and a note
  says so. Durations count as days. `calendar` adds weekday and month.
- Columns of files that are no features are left out with a note: free text, lists, codes that nearly every row has to
  itself, numbers in several units. `nominal` keeps them.
- Missing cells: null and NaN; in text files also the empty cell and `?`, `NA`, `N/A`, `NaN`, `null`, or what `missing`
  lists.
- Cells that cannot be read are refused all at once, each with its place.
- The target may not be missing or infinite, features may be missing but not infinite.
- Task. Text, truth values and up to 20 distinct whole numbers are classes, other numbers a quantity; `task`
  overrules this.
- Levels of a nominal column are those of these rows. A selector picks columns and passes whatever cells they
  hold; where cells are compared with earlier ones (as in predicting new rows), a level never seen is equal to none.
- The same table gives the same problem whatever it is stored in.
"""

from fewer.io._cells import calendar_groups
from fewer.io._files import TableOptions, frame_bytes, read_frame, read_table, reduce_table
from fewer.io._inspect import ColumnSummary, Inspection, describe_columns, inspect_chunks, inspect_table
from fewer.io._kinds import ParseProblem, Schema, TableError
from fewer.io._reader import (
    Contract,
    features_of,
    infer_task,
    quantity_notes,
    refuse_constant,
    refuse_useless_target,
    spelled_alike,
    to_problem,
)
from fewer.io._source import PartWork, Source, beyond_memory, in_chunks, is_lazy, is_path, memory_plan, open_source
from fewer.io._stream import Stream, open_stream, write_columns
from fewer.io.frames import is_frame, own_labels, plain_frame, text_name, without_arrow_text
from fewer.io.memory import refuse_unfit
from fewer.io.sparse import SparseProblem
from fewer.problem import Suspicion

__all__ = [
    "ColumnSummary",
    "Contract",
    "Inspection",
    "ParseProblem",
    "PartWork",
    "Schema",
    "Source",
    "SparseProblem",
    "Stream",
    "Suspicion",
    "TableError",
    "TableOptions",
    "beyond_memory",
    "calendar_groups",
    "describe_columns",
    "features_of",
    "frame_bytes",
    "in_chunks",
    "infer_task",
    "inspect_chunks",
    "inspect_table",
    "is_frame",
    "is_lazy",
    "is_path",
    "memory_plan",
    "open_source",
    "open_stream",
    "own_labels",
    "plain_frame",
    "quantity_notes",
    "read_frame",
    "read_table",
    "reduce_table",
    "refuse_constant",
    "refuse_unfit",
    "refuse_useless_target",
    "spelled_alike",
    "text_name",
    "to_problem",
    "without_arrow_text",
    "write_columns",
]
