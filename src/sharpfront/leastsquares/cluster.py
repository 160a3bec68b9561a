"""Workers of dask: other processes and other machines."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from sharpfront.checks import refusal
from sharpfront.errors import ClusterError, MissingExtraError

# Seconds between two looks at whether there are workers, and how many looks without one are enough:
# one that died is back sooner where it is started again.
LOOK, PATIENCE = 5.0, 12


def connected(client: Any, name: str) -> Any:
    """Return a client of dask, made from an address if it is one; `name` is the argument's."""
    try:
        kind: Any = importlib.import_module("distributed").Client
    except ImportError:
        raise MissingExtraError("distributed", "distributed") from None
    if isinstance(client, str):
        return kind(client)
    if not isinstance(client, kind):
        raise refusal(name, "a dask.distributed.Client or the address of a scheduler", client)
    return client


def as_bytes(value: Any) -> bytes:
    """Return a value as bytes for `pickle.loads`, functions of the user's program included."""
    return bytes(importlib.import_module("cloudpickle").dumps(value))


def gathered(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Return results of tasks; what a worker that dies takes along is made again by others.

    ClusterError if there are no workers left, or a task has ended several of them.
    """
    distributed: Any = importlib.import_module("distributed")
    alone = 0
    while alone < PATIENCE:
        try:
            distributed.wait(futures, timeout=LOOK)
            return list(client.gather(futures))
        except (TimeoutError, distributed.TimeoutError):
            alone = 0 if client.scheduler_info(n_workers=-1)["workers"] else alone + 1
        except distributed.KilledWorker as error:
            raise ClusterError(
                "A part of the system has ended several workers, one after the other. Give each "
                "of them more memory, or leave cluster= out."
            ) from error
    raise ClusterError(
        f"The cluster has had no workers for {LOOK * PATIENCE:.0f} seconds. Start some, or leave "
        "cluster= out."
    )
