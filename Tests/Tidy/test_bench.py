"""Tests the bars of the benchmark."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from parts.report import Bars


def test_a_figure_keeps_its_bars_for_all_references():
    bars = Bars()
    for reference in ("curl -Z", "aria2c"):
        bars.ratio("16KiB", "wall", [(2.0, 1.0, reference)])
    assert len(bars.broken()) == 2
