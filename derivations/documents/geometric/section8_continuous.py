"""Additions: continuous attention, on which the document's first reference rests.

The document's S may be infinite, and then its sums are integrals.  With quadratic scores f(t) = θ₁t − bt² the problem (3) has
two solutions in closed form: a Gaussian for −Ω = entropy, a truncated parabola for Ω(p) = ½∫(p² − p).  Integrals on the line
are SymPy's.  What is said of densities is proved where it is true, at every point t: integrate over t.

Claims     geometric.s8.gaussian                ∫ q f + H(q) = A − KL(q ‖ N(μ, σ²)) for every density q
           geometric.s8.gradient                ∂E_p[ψ]/∂θ = cov_p(ψ, φ)
           geometric.s8.sparsemax               ∫ q f − ½∫ q² ≤ λ + ½∫ p² for every q, with p = (f − λ)₊ of mass 1
           geometric.s8.paraboloid-covariance   cov_p(t) = R²/(d + 4) Σ, on the line a²/5
Notation   t a location, y = q(t) ≥ 0 the value there of any density q, p the solution; θ₁ = theta1, b = −θ₂ > 0;
           μ = mu, v = σ² the variance; A = log ∫ e^f; ψ(t) = exp(−(t − c)²/(2s²)) a bump; a half of the parabola's width;
           R its radius in units of Σ, S the area of the unit sphere in ℝ^d and D = √|Σ|
References Martins et al., Sparse and Continuous Attention Mechanisms, NeurIPS 2020
"""

from functools import cache

import sympy as sp

from derivations.vocabulary import *

t, mu, theta1, c, v, b, s, y = (
    scalar("t"),
    scalar("mu"),
    scalar("theta1"),
    scalar("c"),
    positive("v"),
    positive("b"),
    positive("s"),
    scalar("y", Nonnegative),
)
half = sp.Rational(1, 2)


def score(linear: sp.Expr, rate: sp.Expr, at: sp.Expr = t) -> sp.Expr:
    """θ₁t − bt²."""
    return linear * at - rate * at**2


def density(center: sp.Expr, variance: sp.Expr, at: sp.Expr = t) -> sp.Expr:
    """N(t; μ, σ²)."""
    return sp.exp(-((at - center) ** 2) / (2 * variance)) / sp.sqrt(2 * sp.pi * variance)


# ── continuous softmax ──────────────────────────────────────────────────────────────────────────────────────────────

_T, _LINEAR, _CENTER, _BUMP = sp.symbols("t linear center bump", real=True)
_RATE, _VARIANCE, _WIDTH = sp.symbols("rate variance width", positive=True)


@cache
def integrated_exponential() -> sp.Expr:
    """∫ e^{θ₁t − bt²} dt, an integral over the real line."""
    integral = sp.integrate(sp.exp(score(_LINEAR, _RATE, _T)), (_T, -sp.oo, sp.oo))
    return sp.simplify(integral.rewrite(sp.erf))


def partition() -> sp.Expr:
    """The same, as a function of θ₁ and b."""
    return integrated_exponential().subs({_LINEAR: theta1, _RATE: b}, simultaneous=True)


def log_partition(linear: sp.Expr = theta1, rate: sp.Expr = b) -> sp.Expr:
    """θ₁²/(4b) + ½ log(π/b)."""
    return linear**2 / (4 * rate) + sp.log(sp.pi / rate) / 2


@claim(
    "geometric.s8.log-partition",
    "identity",
    title="Addition: the log-partition function of quadratic scores",
    latex=r"A(\theta)=\log\int e^{\theta_1t-bt^2}dt=\frac{\theta_1^2}{4b}+\frac12\log\frac\pi b",
    hypotheses=("b = −θ₂ > 0",),
)
def normalizer() -> Steps:
    """Exponentiated quadratic scores that fall on both sides have the integral √(π/b) exp(θ₁²/(4b))."""
    yield partition_is(log_partition())


