"""BorutaPy's own tests (in its repository), asked of `Shadow` over a forest."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from peers.adapters import BorutaPy

FOLDER = os.environ.get("BORUTA_SOURCE")
if not FOLDER:
    pytest.skip("make .peers/boruta_py fetches its repository", allow_module_level=True)
spec = importlib.util.spec_from_file_location("boruta_tests", Path(FOLDER) / "boruta/test/test_boruta.py")
theirs = importlib.util.module_from_spec(spec)
with patch("boruta.BorutaPy", BorutaPy):
    spec.loader.exec_module(theirs)
globals().update({name: test for name, test in vars(theirs).items() if name.startswith("test_") or name == "Xy"})
