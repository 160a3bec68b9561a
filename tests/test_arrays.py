"""The one file that names an array library."""

from __future__ import annotations

import ast
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
import scipy.linalg
import threadpoolctl
from threadpoolctl import threadpool_info

import sharpfront
from sharpfront import arrays


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen_wherever_it_stands(odd):
    values = np.full((3, 4), 1e308)
    assert arrays.all_finite(values)
    assert arrays.all_finite(values[:0])
    values[1, 2] = odd
    assert not arrays.all_finite(values)
    values[2, 3] = -odd
    assert not arrays.all_finite(values)


SOURCES = Path(sharpfront.__file__).parent
# Methods that say they run on the host; every other one is written against the standard.
HOST_ONLY = {
    *("blocked.py", "dissection.py", "gram.py", "groups.py", "iterative_traces.py", "leaves.py"),
    *("merges.py", "once.py"),
    # What asks for a card or for workers loads their libraries.
    *("cluster.py", "device.py", "leaf_rows.py"),
    *(
        "distributed_tree.py",
        "factored_tree.py",
        "reflectors.py",
        "traces.py",
        "tree.py",
        "parallel_lapack.py",
    ),
    # Indices are the host's; what is on a device goes through its namespace.
    *("batched_leaves.py", "batched_merges.py", "batched_tree.py", "kinds.py"),
    "refinement.py",
}
STANDARD_ONLY = [
    *(SOURCES / "kernels" / name for name in ("profiles.py", "basis.py", "assemble.py")),
    *(p for p in sorted((SOURCES / "leastsquares").glob("*.py")) if p.name not in HOST_ONLY),
]
LIBRARIES = {"numpy", "scipy", "torch", "cupy", "jax", "dask", "array_api_compat", "importlib"}
DEVICES = [strict.Device(name) for name in ("CPU_DEVICE", "device1", "device2")]


def imported_by(source):
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Name) and node.id == "__import__":
            names.add("importlib")
    return names


@pytest.mark.parametrize("path", STANDARD_ONLY, ids=lambda p: p.name)
def test_no_array_library_is_named_from_kernels_to_weights(path):
    assert not imported_by(path.read_text(encoding="utf-8")) & LIBRARIES


def test_that_check_sees_every_way_to_import():
    nested = (
        "def f():\n    import torch.linalg as t\n    from cupy import x\n    __import__('numpy')"
    )
    assert imported_by(nested) == {"torch", "cupy", "importlib"}
    assert len(STANDARD_ONLY) >= 6
    own = imported_by((SOURCES / "arrays.py").read_text(encoding="utf-8"))
    assert own >= {"numpy", "array_api_compat"}


VALUES = [
    np.array(2.5),
    np.array([1.0, -2.0, 1e-300]),
    np.arange(6.0).reshape(2, 3),
    np.arange(24.0).reshape(2, 3, 4),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((0,)),
]


@pytest.mark.parametrize("values", VALUES, ids=lambda v: str(v.shape))
@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_round_trip_keeps_shape_bits_and_device(values, device):
    there = arrays.like(values, strict.ones(1, dtype=strict.float64, device=device))
    assert type(there) is type(strict.asarray(1.0))
    assert (there.device, there.dtype) == (device, strict.float64)
    back = arrays.to_host(there)
    assert type(back) is np.ndarray
    assert back.shape == values.shape
    assert np.array_equal(back, values)


def test_numpy_arrays_are_passed_as_doubles():
    assert arrays.to_host(np.arange(3)).dtype == np.float64
    doubles = np.ones(3)
    assert arrays.to_host(doubles) is doubles
    assert arrays.to_host([1, 2]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("xp", [np, strict])
def test_like_takes_the_type_of_the_example(xp):
    single = arrays.like([1.0, 2.0], xp.ones(1, dtype=xp.float32))
    assert single.dtype == xp.float32
    assert arrays.to_host(single).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_new_arrays_follow_their_example(device):
    example = strict.ones((2, 2), dtype=strict.float32, device=device)
    for made, expected in [
        (arrays.zeros((2, 3), example), np.zeros((2, 3))),
        (arrays.identity(3, example), np.eye(3)),
    ]:
        assert (made.device, made.dtype) == (device, strict.float32)
        np.testing.assert_array_equal(arrays.to_host(made), expected)


def test_namespace_is_that_of_the_arrays():
    assert arrays.namespace(strict.ones(1)) is strict
    assert "numpy" in arrays.namespace(np.ones(1)).__name__
    with pytest.raises(TypeError):
        arrays.namespace(np.ones(1), strict.ones(1))


def blas_counts():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_threads_limits_inside_the_block_and_restores():
    scipy.linalg.qr(np.eye(3))
    # Libraries that other tests have loaded since, as ngsolve is, bring one of their own.
    arrays._controller.cache_clear()
    # Two threads to begin with, whatever the environment of the tests asked for.
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        outer = blas_counts()
        assert set(outer) == {2}
        with arrays.blas_threads(1):
            assert set(blas_counts()) == {1}
        assert blas_counts() == outer
        with arrays.blas_threads(2):
            assert blas_counts() == outer


def test_blas_threads_restores_after_an_exception():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), arrays.blas_threads(1):
            raise ZeroDivisionError
        assert set(blas_counts()) == {2}