def partition_is(claimed: sp.Expr) -> Equation:
    """log ∫ e^f against an expression."""
    return Equation(sp.log(partition()), claimed, reason="the square is completed: an integral over the line")


normalizer.twin("2b for 4b", lambda: partition_is(theta1**2 / (2 * b) + sp.log(sp.pi / b) / 2))
normalizer.twin("the half of the logarithm is lost", lambda: partition_is(theta1**2 / (4 * b) + sp.log(sp.pi / b)))


@claim(
    "geometric.s8.natural",
    "identity",
    title="Addition: natural parameters and moments",
    needs=("geometric.s8.log-partition",),
    latex=r"\mu=\frac{\partial A}{\partial\theta_1}=\frac{\theta_1}{2b},\quad"
    r"\sigma^2=\frac{\partial^2A}{\partial\theta_1^2}=\frac1{2b},\quad\theta_1=\mu/\sigma^2,\ \theta_2=-1/(2\sigma^2)",
)
def natural_parameters() -> Steps:
    """The slopes of A are the mean and the variance, and θ₁ = μ/σ², θ₂ = −1/(2σ²) is the way back."""
    yield Equation(derivative(derivative(log_partition(), theta1), theta1), 1 / (2 * b), reason="σ²")
    yield Equation(-derivative(log_partition(), b), (theta1 / (2 * b)) ** 2 + 1 / (2 * b), reason="E t² = μ² + σ²")
    yield Equation(
        v * derivative(log_partition(mu / v, 1 / (2 * v)), mu),
        mu,
        reason="there and back: with θ₁ = μ/σ² and θ₂ = −1/(2σ²), ∂A/∂θ₁ = σ² ∂A/∂μ is μ",
    )
    yield mean_is(theta1 / (2 * b))


def mean_is(claimed: sp.Expr) -> Equation:
    """∂A/∂θ₁ against an expression."""
    return Equation(derivative(sp.log(partition()), theta1), claimed, reason="∂A/∂θ₁ = E t")


natural_parameters.twin("4b for 2b", lambda: mean_is(theta1 / (4 * b)))
natural_parameters.twin("the sign", lambda: mean_is(-theta1 / (2 * b)))


def functional(value: sp.Expr, of: sp.Expr) -> sp.Expr:
    """q f − q log q at a point where q has this value."""
    return value * of - xlogx(value)


def gap_form(center: sp.Expr, variance: sp.Expr, constant: sp.Expr) -> Equation:
    """q f − q log q = A q − kl(q ‖ p) − (q − p) at every point, with p = N(center, variance)."""
    p = density(center, variance)
    return Equation(
        functional(y, score(mu / v, 1 / (2 * v))),
        constant * y - kl(y, p) - (y - p),
        reason="log p = f − A; integrated, the last term vanishes: ∫qf + H(q) = A − KL(q ‖ p)",
    )


@claim(
    "geometric.s8.gaussian",
    "optimality",
    title="Addition: continuous softmax is a Gaussian",
    latex=r"\int qf+H(q)=A-\mathrm{KL}(q\,\|\,\mathcal N(\mu,\sigma^2))\ \forall q\implies\hat p=\mathcal N(\mu,\sigma^2)",
    hypotheses=("f(t) = θ₁t + θ₂t², θ₂ < 0", "q has a density"),
    needs=("geometric.s8.log-partition", "geometric.s8.natural"),
)
def gaussian_is_optimal() -> Steps:
    """Of all densities only N(μ, σ²) maximizes ∫qf + H(q): at each point the integrand is A q − kl(q ‖ p) − (q − p)."""
    best = log_partition(mu / v, 1 / (2 * v))
    p = density(mu, v)
    yield Equation(sp.log(p), score(mu / v, 1 / (2 * v)) - best, reason="log p = f − A, with A at θ = (μ/σ², −1/(2σ²))")
    yield AtLeast(
        best * y - (y - p),
        functional(y, score(mu / v, 1 / (2 * v))),
        because=kl(y, p),
        reason="kl ≥ 0, and 0 only at q(t) = p(t)",
    )
    yield gap_form(mu, v, best)


