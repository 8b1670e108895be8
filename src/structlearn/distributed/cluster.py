"""Connecting to Ray: the cluster that this machine is part of, another one, or one of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from .crew import Crew


def import_ray() -> Any:
    """Return the module, or say how to get it."""
    try:
        import ray
    except ImportError:
        raise ImportError(
            "several machines need Ray: pip install 'structlearn[ray]'", name="ray"
        ) from None
    return ray


@contextmanager
def connected(cluster: str | None, workers: int | None = None, threads: int = 1) -> Iterator[int]:
    """Connect to a cluster, and leave it again; gives the number of workers to have.

    Parameters
    ----------
    cluster : str or None
        "local": Ray on this machine, started for the purpose; "auto": the cluster that this machine
        is part of (``ray start``); the address of another one. None: no cluster, all work is done
        in this process. If Ray is connected already, that is used.
    workers : int, optional
        By default as many as there are cores for.
    threads : int
        Cores of each worker.
    """
    if cluster is None:
        yield 1
        return
    ray = import_ray()
    begun = not ray.is_initialized()
    if begun:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # a busy machine starts late
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        options["address"] = cluster  # "local" too: Ray looks for another cluster otherwise
        if cluster == "local":
            cores = max(os.cpu_count() or 1, (workers or 1) * threads)
            options.update(num_cpus=cores, include_dashboard=False)
        try:
            with _one_try() if cluster != "local" else nullcontext():
                ray.init(**options)
        except (ConnectionError, ValueError) as error:
            raise ValueError(
                f"no Ray cluster at {cluster!r} ({error}): start one with 'ray start --head', or "
                "use the cluster 'local'"
            ) from None
    try:
        if workers is None:
            workers = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
        yield workers
    finally:
        if begun:
            ray.shutdown()


@contextmanager
def _one_try() -> Iterator[None]:
    """Let Ray give up after one try of 40 seconds: an address that is wrong had twenty."""
    name = "RAY_gcs_server_port_wait_time_s"
    chosen = os.environ.get(name)
    os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        if chosen is None:
            del os.environ[name]


def make_crew(
    shards: Sequence[Any],
    cluster: str | None,
    workers: int,
    threads: int = 1,
    *,
    verbose: bool = False,
) -> Crew:
    """Return the workers of a cluster that is connected, or one in this process."""
    if cluster is None:
        return Crew(shards, threads)
    from .ray_crew import RayCrew

    return RayCrew(shards, workers, threads, verbose=verbose)
