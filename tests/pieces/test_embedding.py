import numpy as np
import pytest

from sharpfront.basis import Basis
from sharpfront.errors import BasisError
from sharpfront.pieces.embedded import EmbeddedBasis, restore_embedded
from sharpfront.pieces.embedding import Embedding, Front, climb, restore_embedding

STEP = 1e-5


def random_front(rng, components, dimension):
    """Quadrics with nothing in common, so that every term of the derivatives counts."""
    q = rng.normal(size=(components, dimension, dimension))
    return Front(
        means=rng.random((components, dimension)),
        offsets=rng.normal(size=components),
        slopes=5 * rng.normal(size=(components, dimension)),
        curvatures=q + q.swapaxes(1, 2),
        lengths=0.2 + 0.3 * rng.random(components),
        shares=0.5 + rng.random(components),
        amplitude=0.7,
    )


def circle(width, radius=0.25):
    """The circle about (1/2, 1/2): one quadric is its level function everywhere."""
    return Embedding(
        (
            Front(
                means=np.array([[0.5 + radius, 0.5]]),
                offsets=np.zeros(1),
                slopes=np.array([[1.0, 0.0]]) / width,
                curvatures=np.eye(2)[None] / (radius * width),
                lengths=np.ones(1),
                shares=np.ones(1),
                amplitude=0.4,
            ),
        )
    )


@pytest.fixture(params=[2, 3])
def embedding(request):
    rng = np.random.default_rng(request.param)
    return Embedding(tuple(random_front(rng, k, request.param) for k in (5, 3)))


@pytest.fixture
def points(embedding):
    return np.random.default_rng(7).random((9, embedding.dimension))


@pytest.fixture
def basis(embedding):
    nodes = np.random.default_rng(8).random((20, embedding.dimension))
    return EmbeddedBasis(embedding, nodes, 17, 0.8)


def difference(function, points, axis):
    step = STEP * np.eye(points.shape[1])[axis]
    return (function(points + step) - function(points - step)) / (2 * STEP)


def unit(dimension, *axes):
    orders = [0] * dimension
    for axis in axes:
        orders[axis] += 1
    return tuple(orders)


def test_the_climb_is_steady_within_the_width_and_logarithmic_beyond():
    value, slope, _ = climb(np.array([0.0, 1e6, 2e6]))
    assert value[0] == 0
    assert slope[0] == pytest.approx(1.0)
    assert value[2] - value[1] == pytest.approx(0.6 * np.log(2), rel=1e-4)


def test_the_embedding_keeps_the_coordinates_and_adds_one_for_each_front(embedding, points):
    lifted = embedding(points)
    assert np.array_equal(lifted[:, : embedding.dimension], points)
    assert lifted.shape[1] == embedding.dimension + 2


def test_jacobian_and_hessian_are_the_derivatives(embedding, points):
    jacobian, hessian = embedding.jacobian(points), embedding.hessian(points)
    d = embedding.dimension
    for axis in range(d):
        assert jacobian[:, :, axis] == pytest.approx(
            difference(embedding, points, axis), rel=1e-6, abs=1e-6
        )
        bent = difference(embedding.jacobian, points, axis)[:, d:]
        assert hessian[:, :, :, axis] == pytest.approx(bent, rel=1e-5, abs=1e-4)


def test_jets_agree_with_the_single_functions(embedding, points):
    value, jacobian, hessian = embedding.jets(points)
    assert value == pytest.approx(embedding(points))
    assert jacobian == pytest.approx(embedding.jacobian(points))
    assert hessian == pytest.approx(embedding.hessian(points))


def test_kernels_have_the_derivatives_that_differences_show(basis, points):
    d = basis.dimension
    for i in range(d):
        value = difference(lambda x: basis.matrix(x, unit(d)), points, i)
        assert basis.matrix(points, unit(d, i)) == pytest.approx(value, rel=1e-5, abs=1e-6)
        for j in range(d):
            slope = difference(lambda x, j=j: basis.matrix(x, unit(d, j)), points, i)
            assert basis.matrix(points, unit(d, i, j)) == pytest.approx(slope, rel=1e-5, abs=1e-4)


