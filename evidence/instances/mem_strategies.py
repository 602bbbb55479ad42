"""What the tests of the maximum entropy on the mean draw at random, and the 50-digit solution to hold results against."""

from dataclasses import dataclass, replace

import mpmath as mp
import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

ALPHAS = (1.0, 1e-4, 0.1, 30.0, 1e4)
SCALES = (1.0, 8.0, 0.01)
"""Magnitudes of the templates."""

PRIORS = ("uniform", "dense", "zeros")
MASKS = ("none", "boolean", "float", "bias")
"""As for one-sided problems; every row keeps a template that has a positive prior."""

DIGITS = 50


@dataclass(frozen=True)
class Mem:
    """One batch of problems.

    Attributes:
        templates: (n, d) or (*batch, n, d).
        evidence: (*batch, d).
        prior: None, (n,) or (*batch, n).
        alpha: a number, or (*batch,).
        mask: None, or boolean or floating, (*batch, n).
    """

    templates: Tensor
    evidence: Tensor
    prior: Tensor | None
    alpha: float | Tensor
    mask: Tensor | None

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor | None, float | Tensor, Tensor | None]:
        return self.templates, self.evidence, self.prior, self.alpha, self.mask

    @property
    def n(self) -> int:
        return self.templates.shape[-2]

    @property
    def d(self) -> int:
        return self.templates.shape[-1]

    @property
    def weighted_prior(self) -> Tensor:
        """The prior that the mask leaves, normalized, (*batch, n), worked out apart from the code under test."""
        batch = self.evidence.shape[:-1]
        u = torch.full((self.n,), 1.0, dtype=torch.float64) if self.prior is None else self.prior.double()
        if self.mask is not None:
            u = u * (self.mask.double() if self.mask.dtype == torch.bool else self.mask.double().exp())
        u = u.expand(*batch, self.n)
        return u / u.sum(-1, keepdim=True)

    def rows(self) -> list["Mem"]:
        """The problems one by one, without a mask: the prior is the one that the mask leaves."""
        batch = self.evidence.shape[:-1]
        templates = self.templates.expand(*batch, self.n, self.d).reshape(-1, self.n, self.d)
        prior = self.weighted_prior.reshape(-1, self.n)
        alpha = torch.as_tensor(self.alpha, dtype=torch.float64).expand(batch).reshape(-1)
        evidence = self.evidence.reshape(-1, self.d)
        return [
            Mem(t, z, u, float(a), None) for t, z, u, a in zip(templates, evidence, prior, alpha, strict=True)
        ]

    def to(self, dtype: torch.dtype) -> "Mem":
        """The same batch rounded to another dtype."""

        def move(x: Tensor | None) -> Tensor | None:
            return x.to(dtype) if x is not None and x.is_floating_point() else x

        templates, evidence = self.templates.to(dtype), self.evidence.to(dtype)
        return replace(self, templates=templates, evidence=evidence, prior=move(self.prior), mask=move(self.mask))


