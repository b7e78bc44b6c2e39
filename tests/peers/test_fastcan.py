"""fastcan's own tests of its selector (its wheel ships them), asked of least squares and a forward search."""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from pathlib import Path
from unittest.mock import patch

import pytest

from peers.frames import FastCan

FOLDER = os.environ.get("FASTCAN_SOURCE")
if not FOLDER:
    pytest.skip("make test-peers fetches fastcan", allow_module_level=True)


def refine(selector, drop=1, max_iter=None, verbose=1):
    """Stand in for theirs: columns are exchanged by the floating search, not afterwards."""
    raise NotImplementedError


fastcan = types.ModuleType("fastcan")
fastcan.FastCan, fastcan.refine = FastCan, refine
# Mini-batches, lazily made columns and time series (NARX) have no counterpart.
for part in ("fastcan", "beam", "refine"):
    spec = importlib.util.spec_from_file_location(f"fastcan_{part}", Path(FOLDER) / f"fastcan/tests/test_{part}.py")
    theirs = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, fastcan=fastcan):
        spec.loader.exec_module(theirs)
    globals().update({f"{name}__{part}": test for name, test in vars(theirs).items() if name.startswith("test_")})
