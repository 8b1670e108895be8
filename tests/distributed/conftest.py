"""A cluster of three nodes on this machine, for the tests that have ``ray`` in their name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Skip the tests of the cluster unless ``make test-ray`` runs them."""
    if os.environ.get("STRUCTLEARN_TEST_RAY"):
        return
    for item in items:
        if item.path.name.startswith("test_ray_"):
            item.add_marker(pytest.mark.skip(reason="a Ray cluster is started by make test-ray"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Three nodes; the first has no worker to lose."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
    os.environ.setdefault("RAY_worker_niceness", "0")  # or a busy machine starves them
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    node = {"object_store_memory": 200 * 2**20}
    made = Cluster(
        initialize_head=True,
        head_node_args={**node, "num_cpus": 2, "include_dashboard": False},
    )
    made.more = {**node, "num_cpus": 2}
    made.extra = [made.add_node(**made.more) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()