@st.composite
def mem_problems(
    draw: st.DrawFn,
    *,
    max_n: int = 6,
    max_d: int = 4,
    alphas: tuple[float, ...] = ALPHAS,
    scales: tuple[float, ...] = SCALES,
    priors: tuple[str, ...] = PRIORS,
    masks: tuple[str, ...] = MASKS,
) -> Mem:
    """Draw a batch of problems: one template, duplicates, a far origin, and evidence that the templates cannot reach."""
    n = draw(st.sampled_from((1, 2)) | st.integers(1, max_n))
    d = draw(st.integers(1, max_d))
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    shared, duplicated, many = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    scale, offset = draw(st.sampled_from(scales)), draw(st.sampled_from((0.0, 0.0, 10.0)))
    kind, mask = draw(st.sampled_from(priors)), draw(st.sampled_from(masks))
    alpha, reach = draw(st.sampled_from(alphas)), draw(st.sampled_from((1.0, 0.0, 0.1, 10.0)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    templates = scale * (rng.standard_normal((n, d) if shared else (*batch, n, d)) + offset)
    if duplicated and n > 1:
        templates[..., -1, :] = templates[..., 0, :]
    prior = None if kind == "uniform" else rng.dirichlet(np.ones(n), size=() if shared else batch)
    if prior is not None and kind == "zeros":
        prior = np.where(np.arange(n) == 0, prior + 0.1, prior * (rng.random(prior.shape) < 0.5))
        prior /= prior.sum(-1, keepdims=True)
    allowed = rng.random((*batch, n)) < 0.6
    allowed[..., 0] = True
    bias = {"float": np.zeros((*batch, n)), "bias": rng.standard_normal((*batch, n))}.get(mask)
    return Mem(
        templates=torch.tensor(templates),
        evidence=torch.tensor(reach * rng.standard_normal((*batch, d))),
        prior=None if prior is None else torch.tensor(prior),
        alpha=alpha * torch.tensor(rng.uniform(0.5, 1.0, batch)) if many else alpha,
        mask=None if mask == "none" else torch.tensor(allowed if bias is None else np.where(allowed, bias, -np.inf)),
    )


@dataclass(frozen=True)
class Exact:
    """The solution of one problem to more than 25 digits, as mpmath matrices: λ*, p*, ĥ*."""

    dual: mp.matrix
    weights: mp.matrix
    mean: mp.matrix


def exact(row: Mem, start: Tensor) -> Exact:
    """Solve one problem by Newton's method in 50 digits; what makes it right is the gradient at the end, not the start.

    Raises:
        ArithmeticError: if α‖∇D(λ)‖, which bounds the distance to λ*, is not below 1e−30 (1 + ‖λ‖) in the end.
    """
    with mp.workdps(DIGITS):
        assert row.prior is not None
        u = [mp.mpf(x) for x in row.prior.tolist()]
        total = mp.fsum(u)
        keep = [i for i in range(row.n) if u[i] > 0]
        u = [u[i] / total for i in keep]
        t = [mp.matrix(row.templates[i].tolist()) for i in keep]
        mu = _combine(u, t)
        b = mu + mp.matrix(row.evidence.tolist())
        alpha, lam = mp.mpf(row.alpha), mp.matrix(start.tolist())
        for _ in range(60):
            p = _tilt(lam, t, u)
            mean = _combine(p, t)
            gradient = b - lam / alpha - mean
            if alpha * mp.norm(gradient) <= mp.mpf(10) ** -30 * (1 + mp.norm(lam)):
                weights = mp.zeros(row.n, 1)
                for i, x in zip(keep, p, strict=True):
                    weights[i] = x
                return Exact(lam, weights, mean)
            hessian = mp.eye(row.d) / alpha
            for x, point in zip(p, t, strict=True):
                hessian += x * (point - mean) * (point - mean).T
            lam = lam + mp.lu_solve(hessian, gradient)
    raise ArithmeticError("Newton's method in 50 digits did not converge from this start")


def far(left: mp.matrix, right: Tensor, order: int = 2) -> float:
    """The distance of a vector from one in 50 digits, in the ℓ1 or ℓ2 norm."""
    with mp.workdps(DIGITS):
        return float(mp.norm(left - mp.matrix(right.detach().double().tolist()), order))


def _combine(p: list[mp.mpf], t: list[mp.matrix]) -> mp.matrix:
    total = mp.zeros(len(t[0]), 1)
    for x, point in zip(p, t, strict=True):
        total += x * point
    return total


def _tilt(lam: mp.matrix, t: list[mp.matrix], u: list[mp.mpf]) -> list[mp.mpf]:
    logits = [mp.log(x) + mp.fdot(point, lam) for x, point in zip(u, t, strict=True)]
    terms = [mp.exp(x - max(logits)) for x in logits]
    return [x / mp.fsum(terms) for x in terms]
