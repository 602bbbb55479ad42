"""Appendix B, last part: the parameter of greatest posterior density.

Claims     deciphering.sB.argmin              one p_θ minimizes (30), and it has the greatest posterior density
           deciphering.sB.argmin-rearranged   argmin of (30) = argmin ‖b − h_θ‖²/(2ησ²) + K(p_θ, u)  (corrected)
           deciphering.sB.alpha-map           1/α = ησ²  ⟹  (31) = (4)
Notation   that of `appendix_b_perspectives`
References Appendix B of the document, from "Finding θ* that maximizes the posterior"
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.appendix_b_perspectives import (
    alpha_from_likelihood,
    eta,
    penalized,
    posterior_ratio,
    sigma,
)
from derivations.documents.deciphering.notation import T, a, d, lam, mean, n, tilt, u
from derivations.documents.deciphering.section4_problem import information
from derivations.vocabulary import *

HALF = Fraction(1, 2)


def fitted(e: sp.Expr) -> sp.Expr:
    """The μ + z that lies ησ²λ off the mean of tilt(λ)."""
    return eta * sigma**2 * lam[e] + mean(tilt(lam))(e)


def best(objective: Entry, candidate: Entry, factor: sp.Expr) -> UniqueMinimum:
    """The candidate alone minimizes the objective over all weights, for the μ + z of `fitted`."""

    def excess(of: Entry) -> sp.Expr:
        return factor / (2 * eta * sigma**2) * total(a, (mean(of)(a) - mean(tilt(lam))(a)) ** 2)

    return UniqueMinimum(objective, candidate, n, factor, slack=excess, reason="λ = (μ + z − ĥ)/(ησ²)")


def off_target(of: Entry) -> sp.Expr:
    """‖(μ + z) − h‖²."""
    return total(a, (fitted(a) - mean(of)(a)) ** 2)


def first_line(of: Entry) -> sp.Expr:
    """‖(μ + z) − h‖²/(2σ²) + η KL."""
    return off_target(of) / (2 * sigma**2) + eta * information(of)


def second_line(of: Entry) -> sp.Expr:
    """‖(μ + z) − h‖²/(2ησ²) + KL, with the square."""
    return off_target(of) / (2 * eta * sigma**2) + information(of)


def second_line_as_printed(of: Entry) -> sp.Expr:
    """‖(μ + z) − h‖/(2ησ²) + KL."""
    return sp.sqrt(off_target(of)) / (2 * eta * sigma**2) + information(of)


@claim(
    "deciphering.sB.argmin",
    "optimality",
    title="The greatest posterior density",
    needs=("deciphering.sB.posterior",),
    latex=r"p_\theta^*=\operatorname{argmin}_{p_\theta}\{\tfrac1{2\sigma^2}\|(\mu+z)-h_\theta\|^2"
    r"+\eta\mathcal K(p_\theta,u_\vartheta)\}",
    hypotheses=("u has finite support", "the p_θ are all distributions on it"),
)
def greatest_posterior() -> Steps:
    """The parameter of greatest posterior density is that of the p_θ with the least (30), and there is one such p_θ."""
    yield posterior_ratio(lambda of: penalized(of))
    yield best(first_line, tilt(lam), eta)


greatest_posterior.twin("u", lambda: best(first_line, u, eta))
greatest_posterior.twin("tilted by −λ", lambda: best(first_line, tilt(lambda e: -lam[e]), eta))


@claim(
    "deciphering.sB.argmin-rearranged",
    "equivalence",
    title="The argmin's second line",
    needs=("deciphering.sB.argmin",),
    latex=r"=\operatorname{argmin}_{p_\theta}\{\tfrac1{2\eta\sigma^2}\|(\mu+z)-h_\theta\|"
    r"+\mathcal K(p_\theta,u_\vartheta)\}",
    hypotheses=("u has finite support", "the p_θ are all distributions on it"),
)
def rearranged_as_printed() -> Steps:
    """Divided by η, the minimization is printed with the norm of the residual in place of its square."""
    yield Fails(
        UniqueMinimum(
            second_line_as_printed,
            tilt(lam),
            n,
            sp.S.One,
            at={n: 2, d: 1, eta: 1, sigma: 1, T.label: [[1], [-1]], lam.label: [1], u.label: [HALF, HALF]},
        ),
        reason="what minimizes the first line, deciphering.sB.argmin, does not minimize the second",
    )


@rearranged_as_printed.corrected(
    r"=\operatorname{argmin}_{p_\theta}\{\tfrac1{2\eta\sigma^2}\|(\mu+z)-h_\theta\|^2+\mathcal K(p_\theta,u_\vartheta)\}",
    Severity.SLIP,
    replaces="the norm without its square",
)
def rearranged_with_square() -> Steps:
    """With the square, the second line has the minimizer of the first."""
    yield best(second_line, tilt(lam), sp.S.One)


rearranged_as_printed.twin("u", lambda: best(second_line, u, sp.S.One))
rearranged_as_printed.twin("tilted by λ/2", lambda: best(second_line, tilt(lambda e: lam[e] / 2), sp.S.One))

reprint(
    "deciphering.sB.alpha-map",
    alpha_from_likelihood,
    latex=r"\alpha^{-1}=\eta\sigma^2\implies\tfrac1\eta\left("
    r"\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2+\eta\mathcal K(p,u)\right)"
    r"=\tfrac\alpha2\|(\mu+z)-h\|^2+\mathcal K(p,u)",
)
