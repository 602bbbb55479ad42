"""Theorems that derivations quote without proof.

A step that relies on one of them names it as an object (`quotes=(WEIERSTRASS,)`), so that it is shown with the claim and
counted in the summary.  Anything that the calculus can prove is proved instead.
"""

from derivations.records.base import Record


class Theorem(Record, frozen=True):
    """A quoted theorem: its name, what it states, and where it is proved.

    Raises ValueError if one of them is empty or not a string.
    """

    name: str
    statement: str
    source: str

    def __post_init__(self) -> None:
        for field in ("name", "statement", "source"):
            value = getattr(self, field)
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"{field}: expected words, got {value!r}")


COMPLETENESS = Theorem(
    "completeness",
    "Where no number of one set exceeds a number of another, some number lies between the two sets.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 1.19",
)
HEINE_BOREL = Theorem(
    "Heine–Borel",
    "A subset of ℝⁿ is compact if and only if it is closed and bounded.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 2.41",
)
CLOSED_PREIMAGE = Theorem(
    "closed preimages",
    "The set where continuous functions satisfy finitely many weak inequalities and equations is closed.",
    "Rudin, Principles of Mathematical Analysis (1976), corollary of Theorem 4.8",
)
WEIERSTRASS = Theorem(
    "Weierstrass",
    "A continuous function on a nonempty compact set attains its minimum and its maximum.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 4.16",
)
BOLZANO_WEIERSTRASS = Theorem(
    "Bolzano–Weierstrass",
    "A sequence in a compact set has a limit point in it; if it has only one, it converges to it.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 3.6",
)
INTERMEDIATE_VALUE = Theorem(
    "intermediate values",
    "A continuous function on an interval takes every value between two of its values.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 4.23",
)
FERMAT = Theorem(
    "stationarity at an interior extremum",
    "The gradient of a function vanishes at an interior extremum where it exists.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 5.8",
)
MEAN_VALUE = Theorem(
    "monotonicity by the derivative",
    "A function with a derivative ≥ 0 on an interval does not fall there.",
    "Rudin, Principles of Mathematical Analysis (1976), Theorem 5.11",
)
SQUEEZE = Theorem(
    "squeeze",
    "A quantity between two others that converge to one limit converges to it.",
    "Rudin, Principles of Mathematical Analysis (1976), remark before Theorem 3.20",
)
DOMINATED_CONVERGENCE = Theorem(
    "dominated convergence",
    "A limit and an integral or a sum may be interchanged where an integrable bound dominates.",
    "Rudin, Real and Complex Analysis (1987), Theorem 1.34",
)
MOMENT_GENERATING_ANALYTIC = Theorem(
    "analyticity of the moment generating function",
    "Where a moment generating function is finite in a neighbourhood it is analytic, and its derivatives are moments.",
    "Billingsley, Probability and Measure (1995), section 21",
)
IMPLICIT_FUNCTION = Theorem(
    "implicit functions",
    "An analytic equation F(v, t) = 0 whose ∂F/∂v is invertible at a solution has one analytic solution v(t) near it.",
    "Krantz and Parks, The Implicit Function Theorem (2013), Theorem 2.3.1",
)
CONVEX_HESSIAN = Theorem(
    "convexity by the Hessian",
    "A function on an open convex set is convex if its Hessian is positive semidefinite there, strictly if definite.",
    "Rockafellar, Convex Analysis (1970), Theorem 4.5",
)
BAILLON_HADDAD = Theorem(
    "Baillon–Haddad",
    "A convex f on ℝⁿ whose gradient has the Lipschitz constant L has L⟨∇f(x) − ∇f(y), x − y⟩ ≥ ‖∇f(x) − ∇f(y)‖².",
    "Nesterov, Lectures on Convex Optimization (2018), Theorem 2.1.5",
)
CONVEX_CRITICAL_POINT = Theorem(
    "critical points of convex functions",
    "A differentiable convex function is least on an affine set where its gradient vanishes along the set.",
    "Rockafellar, Convex Analysis (1970), Theorem 27.4",
)
UNIQUE_SUBGRADIENT = Theorem(
    "differentiability of convex functions",
    "A convex function is differentiable where it is finite if and only if it has exactly one subgradient there.",
    "Rockafellar, Convex Analysis (1970), Theorem 25.1",
)
FENCHEL_MOREAU = Theorem(
    "Fenchel–Moreau",
    "A closed proper convex function is the conjugate of its conjugate.",
    "Rockafellar, Convex Analysis (1970), Theorem 12.2",
)
FENCHEL_DUALITY = Theorem(
    "Fenchel duality",
    "Under a constraint qualification a convex problem and its dual have one value, and the dual attains it.",
    "Rockafellar, Convex Analysis (1970), Theorem 31.1",
)
SLATER = Theorem(
    "Slater",
    "A convex problem with a strictly feasible point has no duality gap, and a finite dual value is attained.",
    "Boyd and Vandenberghe, Convex Optimization (2004), section 5.2.3",
)
LINEAR_PROGRAMMING = Theorem(
    "fundamental theorem of linear programming",
    "A linear program with an optimum, over a set with an extreme point, has an optimum at an extreme point.",
    "Bertsimas and Tsitsiklis, Introduction to Linear Optimization (1997), Theorem 2.8",
)
KANTOROVICH_RUBINSTEIN = Theorem(
    "Kantorovich–Rubinstein",
    "W₁(p, q) is the supremum of E_p f − E_q f over the functions f with Lipschitz constant 1.",
    "Villani, Optimal Transport: Old and New (2009), Remark 6.5",
)
DANSKIN = Theorem(
    "envelope theorem",
    "Over a fixed compact set the value is differentiable where all maximizers have one partial derivative, which it is.",
    "Milgrom and Segal, Envelope theorems for arbitrary choice sets, Econometrica 70 (2002), Corollary 4",
)
SINKHORN = Theorem(
    "convergence of Sinkhorn's iteration",
    "Rescaling rows and columns of a positive matrix in turn converges to its one scaling with given positive marginals.",
    "Sinkhorn, Diagonal equivalence to matrices with prescribed row and column sums, Amer. Math. Monthly 74 (1967)",
)
