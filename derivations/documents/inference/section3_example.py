"""Section 3: the motivating example, a Gaussian prior.

Claims     inference.3                 max_λ ⟨b, λ⟩ − ‖λ‖²/(2α) − log M(λ) = the least value of (1)
           inference.s3.mgf            E_u exp⟨W, λ⟩ = exp(⟨μ, λ⟩ + ½‖λ‖²)
           inference.s3.dual-point     λ* = α/(1 + α) (b − μ)
           inference.s3.minimizer      p* = N((μ + αb)/(1 + α), I)
           inference.s3.perspectives   P(p̃) ≤ P(q) and ‖r(q)‖ ≤ ‖r(p̃)‖  ⟹  K(p̃, u) ≤ K(q, u)
Notation   that of `deciphering.section5_gaussian` and `section4_problem`, which derive what both documents print
References Section 3 of the document
"""

from derivations.documents.deciphering import section4_mem as mem
from derivations.documents.deciphering import section4_problem as problem
from derivations.documents.deciphering import section5_gaussian as gaussian
from derivations.vocabulary import *


@claim(
    "inference.1",
    "definition",
    title="The problem with a Gaussian prior",
    hypotheses=("u = N(μ, I)", "α > 0"),
    latex=r"p^*=\arg\min_p\tfrac\alpha2\left\|b-\int ap(a)da\right\|^2+\mathcal K(p,u)",
    needs=("inference.s3.kl",),
)
def gaussian_problem() -> Steps:
    """The unknown p is guessed by the minimizer of α/2 times a squared distance plus a divergence; there is exactly one."""
    yield from gaussian.reduction()
    yield gaussian.optimum()


@claim(
    "inference.s3.kl",
    "definition",
    title="Which divergence K(p, u) is",
    hypotheses=("0 log 0 = 0",),
    latex=r"\mathcal K(p,u)=\textstyle\sum_ip_i\log\frac{p_i}{u_i}",
)
def divergence() -> Steps:
    """K(p, u) is the KL divergence between p and u: with p first, as the form of the minimizer shows."""
    yield problem.orders_differ()
    yield problem.p_over_u()


for name, wrong in problem.divergence.twins.items():
    divergence.twin(name, wrong)


@claim(
    "inference.s3.perspectives",
    "equivalence",
    title="Maximum likelihood or maximum entropy gives the problem",
    latex=r"P(\tilde p)\le P(q),\ \|r(q)\|\le\|r(\tilde p)\|\implies\mathcal K(\tilde p,u)\le\mathcal K(q,u)",
    needs=("inference.s3.kl",),
)
def two_perspectives() -> Steps:
    """Maximum likelihood leads to such a problem, and so does maximum entropy on the mean, for the ball that fits α."""
    yield mem.by_likelihood()
    yield mem.maximum_entropy()


for name, wrong in mem.perspectives.twins.items():
    two_perspectives.twin(name, wrong)

reprint(
    "inference.2",
    gaussian.tilted,
    latex=r"p^*(a)=\frac{u(a)\exp\langle a,\lambda^*\rangle}{\int u(a')\exp\langle a',\lambda^*\rangle da'}",
)
reprint(
    "inference.3",
    gaussian.dual_problem,
    latex=r"\lambda^*=\arg\max_\lambda\langle b,\lambda\rangle-\tfrac1{2\alpha}\|\lambda\|^2"
    r"-\log\int u(a)\exp\langle a,\lambda\rangle da",
)
reprint(
    "inference.s3.mgf",
    gaussian.generating_function,
    latex=r"\int u(a)\exp\langle a,\lambda\rangle da=\exp(\langle\mu,\lambda\rangle+\tfrac12\|\lambda\|^2)",
)
reprint("inference.s3.dual-point", gaussian.dual_point, latex=r"\lambda^*=\tfrac\alpha{\alpha+1}(b-\mu)")
reprint(
    "inference.s3.proportional",
    gaussian.proportional,
    latex=r"p^*(a)\propto\exp(-\tfrac12\|a-\mu\|^2+\langle a,\lambda^*\rangle)"
    r"\propto\exp(-\tfrac12\|a-(\mu+\lambda^*)\|^2)",
)
reprint("inference.s3.minimizer", gaussian.minimizer, latex=r"p^*=\mathcal N(\tfrac1{1+\alpha}\mu+\tfrac\alpha{1+\alpha}b,I_d)")
reprint("inference.s3.estimate", gaussian.gaussian_estimate, latex=r"\tfrac1{1+\alpha}\mu+\tfrac\alpha{1+\alpha}b")
