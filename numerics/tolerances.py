"""Every tolerance of the numerical layers, each with its reason.

A tolerance is derived from the precision of a dtype, the size of a sum, the magnitude of the data (the conditioning)
and the gap that a solver left. None is fitted to a result. Nothing here needs torch: a dtype is named by a string, or
is anything whose ``str`` names it (``torch.float32``, ``numpy.dtype("float32")``).

Notation    u = eps(dtype), the distance from 1 to the next number: every operation is off by at most u/2, relatively;
            a sum of m terms by at most m u/2 times the sum of their magnitudes.
"""

import math

_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "tf32": 2.0**-10, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_SMALLEST = {"float64": 2.0**-1022, "float32": 2.0**-126, "tf32": 2.0**-126, "float16": 2.0**-24, "bfloat16": 2.0**-126}
_SHORT = ("tf32", "float16", "bfloat16")

SOLVER = 1e-12
"""The conic solver's tolerance for its gap and its feasibility: the tightest it reaches on small problems."""

SOLVER_GAP = 1e-10
"""The largest duality gap, in units of the temperature (see ``plan_from_gap``), with which a solve is certified.

A hundred times the tolerance given to the solver. Solvers that stop early, as some do with status "optimal", leave 1e-5.
"""

DUAL_ASKED = 1e-12
"""The deviation study's tolerance for the exact solution λ*, relative to 1 + ‖λ*‖: the solver's tightest, so that small shifts
are found to as many digits as large ones."""

DUAL_CERTIFIED = 1e-9
"""The bound on ‖λ − λ*‖/(1 + ‖λ‖) with which a row of the study counts as solved: the solver's default."""


def eps(dtype: object) -> float:
    """Return the distance from 1 to the next larger number of a floating dtype.

    Args:
        dtype: float64, float32, float16 or bfloat16, as a string or as an object whose ``str`` ends in that name; or "tf32",
            to which a GPU may round the factors of a float32 matrix product.

    Raises:
        ValueError: for another dtype.
    """
    return _EPS[_name(dtype)]


def rounding(dtype: object, size: int, scale: float = 1.0) -> float:
    """Return the absolute error of a sum of ``size`` products whose magnitudes add up to ``scale``.

    Each product goes through a handful of operations (eight are allowed for) and ``size`` additions. Half precision
    is computed in float32, so it pays its own precision only once, when the result is stored (tf32: when the factors are
    read); what is smaller than the smallest number of the dtype is lost altogether.

    Raises:
        ValueError: if ``size`` is below 1, ``scale`` is negative or NaN, or the dtype is not known.
    """
    if size < 1:
        raise ValueError(f"size: expected an integer ≥ 1, got {size!r}")
    if not scale >= 0:
        raise ValueError(f"scale: expected a number ≥ 0, got {scale!r}")
    name = _name(dtype)
    stored = _EPS[name] if name in _SHORT else 0.0
    computed = _EPS["float32"] if stored else _EPS[name]
    return (stored + (size + 8) * computed) * scale + _SMALLEST[name]


def plan(dtype: object, size: int, logit: float = 0.0) -> float:
    """Return the absolute error of one weight p_j of a softmax over ``size`` scores.

    Taking off the peak and dividing by τ leaves a logit x_j ≤ 0 with a relative error u, hence e^{x_j} with a relative
    error |x_j| u. Weighted by p_j that is at most u/e in its own numerator, and at most u Σ_l p_l |x_l| ≤ u log m in
    the denominator: the spread of the scores does not enter.

    Args:
        dtype: of the weights.
        size: m.
        logit: the largest |s/τ| or |mask|, if one of the two sides rounds these themselves (it divides the scores
            before it takes off the peak, or adds a floating mask): each is then off by u |logit|.

    Raises:
        ValueError: as for ``rounding``.
    """
    _check("logit", logit, positive=False)
    computed = _EPS["float64" if _name(dtype) == "float64" else "float32"]
    return rounding(dtype, size, 1.0) + computed * (1.0 + math.log(size) + logit)


