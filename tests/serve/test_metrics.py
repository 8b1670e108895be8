"""Counts in Prometheus' text format, summed over processes."""

import json
import os
import re
import subprocess
import sys

import pytest

from structlearn.serve.metrics import Metrics

_LINE = re.compile(r'structlearn_[a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)+\})? [0-9.e+-]+')


def values(text):
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_the_format():
    metrics = Metrics()
    metrics.count("requests_total", path='a"b\\c\nd', status="200")
    metrics.observe("request_seconds", 0.003, path="/x")
    metrics.observe("request_seconds", 99.0, path="/x")
    metrics.gauge("workers", 1)
    lines = metrics.text().splitlines()
    kinds = [line for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds)) == 7
    for line in lines:
        assert line.startswith(("# HELP structlearn_", "# TYPE structlearn_")) or _LINE.fullmatch(
            line
        )


def test_histograms_are_cumulative():
    metrics = Metrics()
    for n in (1, 2, 2, 3, 64, 65):
        metrics.observe("batch_queries", n)
    found = values(metrics.text())
    counts = [found[f'structlearn_batch_queries_bucket{{le="{b}"}}'] for b in (1, 2, 4, 64, "+Inf")]
    assert counts == ["1", "3", "4", "5", "6"]
    assert found["structlearn_batch_queries_sum"] == "137"
    assert found["structlearn_batch_queries_count"] == "6"


def test_processes_are_added_up(tmp_path):
    """Counters of processes that have ended still count; what they had of gauges is gone."""
    code = f"""
from structlearn.serve.metrics import Metrics
metrics = Metrics({str(tmp_path)!r})
metrics.count("inputs_total", 5, model="a")
metrics.observe("batch_queries", 2)
metrics.gauge("workers", 1)
metrics.write()
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], check=True)
    metrics = Metrics(str(tmp_path))
    metrics.count("inputs_total", 1, model="a")
    metrics.gauge("workers", 1)
    metrics.write()
    found = values(metrics.text())
    assert found['structlearn_inputs_total{model="a"}'] == "11"
    assert found["structlearn_batch_queries_count"] == "2"
    assert found["structlearn_workers"] == "1"
    alive = tmp_path / f"{os.getppid()}.json"  # a process that lives
    alive.write_text(json.dumps([["workers", [], 1]]))
    assert values(metrics.text())["structlearn_workers"] == "2"


@pytest.mark.parametrize("content", ["", "{", "[[1]]"])
def test_damaged_files_are_passed_over(content, tmp_path):
    (tmp_path / "1.json").write_text(content)
    (tmp_path / "x.json").write_text("[]")
    metrics = Metrics(str(tmp_path))
    metrics.count("inputs_total", 1, model="a")
    assert values(metrics.text())['structlearn_inputs_total{model="a"}'] == "1"


def test_nothing_is_written_twice(tmp_path):
    metrics = Metrics(str(tmp_path))
    metrics.gauge("workers", 1)
    metrics.write()
    (path,) = tmp_path.iterdir()
    path.unlink()
    metrics.write()
    assert not list(tmp_path.iterdir())
    metrics.count("inputs_total", 1, model="a")
    metrics.write()
    assert list(tmp_path.iterdir()) == [path]
