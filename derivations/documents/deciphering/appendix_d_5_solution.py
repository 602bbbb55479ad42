"""Appendix D, last part: the closed form (47), and that it is (25).

Claims     deciphering.47              p*(t) = (47) − (α/γ)² Σ_t' u(t')q_t'(t)⟨t − μ_t', Σ̄z⟩ + O(α³)  (corrected)
           deciphering.sD.same-as-25   (47) = (25) for symmetric M
Notation   Y_t = ⟨t, z⟩, W_t = ⟨t, w⟩ with λ* = αz + α²w + o(α²), so w = −Σ̄z/γ (deciphering.sD.linear); Q the kernel of M
References the end of Appendix D of the document
"""

import sympy as sp

from derivations.documents.deciphering.appendix_d_1_dual import printed_slope
from derivations.documents.deciphering.notation import alpha, d, z
from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    SMALL,
    M,
    N,
    T,
    as_printed,
    dual_slope,
    first_order,
    from_kernel,
    gamma,
    gibbs,
    i,
    j,
    kernel,
    l,
    linear_dual,
    scores,
    symmetric,
    u,
    weights,
)
from derivations.vocabulary import *


def closed_form(potentials: Entry) -> Entry:
    """(47), for symmetric M, with the scores ⟨t, λ⟩ it is given."""
    return printed_slope(symmetric, symmetric, potentials)


@claim(
    "deciphering.47",
    "asymptotic",
    title="The closed form of the solution",
    hypotheses=(FOOTNOTE, SMALL),
    needs=("deciphering.38", "deciphering.sD.linear"),
    latex=r"p^*(t)=\sum_{t'}\frac{u(t')e^{\gamma^{-1}(\alpha t^\top z-M(t,t'))}}"
    r"{\sum_{t''}e^{\gamma^{-1}(\alpha(t'')^\top z-M(t',t''))}}",
)
def closed_form_is_the_solution() -> Steps:
    """The solution is printed as equal to (38) with αz in place of λ*."""
    yield dual_slope(M)
    yield linear_dual()
    yield as_printed()


@closed_form_is_the_solution.corrected(
    r"p^*(t)=(47)-\tfrac{\alpha^2}{\gamma^2}\sum_{t'}u(t')q_{t'}(t)\langle t-\mu_{t'},\bar\Sigma z\rangle+\mathcal O(\alpha^3)",
    Severity.SLIP,
)
def closed_form_to_first_order() -> Steps:
    """The solution differs from the closed form by a term of order (α/γ)², the effect of w = −Σ̄z/γ."""
    yield linear_dual()
    yield other_form(weights(gibbs(first_order)))
    yield from_kernel(sp.S.One)


closed_form_is_the_solution.twin("twice the second-order term", lambda: from_kernel(sp.Integer(2)))
closed_form_is_the_solution.twin("the second-order term's sign", lambda: from_kernel(-sp.S.One))


def other_form(right: Entry) -> Equation:
    """(47) against another form."""
    return Equation(closed_form(scores(first_order))(i), right(i), reason="M(t', t'') = M(t'', t')")


def own_normalizer(template: sp.Expr) -> sp.Expr:
    """The closed form with Z of t in place of Z of t'."""

    def share(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp((scores(first_order)(to) - symmetric(to, of)) / gamma)

    return total(l, u[l] * share(template, l) / total(j, share(j, template)))


@claim(
    "deciphering.sD.same-as-25",
    "identity",
    title="(47) is (25)",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.25", "deciphering.47"),
    latex=r"\sum_{t'}\frac{u(t')e^{(\alpha t^\top z-M(t,t'))/\gamma}}{"
    r"\sum_{t''}e^{(\alpha(t'')^\top z-M(t',t''))/\gamma}}"
    r"=\sum_{t'}\frac{u(t')e^{(\alpha t^\top z-M(t,t'))/\gamma}}{\sum_{t''}e^{(\alpha(t'')^\top z-M(t'',t'))/\gamma}}",
)
def same_closed_form() -> Steps:
    """The two closed forms, normalized through M's second and first argument, are the same for symmetric M."""
    uneven: dict[Variable, Value] = {
        N: 2,
        d: 1,
        u.label: [1, 0],
        M.label: [[0, 0], [1, 0]],
        T.label: [[0], [0]],
        z.label: [0],
        alpha: 1,
        gamma: 1,
        i: 1,
    }
    yield Fails(
        Equation(printed_slope(M, M, scores(first_order))(i), weights(kernel(first_order, M))(i), at=uneven),
        reason="the symmetry of footnote 11 is needed; (25) is right for every M",
    )
    yield other_form(weights(gibbs(first_order)))


same_closed_form.twin("the exponent's sign", lambda: other_form(weights(kernel(lambda x: -alpha * z[x], symmetric))))
same_closed_form.twin("normalized over the own template", lambda: other_form(own_normalizer))