def score_gradient(dtype: object, size: int, utility: float, temperature: float, plan_error: float = 0.0) -> float:
    """Return the absolute error of −(p_j/τ)(u_j − E_p[u]).

    The mean is a sum of ``size`` products with magnitudes at most ``utility`` = max |u|; the advantage is at most
    twice that, and so an error e of each weight costs (2 + m) e max |u|, all of it divided by τ.

    Args:
        dtype: of the gradient.
        size: m.
        utility: the largest |u_j|.
        temperature: τ.
        plan_error: the error of each weight, if the two sides do not start from the same plan.

    Raises:
        ValueError: if an argument is negative or not finite, τ is not positive, or as for ``rounding``.
    """
    _check("utility", utility, positive=False)
    _check("temperature", temperature, positive=True)
    _check("plan_error", plan_error, positive=False)
    return rounding(dtype, size, 2.0 * utility / temperature) + (2 + size) * plan_error * utility / temperature


def stored_score_gradient(
    dtype: object, size: int, utility: float, temperature: float, sensitivity: float, plan_error: float
) -> float:
    """Return the absolute error of −(p_j/τ)(u_j − E_p[u]) that is computed in float32 and stored in a shorter dtype.

    Rounding moves the stored weights, and the stored gradient, in proportion to themselves: by p_j|u_j − E_p[u]| twice, and
    by p_j E_p|u| in the mean, all of it divided by τ.

    Args:
        dtype: in which the plan and the gradient are stored.
        size: m.
        utility: the largest |u_j|.
        temperature: τ.
        sensitivity: the largest p_j (2|u_j − E_p[u]| + E_p|u|).
        plan_error: the error of each weight in float32.

    Raises:
        ValueError: as for ``score_gradient``.
    """
    _check("sensitivity", sensitivity, positive=False)
    computed = score_gradient("float32", size, utility, temperature, plan_error)
    return computed + rounding(dtype, size, sensitivity / temperature)


def plan_from_gap(gap: float, temperature: float) -> float:
    """Return how far, in the ℓ1 norm, a plan with a duality gap may be from the optimal one.

    J(q) − J(p*) = τ KL(q ‖ p*) for every q in the simplex: J is linear plus τ Σ q log q, and the slope of J at p* is
    constant. Pinsker's inequality ‖q − p*‖₁² ≤ 2 KL(q ‖ p*) then gives √(2 gap/τ).

    Raises:
        ValueError: if ``gap`` is negative or NaN, or ``temperature`` is not positive and finite.
    """
    if not gap >= 0:
        raise ValueError(f"gap: expected a number ≥ 0, got {gap!r}")
    _check("temperature", temperature, positive=True)
    return math.sqrt(2.0 * gap / temperature)


def plan_from_strong_convexity(gap: float, modulus: float) -> float:
    """Return how far, in the ℓ2 norm, a plan with a duality gap may be from the optimal one.

    An objective J that is strongly convex with a modulus κ grows by at least κ‖q − p*‖₂²/2 away from its minimum over a
    convex set, where its slope does not point into the set downwards. Hence ‖q − p*‖₂ ≤ √(2 gap/κ).

    Args:
        gap: a bound on J(q) − J(p*).
        modulus: κ, a lower bound on the curvature of J.

    Raises:
        ValueError: if ``gap`` is negative or NaN, or ``modulus`` is not positive and finite.
    """
    if not gap >= 0:
        raise ValueError(f"gap: expected a number ≥ 0, got {gap!r}")
    _check("modulus", modulus, positive=True)
    return math.sqrt(2.0 * gap / modulus)


def of_difference(relative: float, share: float) -> float:
    """Return the relative error of a difference of two terms, each off by ``relative`` of itself.

    The errors add up to twice ``relative`` of the terms, and the difference is only ``share`` times as large as they are.

    Raises:
        ValueError: if ``relative`` is negative or not finite, or ``share`` is not in (0, 1].
    """
    _check("relative", relative, positive=False)
    if not 0 < share <= 1:
        raise ValueError(f"share: expected a number > 0 and ≤ 1, got {share!r}")
    return 2.0 * relative / share