gaussian_is_optimal.twin("twice the variance", lambda: gap_form(mu, 2 * v, log_partition(mu / v, 1 / (2 * v))))
gaussian_is_optimal.twin("the mean is θ₁", lambda: gap_form(mu / v, v, log_partition(mu / v, 1 / (2 * v))))
gaussian_is_optimal.twin("A without its logarithm", lambda: gap_form(mu, v, mu**2 / (2 * v)))


# ── the value function's basis ──────────────────────────────────────────────────────────────────────────────────────

d = size("d")
axis = index("a", d)
mean, variances, center = vector("mu", d), vector("v", d, kind=Positive), vector("c", d)


@cache
def integrated_bump() -> sp.Expr:
    """log ∫ N(t; μ, σ²) e^{−(t − c)²/(2s²)} dt on the line: the exponents add up to quadratic scores, and a constant."""
    linear, rate = _CENTER / _VARIANCE + _BUMP / _WIDTH**2, 1 / (2 * _VARIANCE) + 1 / (2 * _WIDTH**2)
    rest = -(_CENTER**2) / (2 * _VARIANCE) - _BUMP**2 / (2 * _WIDTH**2) - sp.log(2 * sp.pi * _VARIANCE) / 2
    whole = sp.expand_log(sp.log(integrated_exponential())).subs({_LINEAR: linear, _RATE: rate}, simultaneous=True)
    return _in_lowest_terms(whole + rest)


def _in_lowest_terms(expr: sp.Expr) -> sp.Expr:
    """Rational functions as one fraction, and logarithms of each factor of one."""
    logs, rational = sp.Add(*[x for x in expr.args if x.has(sp.log)]), sp.Add(*[x for x in expr.args if not x.has(sp.log)])
    return sp.factor(sp.cancel(rational)) + logs.replace(sp.log, lambda x: sp.expand_log(sp.log(sp.factor(x))))


def log_bump(middle: sp.Expr, spread: sp.Expr, at: sp.Expr) -> sp.Expr:
    """The same at other places."""
    return integrated_bump().subs({_CENTER: middle, _VARIANCE: spread, _BUMP: at, _WIDTH: s}, simultaneous=True)


def log_bump_is(claimed: sp.Expr) -> Equation:
    """log E ψ, a sum over the coordinates along the axes of Σ, against an expression."""
    computed = total(axis, log_bump(mean[axis], variances[axis], center[axis]))
    return Equation(computed, claimed, reason="one integral for each axis of Σ: ψ is round, so it is a product in these too")


def log_product(squares: sp.Expr, determinant: sp.Expr) -> sp.Expr:
    """Σ_a ½ log(s²/determinant) − ½ Σ_a (μ_a − c_a)²/squares."""
    return total(axis, sp.log(s**2 / determinant)) / 2 - total(axis, (mean[axis] - center[axis]) ** 2 / (2 * squares))


@claim(
    "geometric.s8.expected-bump",
    "identity",
    title="Addition: the mean of a round bump under a Gaussian, any dimension",
    latex=r"\mathbb E_{\mathcal N(\mu,\Sigma)}\psi=\sqrt{\tfrac{|s^2I|}{|\Sigma+s^2I|}}\,"
    r"e^{-\frac12(\mu-c)^\top(\Sigma+s^2I)^{-1}(\mu-c)}",
    needs=("geometric.s8.log-partition",),
)
def expected_bump() -> Steps:
    """Variances add: the mean of ψ is a bump at c with covariance Σ + s²I, read at μ, lower by a ratio of determinants."""
    yield Equation(
        log_bump(mu, v, c),
        sp.log(s**2 / (v + s**2)) / 2 - (mu - c) ** 2 / (2 * (v + s**2)),
        reason="on the line, the square completed",
    )
    yield log_bump_is(log_product(variances[axis] + s**2, variances[axis] + s**2))


