"""Algorithm 1 of the paper, to the letter, in any dimension.

What the text leaves open is a parameter with a stated default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sharpfront.adapt.uniform import KernelState, Uniform
from sharpfront.arrays import FloatArray
from sharpfront.budget import Budget
from sharpfront.checks import finite, one_of, positive, whole
from sharpfront.errors import MixtureError, Outcome, OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.geometry import Domain
from sharpfront.kernels.basis import KernelBasis, isotropic
from sharpfront.mixture import Mixture, fit
from sharpfront.solution.approximation import Approximation


def residual_density(
    residual: FloatArray, volumes: FloatArray, power: Literal["log", "squared"] = "log"
) -> FloatArray:
    """Return p_res at points: log(1 + |R|) / Z with Z its integral over the domain.

    ``squared`` is the raw R^2 / Z that the appendix argues against.
    """
    size = np.abs(residual)
    raw = np.log1p(size) if power == "log" else (size / max(float(np.max(size)), 1e-300)) ** 2
    total = float(np.sum(raw * volumes))
    if not total > 0 or not math.isfinite(total):
        raise MixtureError(
            "The residual is zero or not finite everywhere, so it defines no density."
        )
    return np.asarray(raw / total)


@dataclass(frozen=True)
class Paper(Uniform):
    """GMM-PIELM, whose first kernels and rows are those of the baseline.

    Its other parameters are those of `Uniform`; N is 300 for the single layer, 500 for the double
    one, and rows stay where they are.

    Parameters
    ----------
    components
        K: 8 and 16.
    ratio
        The hybrid ratio alpha: this part of the centres comes from the mixture.
    iterations
        T: the number of adaptations; there are T + 1 solves.
    scaling
        beta of the widths s = beta dist_k + epsilon: 1.1 and 1.5.
    neighbours
        k of dist_k.
    fit
        ``samples``: draw from p_res and fit with scikit-learn, as Algorithm 1 says.
        ``weighted``: weighted EM on the collocation points, as the derivation says.
    density
        ``log`` for log(1 + |R|), ``squared`` for the raw squared residual.
    epsilon
        Added to every width, default 1e-8. Left open in the paper.
    samples
        Draws from p_res, default 2000. Left open.
    outside
        Draws of the mixture outside the domain: ``redraw`` (default), ``clip`` to the boundary,
        or ``keep``. Left open.
    regularisation
        Added to (scikit-learn) or floor of (weighted) the components' variances, relative to the
        squared size of the domain; default scikit-learn's 1e-6. Left open.
    """

    components: int = 8
    ratio: float = 0.7
    iterations: int = 3
    scaling: float = 1.1
    neighbours: int = 2
    fit: Literal["samples", "weighted"] = "samples"
    density: Literal["log", "squared"] = "log"
    epsilon: float = 1e-8
    samples: int = 2000
    outside: Literal["redraw", "clip", "keep"] = "redraw"
    regularisation: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        Budget(components=self.components)
        ratio = "a number from 0 to 1"
        finite(self.ratio, "ratio", ratio, "ratio=0.7", within=lambda r: 0 <= r <= 1)
        for name, least in (("iterations", 0), ("neighbours", 1), ("samples", 1)):
            whole(getattr(self, name), name, least)
        positive(self.scaling, "scaling", "scaling=1.1")
        for name in ("epsilon", "regularisation"):
            finite(getattr(self, name), name, "a number, 0 or more", within=lambda e: e >= 0)
        one_of(self.fit, "fit", ("samples", "weighted"))
        one_of(self.density, "density", ("log", "squared"))
        one_of(self.outside, "outside", ("redraw", "clip", "keep"))

    def observe(self, state: KernelState, assessment: Assessment) -> KernelState:
        """Return the state with new kernels drawn from a mixture fitted to the residual."""
        state = replace(state, answer=assessment)
        if assessment.estimate.value <= state.tol:
            return replace(state, finished=Outcome(OutcomeKind.CONVERGED))
        if state.iteration == self.iterations:
            return replace(state, finished=Outcome(OutcomeKind.ITERATION_LIMIT))
        # Every random number of this step comes from the seed and the step.
        rng = np.random.default_rng([state.seed, state.iteration])
        density = self.density_on_rows(state, assessment.approximation)
        mixture = self.fit_mixture(state.collocation, density, state.problem.domain, rng)
        bases = {name: self.draw_kernels(state, mixture, rng) for name in state.problem.unknowns}
        return replace(state, bases=bases, mixture=mixture, iteration=state.iteration + 1)

    def density_on_rows(self, state: KernelState, approximation: Approximation) -> FloatArray:
        """Return p_res on the collocation points, each of which stands for an equal volume."""
        residuals = approximation.residuals(state.problem, state.collocation)
        size = np.sqrt(np.sum(residuals**2, axis=0))
        volume = state.problem.domain.measure / len(state.collocation)
        return residual_density(size, np.full(len(size), volume), self.density)

    def fit_mixture(
        self, points: FloatArray, density: FloatArray, domain: Domain, rng: np.random.Generator
    ) -> Mixture:
        """Return the mixture fitted to the density in the way that `fit` names."""
        # Both ways work in the unit of the domain, so that the regularisation has a scale.
        low, high = domain.bounds
        size = float(np.max(high - low))
        scaled, seed = (points - low) / size, int(rng.integers(2**31))
        if self.fit == "weighted":
            floor = math.sqrt(self.regularisation)
            mixture = fit(scaled, density, self.components, floor=floor, seed=seed)
        else:
            drawn = rng.choice(len(scaled), self.samples, p=density / np.sum(density))
            mixture = self._fit_samples(scaled[drawn], seed)
        return Mixture(mixture.weights, low + size * mixture.means, size**2 * mixture.covariances)

    def _fit_samples(self, samples: FloatArray, seed: int) -> Mixture:
        import warnings

        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits

        model = GaussianMixture(self.components, reg_covar=self.regularisation, random_state=seed)
        # The k-means that starts the fit adds up in the order in which OpenMP threads finish:
        # with one thread the same seed gives the same bits.
        with warnings.catch_warnings(), threadpool_limits(1):
            # Samples that collapse to few points are a finding of the report, not a fault.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(samples)
        return Mixture(model.weights_ / np.sum(model.weights_), model.means_, model.covariances_)

    def draw_kernels(
        self, state: KernelState, mixture: Mixture, rng: np.random.Generator
    ) -> KernelBasis:
        """Return alpha N centres of the mixture, the rest uniform, with k-NN widths."""
        domain = state.problem.domain
        guided = round(self.ratio * self.kernels)
        centres = np.concatenate(
            [
                self._draw(mixture, guided, domain, rng),
                domain.sample(self.kernels - guided, "random", int(rng.integers(2**31))),
            ]
        )
        return isotropic(centres, self.widths(centres), self.kernel)

    def widths(self, centres: FloatArray) -> FloatArray:
        """Return s_j = beta dist_k(centre_j) + epsilon, (n,)."""
        from scipy.spatial import cKDTree

        distances, _ = cKDTree(centres).query(centres, k=self.neighbours + 1)
        return np.asarray(self.scaling * np.asarray(distances)[:, -1] + self.epsilon)

    def _draw(
        self, mixture: Mixture, count: int, domain: Domain, rng: np.random.Generator
    ) -> FloatArray:
        drawn = mixture.draw(count, int(rng.integers(2**31)))
        if self.outside == "clip":
            return np.clip(drawn, *domain.bounds)
        if self.outside == "redraw":
            drawn = drawn[domain.contains(drawn)]
            while len(drawn) < count:
                more = mixture.draw(count, int(rng.integers(2**31)))
                drawn = np.concatenate([drawn, more[domain.contains(more)]])
        return drawn[:count]
