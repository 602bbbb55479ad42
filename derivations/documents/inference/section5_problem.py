"""Section 5: the optimization problem, and the perspectives from which it can be derived.

Claims     inference.s5.minimizer          P has exactly one minimizer, for every z
           inference.s5.kl-finite          K(p, u) < ∞  ⟺  p = 0 outside supp u  (corrected)
           inference.s5.log-likelihood     log f(z) = −‖μ + z − h‖²/(2σ²) − (d/2) log(2πσ²)  (corrected)
           inference.s5.alpha-likelihood   1/α = ησ²  ⟹  (9) = (6)
           inference.11                    some ‖r(p)‖² < 1/(2α)  ⟹  p̃ = tilt(κr(p̃)), κ ≥ 0, κ(‖r(p̃)‖² − 1/(2α)) = 0
           inference.s5.mem-minimizes      argmin of (6) = argmin {K(p, u) : ‖r(p)‖ ≤ ‖λ*‖/α}  (corrected)
Notation   that of `deciphering.section4_problem` and its neighbours; v a u on two points, and t the odds of
           p = (1, t)/(1 + t)
References Section 5 of the document
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering import appendix_b_perspectives as perspectives
from derivations.documents.deciphering import section4_mem as mem
from derivations.documents.deciphering import section4_problem as deciphering
from derivations.documents.deciphering.notation import primal, shifted
from derivations.documents.inference.section3_example import divergence, two_perspectives
from derivations.vocabulary import *

v = interior("v", sp.Integer(2))
t = positive("t")

reprint("inference.6", deciphering.problem, latex=r"\min_p\tfrac\alpha2\|(\mu+z)-\int ap(a)da\|^2+\mathcal K(p,u)")
reprint(
    "inference.s5.kl",
    divergence,
    title="K(p, u) is called the divergence from p to u",
    latex=r"\mathcal K(p,u)=\textstyle\sum_ip_i\log\frac{p_i}{u_i}",
    statement="K(p, u) is the KL divergence from p to u, weighed by p; “from … to” is in use for both orders.",
)


def vanishing() -> sp.Expr:
    """KL(p ‖ u) for two points, with p = (1, t)/(1 + t)."""
    p = 1 / (1 + t), t / (1 + t)
    return sp.Add(*[xlogx(p[e]) - p[e] * sp.log(v[e + 1]) for e in range(2)])


@claim(
    "inference.s5.kl-finite",
    "equivalence",
    title="When K(p, u) is finite",
    needs=("inference.s5.kl",),
    latex=r"\mathcal K(p,u)<\infty\iff p\ne0\text{ on }\operatorname{supp}u",
    hypotheses=("u has finite support",),
)
def finite_divergence() -> Steps:
    """K(p, u) is said to be finite exactly when p has non-zero values on the support of u."""
    yield Limit(vanishing(), t, sp.S.Zero, -sp.log(v[1]), reason="p = (1, 0) is 0 on part of the support, at no great cost")
    yield Fails(
        Limit(vanishing(), t, sp.S.Zero, sp.oo, at={v.label: [Fraction(1, 2), Fraction(1, 2)]}),
        reason="what is said here holds of KL(u ‖ p); the later version of the document has it right",
    )


finite_divergence.corrected(
    r"\mathcal K(p,u)<\infty\iff p=0\text{ outside }\operatorname{supp}u",
    Severity.SLIP,
    replaces="where p must not vanish, by where it has to",
)(deciphering.finite_for_finite_support)
for name, wrong in deciphering.finite_divergence.twins.items():
    finite_divergence.twin(name, wrong)

reprint("inference.s5.both-requirements", deciphering.both_requirements, latex=r"u=\arg\min_p\mathcal K(p,u)")
reprint("inference.s5.minimizer", deciphering.one_minimizer, latex=r"\tilde p=\arg\min_pP(p)")
reprint("inference.7", deciphering.estimate, latex=r"\hat h=\int a\tilde p(a)da")


def maximizes_the_posterior() -> Steps:
    """There is such a perspective, as the later version shows: the θ of the greatest posterior density has the least (6)."""
    yield perspectives.posterior_ratio(
        lambda of: perspectives.eta * primal(of, shifted, 1 / (perspectives.eta * perspectives.sigma**2))
    )


AFTER_SECTION_8 = ("References", "Checklist")
"""The headings that the document prints after its eight sections."""


@claim(
    "inference.fn3",
    "equivalence",
    title="There is also a Bayesian perspective, discussed in Appendix A",
    latex=r"\text{Appendix A}:\ \log\frac{f(\theta'|\mu+z,\vartheta)}{f(\theta|\mu+z,\vartheta)}"
    r"=\eta\,(P(p_\theta)-P(p_{\theta'}))",
    needs=("deciphering.sB.posterior", "inference.6"),
    hypotheses=("α⁻¹ = ησ²", "the density is that of θ"),
)
def bayesian_perspective() -> Steps:
    """A Bayesian perspective is announced from which the problem can be derived, with its derivation in an Appendix A."""
    appendices = sum(heading.startswith("Appendix") for heading in AFTER_SECTION_8)
    yield Fails(
        Equation(sp.Integer(appendices), sp.S.One),
        reason="no appendix follows: the document ends with its references and a checklist",
    )


bayesian_perspective.corrected(
    r"\log\frac{f(\theta'|\mu+z,\vartheta)}{f(\theta|\mu+z,\vartheta)}"
    r"=\eta\,(P(p_\theta)-P(p_{\theta'}))",
    Severity.WORDING,
    replaces="the reference to Appendix A, by what it would have to show",
)(maximizes_the_posterior)
for name, wrong in perspectives.maximum_a_posteriori.twins.items():
    bayesian_perspective.twin(name, wrong)

reprint("inference.s5.gaussian-difference", perspectives.gaussian_difference, latex=r"(\mu+z)-h\sim\mathcal N(0,\sigma^2I)")
reprint(
    "inference.s5.log-likelihood",
    perspectives.proportional_log_likelihood,
    latex=r"\ell(z)\propto-\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2",
)
reprint(
    "inference.8",
    perspectives.regularized_likelihood,
    latex=r"\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2+\eta\mathcal K(p,u)",
    statement="To maximize the log likelihood less η times the divergence is to minimize (8).",
)
reprint(
    "inference.9",
    perspectives.divided_by_eta,
    statement="With the mean of p for h, and divided by η, (8) becomes (9), which has the same minimizers.",
    latex=r"\min_p\tfrac1{2\eta\sigma^2}\|(\mu+z)-\int ap(a)da\|^2+\mathcal K(p,u)",
)
reprint(
    "inference.s5.alpha-likelihood",
    perspectives.alpha_from_likelihood,
    latex=r"\alpha^{-1}=\eta\sigma^2\implies"
    r"\tfrac1\eta\left(\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2+\eta\mathcal K(p,u)\right)"
    r"=\tfrac\alpha2\|(\mu+z)-h\|^2+\mathcal K(p,u)",
    title="(9) is (6) for α⁻¹ = ησ²",
    statement="With the reciprocal of ησ² for α, (9) and (6) are one problem.",
)
reprint("inference.10", mem.constraint, latex=r"\left\|(\mu+z)-\int ap(a)da\right\|^2\le\frac1{2\alpha}")
reprint(
    "inference.s5.perspectives",
    two_perspectives,
    title="Two perspectives lead to the problem",
    latex=r"P(\tilde p)\le P(q),\ \|r(q)\|\le\|r(\tilde p)\|\implies\mathcal K(\tilde p,u)\le\mathcal K(q,u)",
    statement="Maximum likelihood leads to (6), and so does maximum entropy on the mean, for the ball that fits α.",
)
reprint(
    "inference.s5.infinitely-many", mem.infinitely_many, latex=r"\#\{p:\|(\mu+z)-\int ap(a)da\|^2\le\tfrac1{2\alpha}\}=\infty"
)
reprint(
    "inference.11",
    mem.constrained,
    latex=r"\tilde p=\arg\min_p\mathcal K(p,u)\ \text{s.t.}\ \|(\mu+z)-\int ap(a)da\|^2\le\tfrac1{2\alpha}",
)
reprint(
    "inference.s5.mem-minimizes",
    mem.same_minimizer,
    latex=r"\arg\min\{\mathcal K(p,u):\|r(p)\|^2\le\tfrac1{2\alpha}\}=\arg\min\tfrac\alpha2\|r(p)\|^2+\mathcal K(p,u)",
    statement="The problem with the squared radius 1/(2α) is said to have the solution of (6); for small α it returns u.",
    part_of="inference.s5.perspectives",
)