expected_bump.twin("the factor of the determinants is lost", lambda: log_bump_is(log_product(variances[axis] + s**2, s**2)))
expected_bump.twin("the exponent with Σ alone", lambda: log_bump_is(log_product(variances[axis], variances[axis] + s**2)))


def slope_is(claimed: sp.Expr) -> Equation:
    """∂ log E ψ/∂θ₁ with θ₂ held, on the line, against an expression."""
    slope = derivative(log_bump(theta1 / (2 * b), 1 / (2 * b), c), theta1)
    return Equation(slope, claimed, reason="∂ E ψ/∂θ₁ = E ψ · (μ* − μ) = E[ψ t] − E[ψ] E[t]")


@cache
def integrated_moment(power: int) -> sp.Expr:
    """∫ t^power e^{θ₁t − bt²} dt / ∫ e^{θ₁t − bt²} dt, an integral over the real line."""
    integral = sp.integrate(_T**power * sp.exp(score(_LINEAR, _RATE, _T)), (_T, -sp.oo, sp.oo))
    return sp.cancel(sp.simplify(integral.rewrite(sp.erf) / integrated_exponential()))


def covariance_with(power: int) -> sp.Expr:
    """cov_p(ψ, t^power)/E_p ψ: the mean of t^power under ψp, which has quadratic scores too, less that under p."""
    means = [
        integrated_moment(power).subs({_LINEAR: linear, _RATE: rate}, simultaneous=True)
        for linear, rate in ((theta1 + c / s**2, b + 1 / (2 * s**2)), (theta1, b))
    ]
    return means[0] - means[1]


def mean_shift(spread: sp.Expr) -> sp.Expr:
    """μ* − μ = σ²(c − μ)/(σ² + s²): how far the bump draws the mean, for a σ² of `spread`."""
    return spread * (c - theta1 / (2 * b)) / (spread + s**2)


m = size("m")
j, k = index("j", m), index("k", m)
points, height = vector("x", m), vector("psi", m)


def on_grid(position: sp.Expr) -> sp.Expr:
    """p_j ∝ exp(θ₁ x_j − b x_j²)."""
    return sp.exp(score(theta1, b, points[position])) / total(k, sp.exp(score(theta1, b, points[k])))


@claim(
    "geometric.s8.gradient",
    "identity",
    title="Addition: the slope of the context in θ is a covariance",
    latex=r"\frac{\partial\,\mathbb E_p[\psi]}{\partial\theta_1}=\mathrm{Cov}_p(\psi,t),\quad"
    r"-\frac{\partial\,\mathbb E_p[\psi]}{\partial b}=\mathrm{Cov}_p(\psi,t^2),\quad"
    r"\frac{\partial\log\bar\psi}{\partial\theta_1}=\mu^*-\mu=\frac{\sigma^2(c-\mu)}{\sigma^2+s^2}",
    needs=("geometric.s8.expected-bump", "geometric.s8.natural"),
)
def gradient_is_covariance() -> Steps:
    """E_p[ψ] moves with θ by the covariance of ψ and φ: on any set of locations, and for the Gaussian in closed form."""
    expected, centre = total(j, on_grid(j) * height[j]), total(j, on_grid(j) * points[j])
    yield Equation(
        derivative(expected, theta1),
        total(j, on_grid(j) * height[j] * points[j]) - expected * centre,
        reason="finitely many locations, φ₁ = t",
    )
    square = total(j, on_grid(j) * points[j] ** 2)
    yield Equation(
        -derivative(expected, b), total(j, on_grid(j) * height[j] * points[j] ** 2) - expected * square, reason="φ₂ = t²"
    )
    for power, parameter, sign in ((1, theta1, 1), (2, b, -1)):
        slope = derivative(log_bump(theta1 / (2 * b), 1 / (2 * b), c), parameter)
        yield Equation(
            sign * slope,
            covariance_with(power),
            reason=f"on the line: ∂ log E ψ/∂θ_{power} is cov(ψ, t^{power})/E ψ, both sides by their integrals",
        )
    yield slope_is(mean_shift(1 / (2 * b)))


