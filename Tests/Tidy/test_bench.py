"""Tests which figures of the benchmark fail in continuous integration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from parts import enqueue
from parts.report import CI_FACTOR, KNOWN_MISSES, Bars
from parts.rows import ROWS


def test_each_known_miss_is_the_title_of_a_bar():
    bars = Bars()
    enqueue.add_bars(bars, {name: [1] for name in enqueue.TITLES})
    titles = {bar["title"] for bar in bars.bars}
    titles |= {f"{row.name} over {protocol}, {bar.figure}"
               for row in ROWS for protocol, row_bars in row.bars.items() for bar in row_bars}
    assert set(KNOWN_MISSES) <= titles


def test_in_continuous_integration_a_figure_fails_only_if_it_misses_its_bar_by_far():
    bars = Bars()
    bars.at_most("held", 1, 1, "")
    bars.at_most("missed", CI_FACTOR, 1, "")
    bars.at_most("missed by far", CI_FACTOR + 0.1, 1, "")
    assert [bar["title"] for bar in bars.broken()] == ["missed", "missed by far"]
    assert [bar["title"] for bar in bars.broken_in_ci()] == ["missed by far"]


def test_in_continuous_integration_a_time_without_a_reference_does_not_fail():
    bars = Bars()
    bars.at_most("latency", 1000, 1, "ms", is_absolute=True)
    assert bars.broken() and not bars.broken_in_ci()


def test_a_figure_keeps_its_bars_for_all_references():
    bars = Bars()
    for reference in ("curl -Z", "aria2c"):
        bars.ratio("16KiB", "wall", [(2.0, 1.0, reference)])
    assert len(bars.broken()) == 2