def marginals(dtype: object, size: int, exponent: float) -> float:
    """Return the error of the marginals of a converged entropic plan of mass one, in ℓ1 and in proportion to the masses.

    P_ij = a_i b_j exp(φ_i + ψ_j + L_ij), where each of the three exponents is rounded by u of its size: that moves a marginal
    by 3u times the largest, besides the rounding of a softmax. A residual no larger than that is zero for the solver. Rows
    and columns have it each, so twice of it may be left.

    Args:
        dtype: of the plan.
        size: n + m.
        exponent: the largest |φ|, |ψ| and |L|.

    Raises:
        ValueError: if ``exponent`` is negative or not finite, or as for ``rounding``.
    """
    _check("exponent", exponent, positive=False)
    return 2.0 * plan(dtype, size, 3.0 * exponent)


def storage(dtype: object) -> tuple[float, float]:
    """Return how far a number that is computed in float64 moves when it is stored: relatively, and below the normal numbers.

    Both are zero for float64. A number moves by half of the distance to its neighbour; so does a sum of them, in proportion.

    Raises:
        ValueError: for another dtype than ``eps`` knows.
    """
    name = _name(dtype)
    return (0.0, 0.0) if name == "float64" else (_EPS[name] / 2, _SMALLEST[name] / 2)


def plan_from_marginals(error: float, potential: float) -> float:
    """Return how far, in ℓ1, two plans of Sinkhorn's form and mass one may be whose marginals differ by ``error``.

    If log P − log Q = φ_i + ψ_j then KL(P ‖ Q) + KL(Q ‖ P) = Σ (P − Q)(φ_i + ψ_j) ≤ (max |φ| + max |ψ|) error, and by Pinsker's
    inequality the left side is at least ‖P − Q‖₁², but for masses that are off one by ``error``.

    Args:
        error: the ℓ1 distance of the marginals, rows and columns together.
        potential: max |φ| + max |ψ|.

    Raises:
        ValueError: if an argument is negative or not finite.
    """
    _check("error", error, positive=False)
    _check("potential", potential, positive=False)
    return math.sqrt(potential * error * (1.0 + error))


def plan_from_residual(error: float, gap: float) -> float:
    """Return how far, in ℓ1 and to first order, a plan moves if its marginals a, b do, by ``error`` in proportion to them.

    Let σ < 1 be the second singular value of P_ij/√(a_i b_j). A change r of b (of a likewise) moves the potentials so that
    Σ_ij P_ij (dφ_i + dψ_j)² ≤ Σ_j (r_j²/b_j)/(1 − σ²), and ‖dP‖₁ is at most the root of the left side.

    Args:
        error: √(Σ_j r_j²/b_j), which is at most the largest |r_j|/b_j, and what the rows are off besides.
        gap: 1 − σ², at most 1.

    Raises:
        ValueError: if ``error`` is negative or not finite, or ``gap`` is not between 0 and 1.
    """
    _check("error", error, positive=False)
    if not 0 < gap <= 1:
        raise ValueError(f"gap: expected a number in (0, 1], got {gap!r}")
    return error * (1.0 + 1.0 / math.sqrt(gap))


def relaxed_plan(ratio: float, reach: float) -> float:
    """Return how far, in ℓ1, the plan with a relaxed target may be from the one that asks for the source alone.

    With ratio = ρ/ε the column potentials are ψ_j = −(ρ/ε) log(c_j/b_j), c what arrives, and a softmax whose logits all
    change by at most δ moves by 2δ.

    Args:
        ratio: ρ/ε.
        reach: a bound on |log(c_j/b_j)|.

    Raises:
        ValueError: if an argument is negative or not finite.
    """
    _check("ratio", ratio, positive=False)
    _check("reach", reach, positive=False)
    return 2.0 * ratio * reach


def _name(dtype: object) -> str:
    name = str(dtype).rpartition(".")[2]
    if name not in _EPS:
        raise ValueError(f"dtype: expected one of {', '.join(_EPS)}, got {dtype!r}")
    return name


def _check(name: str, value: float, *, positive: bool) -> None:
    if not (0 < value < math.inf or (value == 0 and not positive)):
        raise ValueError(f"{name}: expected a finite number {'> 0' if positive else '≥ 0'}, got {value!r}")