gradient_is_covariance.twin("E[ψ t], no mean taken off", lambda: slope_is(mean_shift(1 / (2 * b)) + theta1 / (2 * b)))
gradient_is_covariance.twin("the sign", lambda: slope_is(-mean_shift(1 / (2 * b))))
gradient_is_covariance.twin("1/b for σ²", lambda: slope_is(mean_shift(1 / b)))


observed, bumps = size("L"), size("N")
i, n = index("i", observed), index("n", bumps)
design, residual = vector("psi", observed, bumps), vector("e", observed)
fitted, step, ridge = vector("B", bumps), vector("delta", bumps), positive("lam")


def squared_error(coefficients: Entry) -> sp.Expr:
    """Σ_i (v_i − Σ_n c_n ψ_n(t_i))² + λ Σ_n c_n², for observations v with the residuals e at B."""
    missed = residual[i] + total(n, fitted[n] * design[i, n]) - total(n, coefficients(n) * design[i, n])
    return total(i, missed**2) + ridge * total(n, coefficients(n) ** 2)


def excess_is(penalty: sp.Expr, slope: sp.Expr) -> Equation:
    """The excess at B + δ is Σ_i (Σ_n δ_n ψ_n(t_i))² + penalty Σ_n δ_n² + slope Σ_n δ_n (λB_n − Σ_i e_i ψ_n(t_i))."""
    excess = squared_error(lambda at: fitted[at] + step[at]) - squared_error(fitted)
    normal_equations = total(n, step[n] * (ridge * fitted[n] - total(i, residual[i] * design[i, n])))
    moved_by = total(i, total(n, step[n] * design[i, n]) ** 2) + penalty * total(n, step[n] ** 2)
    return Equation(excess, moved_by + slope * normal_equations, reason="the last sum vanishes where the normal equations hold")


@claim(
    "geometric.s8.ridge",
    "optimality",
    title="Addition: the value function by ridge regression",
    latex=r"\|v-\Psi C\|^2+\lambda\|C\|^2-\|v-\Psi B\|^2-\lambda\|B\|^2=\|\Psi(C-B)\|^2+\lambda\|C-B\|^2"
    r"+2\langle\lambda B-\Psi^\top(v-\Psi B),C-B\rangle",
    hypotheses=("λ > 0",),
)
def ridge_regression() -> Steps:
    """Any other coefficients B + δ cost ‖Ψδ‖² + λ‖δ‖² more, if and only if the normal equations hold: one B is the best."""
    yield excess_is(ridge, sp.Integer(2))


ridge_regression.twin("without the penalty's curvature", lambda: excess_is(sp.S.Zero, sp.Integer(2)))
ridge_regression.twin("twice the penalty's curvature", lambda: excess_is(2 * ridge, sp.Integer(2)))


# ── continuous sparsemax ────────────────────────────────────────────────────────────────────────────────────────────

level, inside, outside = scalar("lam"), scalar("x", Nonnegative), scalar("w", Nonnegative)


