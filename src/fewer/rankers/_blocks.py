"""Tables of many cells, some columns at a time: what is computed on the way is larger than the table."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 4096
"""Columns of a block at most."""
CELLS = 1 << 20
"""Cells of a block, about."""
FEWEST = 2
"""Columns of a block at least."""


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut the columns of a table into blocks, none of which is one column alone unless the table is.

    Parameters
    ----------
    n_rows, n_columns : int

    Returns
    -------
    iterator of slice
        A sum of one column takes its cells in another order than sums of several; so results do not depend on blocks.

    Examples
    --------
    >>> [(block.start, block.stop) for block in column_blocks(1_000_000, 7)]
    [(0, 2), (2, 4), (4, 7)]
    """
    width = min(max(CELLS // max(n_rows, 1), FEWEST), BLOCK)
    n_blocks = max(n_columns // width, 1) if n_columns % width <= 1 else -(-n_columns // width)
    for block in range(n_blocks):
        yield slice(block * width, n_columns if block == n_blocks - 1 else (block + 1) * width)
