"""Connecting to Ray, with something in its place that is never there."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from structlearn.distributed import cluster

WAIT = "RAY_gcs_server_port_wait_time_s"


@pytest.mark.parametrize("error", [ConnectionError("no answer"), ValueError("not an address")])
@pytest.mark.parametrize("chosen", [None, "7"])
def test_an_address_is_tried_once(
    error: Exception, chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray itself would try for a quarter of an hour."""
    tries: list[tuple[str, str]] = []

    def init(address: str, **_: Any) -> None:
        tries.append((address, os.environ[WAIT]))
        raise error

    absent = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(cluster, "import_ray", lambda: absent)
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)
    if chosen is not None:
        monkeypatch.setenv(WAIT, chosen)
    before = os.environ.get(WAIT)
    with (
        pytest.raises(ValueError, match=f"no Ray cluster at '10.0.0.7:6379' .{error}.: start one"),
        cluster.connected("10.0.0.7:6379"),
    ):
        pass
    assert tries == [("10.0.0.7:6379", chosen or "1")]
    assert os.environ.get(WAIT) == before


def test_files_are_looked_for_before_ray_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    from structlearn.distributed import fit
    from structlearn.exceptions import FileError
    from structlearn.tasks import Tagger

    monkeypatch.setattr(cluster, "import_ray", lambda: pytest.fail("Ray was started"))
    with pytest.raises(FileError, match="no such file"):
        fit(Tagger("pos"), "/nowhere/*.txt.gz", cluster="local")