def no_better(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """λq + ½p² is at least an expression."""
    return AtLeast(
        level * y + inside**2 / 2,
        right,
        because=because,
        reason="f − λ = p − w, p = (f − λ)₊, w = (λ − f)₊; the excess is ½(q − p)² + w q, 0 only at q = p",
    )


@claim(
    "geometric.s8.sparsemax",
    "optimality",
    title="Addition: continuous sparsemax is the part of the scores above a level",
    latex=r"\int qf-\tfrac12\int q^2\le\lambda+\tfrac12\int\hat p^2\ \forall q,\quad\hat p=(f-\lambda)_+,\ \int\hat p=1",
    hypotheses=("Ω(p) = ½∫(p² − p)", "q has a square-integrable density"),
)
def level_is_optimal() -> Steps:
    """No density does better than the positive part of f − λ with mass 1: at each point q f − ½q² ≤ λq + ½p²."""
    yield Equation(
        level * inside + inside**2 / 2 - (inside * (level + inside) - inside**2 / 2),
        0,
        about=(level, inside),
        reason="at q = p the two agree where p > 0, and where p = 0 both are 0",
    )
    yield no_better(y * (level + inside - outside) - y**2 / 2, (y - inside) ** 2 / 2 + outside * y)


level_is_optimal.twin("the square of q counts less", lambda: no_better(y * (level + inside - outside) - y**2 / 4))
level_is_optimal.twin("the level is not taken into account", lambda: no_better(y * (level + 1 + inside) - y**2 / 2))

R, S, D, a = positive("R"), positive("S"), positive("D"), positive("a")
_r, _R, _d = sp.symbols("r R d", positive=True)


@cache
def integrated_shells(moment: int) -> sp.Expr:
    """∫_0^R r^(d−1+moment) ½(R² − r²) dr for every d."""
    powers = sp.expand(_r ** (_d - 1 + moment) * (_R**2 - _r**2) / 2)
    return sp.integrate(powers, (_r, 0, _R))


def shells(moment: int) -> sp.Expr:
    """The same with this radius and dimension."""
    return sp.powsimp(sp.expand(integrated_shells(moment))).subs({_R: R, _d: d}, simultaneous=True)


def mass_is(claimed: sp.Expr) -> Equation:
    """The mass of ½(R² − r²)₊, r² = tᵀΣ⁻¹t, against an expression."""
    return Equation(S * D * shells(0), claimed, reason="spheres of radius r have the area S r^(d−1), and dt = D du")


@claim(
    "geometric.s8.paraboloid-mass",
    "identity",
    title="Addition: mass and half-width of continuous sparsemax, any dimension",
    latex=r"\int\tfrac12(R^2-r^2)_+dt=\frac{S\sqrt{|\Sigma|}\,R^{d+2}}{d(d+2)},\quad S=\frac{2\pi^{d/2}}{\Gamma(d/2)};\quad "
    r"d=1:\ a=\sigma R=(3\sigma^2/2)^{1/3}",
    needs=("geometric.s8.sparsemax",),
)
def paraboloid_mass() -> Steps:
    """The truncated paraboloid has mass S√|Σ| R^(d+2)/(d(d+2)), which fixes R; on the line a³ = 3σ²/2."""
    on_the_line = 2 * sp.sqrt(v) * R**3 / 3
    yield Equation(
        on_the_line.subs(R, a / sp.sqrt(v)) - 1,
        2 * (a**3 - 3 * v / 2) / (3 * v),
        reason="d = 1, S = 2, D = σ, R = a/σ: the mass is 1 iff a³ = 3σ²/2",
    )
    yield mass_is(S * D * R ** (d + 2) / (d * (d + 2)))


paraboloid_mass.twin("the ball's volume, for a density of height R²/2", lambda: mass_is(S * D * R ** (d + 2) / (2 * d)))
paraboloid_mass.twin("d + 1 for d + 2", lambda: mass_is(S * D * R ** (d + 2) / (d * (d + 1))))


def spread_is(claimed: sp.Expr) -> Equation:
    """The variance along each axis of Σ, in its units, against an expression."""
    mass = R ** (d + 2) / (d * (d + 2))
    return Equation(shells(2) / (d * mass), claimed, reason="E r²/d: all directions alike; the mass is S D times this")


@claim(
    "geometric.s8.paraboloid-covariance",
    "identity",
    title="Addition: the covariance of continuous sparsemax",
    latex=r"\mathrm{cov}_{\hat p}(t)=\frac{R^2}{d+4}\,\Sigma,\quad d=1:\ a^2/5",
    needs=("geometric.s8.paraboloid-mass",),
)
def paraboloid_covariance() -> Steps:
    """The truncated paraboloid has the covariance R²/(d + 4) Σ: a fifth of a² on the line."""
    yield spread_is(R**2 / (d + 4))


paraboloid_covariance.twin("that of the uniform density on the support", lambda: spread_is(R**2 / (d + 2)))
paraboloid_covariance.twin("d is lost", lambda: spread_is(d * R**2 / (d + 4)))