def test_kernels_are_one_at_their_own_node_and_round_on_the_surface(basis):
    value = basis.matrix(basis.nodes, unit(basis.dimension))
    lifted = basis.embedding(basis.nodes)
    square = ((lifted[:, None] - lifted) ** 2).sum(axis=2)
    assert np.diag(value) == pytest.approx(1.0)
    assert value == pytest.approx(np.exp(-square / (2 * 0.8**2)), abs=1e-15)


def test_values_are_the_matrix_times_the_weights_also_in_chunks(basis, points, monkeypatch):
    weights = np.random.default_rng(9).normal(size=basis.size)
    orders = unit(basis.dimension, 0, 1)
    whole = basis.matrix(points, orders) @ weights
    monkeypatch.setattr("sharpfront.pieces.embedded._CHUNK", 45)
    assert basis.values(weights, points, orders) == pytest.approx(whole)


def test_covariances_are_thin_across_the_front_and_long_along_it():
    width = 0.01
    basis = EmbeddedBasis(circle(width), np.array([[0.75, 0.5], [0.5, 0.75], [2.0, 2.0]]), 2, 0.1)
    right, top = basis.covariances
    thin = 0.1 / np.sqrt(1 + (0.4 / width) ** 2)
    assert np.sqrt(np.diag(right)) == pytest.approx([thin, 0.1])
    assert np.sqrt(np.diag(top)) == pytest.approx([0.1, thin])
    assert basis.centres.shape == (2, 2)


def test_a_level_function_of_one_quadric_is_exact():
    angle = np.linspace(0, 6, 50)
    on = 0.5 + 0.25 * np.column_stack([np.cos(angle), np.sin(angle)])
    front = circle(0.01).fronts[0]
    assert front.level(on) == pytest.approx(0, abs=1e-12)
    assert front.level(np.array([[0.5, 0.5]])) == pytest.approx(-0.125 / 0.01)


def test_the_basis_fulfils_the_contract(basis):
    assert isinstance(basis, Basis)
    assert (basis.size, basis.kernels) == (20, 17)


def test_state_makes_the_same_basis_again(basis, points):
    again = restore_embedded(basis.state())
    orders = unit(basis.dimension, 0, 0)
    assert np.array_equal(again.matrix(points, orders), basis.matrix(points, orders))
    assert again.kernels == basis.kernels


def test_state_makes_the_same_embedding_again(embedding, points):
    again = restore_embedding(embedding.state())
    assert np.array_equal(again(points), embedding(points))


@pytest.mark.parametrize("orders", [(3, 0), (1, 2), (0,), (0, 0, 0)])
def test_orders_that_are_not_there_are_refused(orders):
    basis = EmbeddedBasis(circle(0.01), np.zeros((1, 2)), 1, 0.1)
    with pytest.raises(BasisError, match="expected 2 of them with a sum of 2"):
        basis.matrix(np.zeros((1, 2)), orders)


@pytest.mark.parametrize(
    ("nodes", "kernels", "width"),
    [(np.zeros((3, 3)), 1, 0.1), (np.zeros((3, 2)), 4, 0.1), (np.zeros((3, 2)), 3, 0.0)],
)
def test_nodes_that_do_not_fit_are_refused(nodes, kernels, width):
    with pytest.raises(BasisError):
        EmbeddedBasis(circle(0.01), nodes, kernels, width)


def test_fronts_that_do_not_fit_are_refused():
    front = circle(0.01).fronts[0]
    arrays = {name: getattr(front, name) for name in front.__dataclass_fields__}
    with pytest.raises(BasisError, match="shapes"):
        Front(**arrays | {"slopes": np.zeros((2, 2))})
    with pytest.raises(BasisError, match="positive"):
        Front(**arrays | {"lengths": np.zeros(1)})
    with pytest.raises(BasisError, match="one front or more"):
        Embedding(())
