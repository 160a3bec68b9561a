"""A cluster of dask on this machine, for tests."""

import contextlib

import pytest


@contextlib.contextmanager
def local_client(workers):
    """Yield a client of processes that are forked: they need not load everything once more."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    quiet = {"dashboard_address": None, "processes": True, "threads_per_worker": 1}
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "fork"}),
        distributed.LocalCluster(n_workers=workers, silence_logs=50, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
