r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

An integral over 𝒜 or ℝ^d against a law with finite support is the sum over its points, the templates t_i:
∫ a u(a) da = Σ u_i t_i.

Sources   h of (1), μ and z of Section 3.2, P of (4), ĥ of (5), M of (10), p̃ of (11), ĥ of (12), D of (9); W_γ, μ̃ of Section 9,
          q_t, μ_t, Σ_t, ℳ_t of Appendix D.3; σ and η of Appendix B
"""

SYMBOLS = {
    "n, d": "size",
    "i, j, k": "index n",
    "r, s": "index d",
    "t": "matrix n d as T",
    "a": "point of t",
    "u": "interior n",
    "p": "simplex n",
    "z": "vector d",
    "h": r"= \sum_i p_i t_i",
    r"\alpha": "positive as alpha",
    r"\eta": "positive as eta",
    r"\sigma": "positive as sigma",
    r"\lambda, \lambda^*": "vector d as lam",
    r"\mathcal K": "KL",
    r"\mu": r"= \sum_i u_i t_i",
    r"\Sigma": r"= \sum_i u_i (t_i - \mu)(t_i - \mu)^\top",
    r"M(\lambda)": r"= \sum_i u_i \exp\langle t_i, \lambda \rangle",
    r"\tilde p_i": r"= u_i \exp\langle t_i, \lambda^* \rangle / \sum_j u_j \exp\langle t_j, \lambda^* \rangle",
    r"\hat h": r"= \sum_i t_i \tilde p_i",
    "P(p)": r"= \tfrac\alpha2 \|\mu + z - \sum_i p_i t_i\|^2 + \mathcal K(p, u)",
    r"D(\lambda)": r"= \langle \lambda, \mu + z \rangle - \tfrac1{2\alpha} \|\lambda\|^2 - \log M(\lambda)",
    "b": r"= \mu + z",
    "M'(0)": r"= \nabla_\lambda M(\lambda)|_{\lambda = 0}",
    "M''(0)": r"= \nabla^2_\lambda M(\lambda)|_{\lambda = 0}",
}

# Section 9 and Appendix D: all N templates of 𝒜, costs M(t, t') and weights u(t)
TEMPLATES = {
    "n": None,
    "N": "size",
    "i, j, k": "index N",
    "T": "matrix N d",
    "t": "point of T",
    "a": "point of T",
    "u": "simplex N",
    "p": "vector N as g",
    "M": "matrix N N",
    r"\gamma": "positive as gamma",
    r"\tilde p_i": None,
    r"\hat h": None,
    r"\Sigma": None,
    r"\mu": None,
    "h": None,
    "P(p)": None,
    r"D(\lambda)": None,
    "q": "stochastic N N as Q",
    "Z_t": r"= \sum_{t'} e^{-M(t, t')/\gamma}",
    r"\mathcal M_t(x)": r"= \sum_{t'} q_t(t') e^{\langle t', x \rangle}",
    r"\tilde u_t": r"= \sum_{t'} u(t') e^{-M(t, t')/\gamma} / \sum_{t''} e^{-M(t'', t')/\gamma}",
    "p^*_t": r"= \sum_{t'} u(t') e^{(\langle t, \lambda^* \rangle - M(t, t'))/\gamma} / w_{t'}",
    "w_t": r"= \sum_{t'} e^{(\langle t', \lambda^* \rangle - M(t', t))/\gamma}",
    r"\tilde\mu": r"= \sum_{t, t'} u(t') \frac{e^{-M(t, t')/\gamma}}{\sum_{t''} e^{-M(t'', t')/\gamma}} t",
    r"\mathcal W^*_\gamma(p, u, M)": r"= \gamma (\sum_t u(t) \log \sum_{t'} e^{(p(t') - M(t', t))/\gamma} - \sum_t u(t) "
    r"\log u(t))",
    r"\mu_t": r"= \sum_{t'} q_t(t') t'",
    r"\Sigma_t": r"= \sum_{t'} q_t(t') (t' - \mu_t)(t' - \mu_t)^\top",
}

CHAPTERS = {
    "section9_transport": TEMPLATES,
    "section9_transport_solution": TEMPLATES,
    "section9_sharing": TEMPLATES,
    "section9_weights": TEMPLATES,
    "appendix_d_1_dual": TEMPLATES,
    "appendix_d_2_preference": TEMPLATES,
    "appendix_d_3_expansion": TEMPLATES,
    "appendix_d_4_maximizer": TEMPLATES,
    "appendix_d_5_solution": TEMPLATES,
    "section10_conclusion": TEMPLATES,
    "section9_training": TEMPLATES,
}

# Stationarity of (9), μ + z = λ⋆/α + ĥ, determines z from the maximizer λ⋆
STATIONARY = {"z": r"= \tfrac1\alpha \lambda^* - \mu + \hat h"}

# Footnote 11: costs are nonnegative and symmetric; Appendix D.3: q_t is the kernel of the costs
SYMMETRIC = {"S": "nonnegative matrix N N", "M_{ij}": "= S_{ij} + S_{ji}"}
KERNEL = {"q_{ij}": r"= e^{-M_{ij}/\gamma} / \sum_k e^{-M_{ik}/\gamma}"}

# Section 8: the projections K, Q, V of words x_i
PROJECTIONS = {"d'": "size as e", "x": "matrix n d as X", "K, Q, V": "matrix d' d"}
REPARAMETRIZED = {
    **PROJECTIONS,
    r"\alpha": "= 1",
    "k": "fixed index n",
    "t": None,
    "t_i": r"= x_i/\sqrt{d'}",
    "a": None,
    "z": r"= K^\top Q x_k",
    "V'": r"= V \sqrt{d'}",
    "u_i": "= 1/n",
    "b, h": None,
    r"\mu, \Sigma, \hat h": None,
}

# ── claims that need more than the chapter's table ───────────────────────────────────────────────────────────────────

# Convexity is seen on positive weights, where the objective has a gradient
CONVEX = {
    "P(p)": None,
    "P(w)": r"= \tfrac\alpha2 \|\mu + z - \sum_i w_i t_i\|^2 + \mathcal K(w, u)",
    "w": "positive vector n",
    "v": "interior n",
}

# (18), in which z takes the place of the maximizer
CLOSED = r"= \sum_i t_i u_i \exp(\alpha \langle t_i, z \rangle) / \sum_j u_j \exp(\alpha \langle t_j, z \rangle)"

CLOSED_HERE = r"= \sum_i t_i u_i \exp\langle t_i, z \rangle / \sum_l u_l \exp\langle t_l, z \rangle"

SMOOTHER = {"k": None, "i, j": "index n", "x, y": "vector d", "k(x, y)": r"= e^{-\alpha \|x - y\|^2/2}", r"\hat h": CLOSED}

# Ramsauer et al. (2021): X has the stored patterns as columns, and the update is a step of −∇E from ξ
HOPFIELD = {
    r"\xi": "vector d as xi",
    r"\beta": "positive as beta",
    "Y": "matrix n d as X",
    "X": r"= Y^\top",
    r"E(\xi)": r"= -\tfrac1\beta \log \sum_i e^{\beta \langle Y_i, \xi \rangle} + \tfrac12 \|\xi\|^2",
    r"\xi^{\mathrm{new}}": r"= \xi - \nabla E(\xi)",
}

# A template t_0 in the middle of the others, whose weight moves to them
MOVED = {
    "p": "vector n",
    "g": "simplex n",
    "y": "real",
    "t_0": r"= \sum_i g_i t_i",
    "p_0": "real as p0",
    "p_0'": "= p_0 - y",
    "p'_i": "= p_i + y g_i",
}

PAIR = {"q": "simplex n"}
PATTERNS = {"m": "real", "v": "vector d"}

# The tilt by αz, one pass of attention, and its mean; λ⋆ = α(μ + z − ĥ), and g is ĥ − μ
ONE_PASS = {
    "c": r"= \alpha z",
    "x": "vector d",
    r"\mathrm{tilt}_i(x)": r"= u_i \exp\langle t_i, x \rangle / \sum_j u_j \exp\langle t_j, x \rangle",
    "p_c": r"= \mathrm{tilt}(\alpha z)",
    "h_c": r"= \sum_i t_i u_i \exp\langle t_i, \alpha z \rangle / \sum_j u_j \exp\langle t_j, \alpha z \rangle",
    "p^*_i": r"= \tilde p_i",
}
GIVEN_MAXIMIZER = {
    **ONE_PASS,
    "g": "vector d",
    r"\mu": r"= \hat h - g",
    "z": r"= \tfrac1\alpha \lambda^* + g",
    r"\kappa": "positive as kappa",
}

OBJECTIVES = {
    "T": "matrix n d",
    "q": "simplex n",
    "p": "simplex n",
    "S": "matrix n d",
    "y": "vector d",
    "c": "vector d",
    "s": "positive",
    r"\beta": "positive",
    "P(p, S, y)": r"= \tfrac\alpha2 \|\sum_i u_i S_i + y - \sum_i p_i S_i\|^2 + \mathcal K(p, u)",
}
SCALED = {
    **OBJECTIVES,
    "P(p, S, y)": None,
    r"P(p, S, y, \beta)": r"= \tfrac\beta2 \|\sum_i u_i S_i + y - \sum_i p_i S_i\|^2 + \mathcal K(p, u)",
}

# Section 5: μ is the mean of a Gaussian law, b an observation
GAUSSIAN = {r"\mu": "vector d as mu", "b": "vector d", "z": r"= b - \mu"}
GAUSSIAN_LAW = {**GAUSSIAN, "a": "vector d as x", "u": None, "u(a)": r"normal \mu", "h": None, r"\Sigma": None}
MAXIMIZER = r"= \tfrac\alpha{\alpha+1}(b - \mu)"
GAUSSIAN_DUAL = {**GAUSSIAN_LAW, r"\lambda^*": MAXIMIZER}
GAUSSIAN_MINIMIZER = {**GAUSSIAN_DUAL, "p^*(a)": r"normal \tfrac1{1+\alpha}\mu + \tfrac\alpha{1+\alpha}b"}
# The covariance C of this law is I_d, its own inverse
GAUSSIAN_MINIMIZER[r"\mathcal N(y, C)"] = r"= (2\pi)^{-d/2} e^{-\frac12\langle a - y, C(a - y)\rangle}"
GAUSSIAN_MINIMIZER["y"], GAUSSIAN_MINIMIZER["C"] = "vector d", "matrix d d"
GAUSSIAN_TILT = {
    **GAUSSIAN_LAW,
    "p^*(a)": r"= u(a) e^{\langle a, \lambda^* \rangle} / e^{\langle \mu, \lambda^* "
    r"\rangle + \frac12 \|\lambda^*\|^2}",
}
GAUSSIAN_ESTIMATE = {**GAUSSIAN, r"\lambda^*": r"= \tfrac\alpha{\alpha+1}(b - \mu)", r"\hat h": r"= \mu + \lambda^*"}

# Positive numbers with any sum are called w where only their ratios count; u is what they are over their sum
TILT = {"x": "vector d", r"\mathrm{tilt}_i(x)": r"= u_i \exp\langle t_i, x \rangle / \sum_j u_j \exp\langle t_j, x \rangle"}
ATTENTION = r"= u_i \exp(\alpha \langle t_i, z \rangle) / \sum_j u_j \exp(\alpha \langle t_j, z \rangle)"
UNIFORM = {"u_i": "= 1/n", r"\hat h_{(18)}": CLOSED, r"\mu": None, r"\Sigma": None}
WEIGHED = {"w": "positive vector n", "u_i": r"= w_i / \sum_k w_k", "p_i": ATTENTION}

# Relative positions: b_{j-i} is a table of 2n − 1 numbers; m_i is 0 for masked words, so that 1_masked(i) is log m_i
POSITIONS = {
    "m": "simplex n",
    "j": "fixed index n",
    "i, k": "index n",
    "B": "vector 2n-1",
    "l": "index n",
    "b": None,
    "b_k": "= B_{n+k}",
    r"\mathbf 1_{\mathrm{masked}}(i)": r"= \log m_i",
    "Z": r"= \sum_l m_l e^{b_{j-l}}",
    r"Z^{(j)}": r"= \sum_l m_l e^{b_{j-l}}",
    r"Z^{(k)}": r"= \sum_l m_l e^{b_{k-l}}",
    r"u_i^{(j)}": r"= m_i e^{b_{j-i}} / \sum_l m_l e^{b_{j-l}}",
    r"u_i^{(k)}": r"= m_i e^{b_{k-i}} / \sum_l m_l e^{b_{k-l}}",
}

# (19) is 0 for masked words, and m_i is what is left of a word
MASKED = {
    **POSITIONS,
    "T": "matrix n d",
    "t": "point of T",
    r"\mathrm{masked}(i)": "= 1 - m_i",
    "u_i": POSITIONS[r"u_i^{(j)}"],
    "h, \\mu, \\Sigma": None,
}

# Equal places of a caption: P(i, k) is how often template i and output k meet
CAPTION = {
    "m, s": "size",
    "i, h": "index m",
    "k": "index s",
    "v": "simplex m",
    "w": "interior s",
    "P(i, k)": "= v_i w_k",
    "u_i^{(k)}": r"= P(i, k)/\sum_h P(h, k)",
}

MEM = {"q": "simplex n", r"\tilde p": "simplex n as p", r"\tilde p_i": None, "r(p)": r"= \mu + z - \sum_i p_i t_i"}

SET_ALPHA = {r"\alpha": r"= 1/(\eta \sigma^2)", "p": "simplex n"}

SERIES = {"t": "real", "y": "positive as x", "x": "= e^y - 1", "T": None}

# Section 9: u has its weight on the templates t_1, …, t_n of 𝒜, whose costs are bounded products
BOUNDED = {"C": "real", "M_{ij}": r"= C - \langle T_i, T_j \rangle"}
FIRST_ORDER = {
    r"\tilde\mu": r"= \sum_t u(t) \mu_t",
    r"\bar\Sigma": r"= \sum_t u(t) \Sigma_t",
    r"\hat h": r"= \sum_t u(t) \frac{\sum_{t'} q_t(t') e^{\alpha \langle t', z \rangle/\gamma} t'}"
    r"{\sum_{t''} q_t(t'') e^{\alpha \langle t'', z \rangle/\gamma}}",
}
STATIONARY_PLAN = {
    r"\tilde\mu": r"= \sum_t u(t) \mu_t",
    r"\hat h": r"= \sum_t u(t) \frac{\sum_{t'} q_t(t') e^{\langle t', \lambda^* \rangle/\gamma} t'}"
    r"{\sum_{t''} q_t(t'') e^{\langle t'', \lambda^* \rangle/\gamma}}",
    "z": r"= \tfrac1\alpha \lambda^* - \tilde\mu + \hat h",
}
# The derivation has one vector for μ̃ + z, and any Z
SHIFTED = {
    "Z_t": None,
    "Z": "positive vector N",
    "w": "vector d as z",
    "w_t": None,
    "p^*_t": None,
    "z": "vector d as y",
    r"\tilde\mu": "= w - z",
}
ONE_GROUP = {
    "G": "size",
    "i, j, k": "index G",
    "T": "matrix G d as W",
    "v": "positive",
    "p^*_t": r"= v e^{\alpha \langle t, z \rangle/\gamma} / \sum_{t'} e^{\alpha \langle t', z \rangle/\gamma}",
    r"\hat h": r"= \sum_{t'} p^*(t') t'",
    r"\bar t": r"= \tfrac1v \sum_{t'} p^*(t') t'",
}

# 1_masked is a function of the scores in the sharing of weights: s_i is ⟨t_i, z⟩, any number, and x(i|l) what t_i gets of u_l
SHARES = {
    "n, N": "size",
    "i, h": "index N",
    "l": "index n",
    "t, T, a": None,
    "s": "vector N as y",
    "M": "nonnegative matrix N n as K",
    r"\gamma": "positive as gamma",
    "u": "interior n",
    "x(i|l)": r"= e^{(\alpha s_i - M_{il})/\gamma} / \sum_h e^{(\alpha s_h - M_{hl})/\gamma}",
    "p^*_i": r"= \sum_l u_l e^{(\alpha s_i - M_{il})/\gamma} / \sum_h e^{(\alpha s_h - M_{hl})/\gamma}",
}
# o has weight where u has none; p is (18)
OUTSIDE = {
    **SHARES,
    "u": "simplex N",
    "o": "complement of u",
    "M": "nonnegative matrix N N as K",
    "l": "index N",
    "p_i": r"= u_i e^{\alpha s_i} / \sum_h u_h e^{\alpha s_h}",
}
# A group 𝒢 with the weight v = u_i of its one template in the input; the costs within it are 0
GROUP = {
    **SHARES,
    r"\mathcal G": "size as G",
    "t": r"index \mathcal{G}",
    "T, M": None,
    "s": r"vector \mathcal{G}",
    "v": "positive",
    "u": None,
    "u_i": "= v",
    "p^*_i": None,
    "p^*(t)": r"= v e^{\alpha s_t/\gamma} / \sum_{t'} e^{\alpha s_{t'}/\gamma}",
    "x(i|l)": None,
}
PLANS = {
    "x": "vector d",
    r"\nu": "vector d as nu",
    "X_{ij}(x)": r"= u_j e^{(\langle T_i, x \rangle - M_{ij})/\gamma} / \sum_k e^{(\langle T_k, x \rangle - M_{kj})/\gamma}",
    "h(x)": r"= \sum_{i,j} T_i u_j e^{(\langle T_i, x \rangle - M_{ij})/\gamma} / \sum_k e^{(\langle T_k, x "
    r"\rangle - M_{kj})/\gamma}",
    "z": r"= \tfrac1\alpha \nu",
    r"\tilde\mu": r"= h(\lambda^*) + \tfrac1\alpha \lambda^* - z",
}

# r_i is ‖μ + z − ĥ_i‖² and k_i = K(p_i, u), where p_i is the minimizer for α_i
RELIABLE = {
    r"\alpha_1": "positive as alpha",
    "e": "positive as s",
    r"\alpha_2": r"= \alpha_1 + e",
    "r_1": "nonnegative as r₁",
    "r_2": "nonnegative as r₂",
    "k_1": "nonnegative as k₁",
    "k_2": "nonnegative as k₂",
}

MIXED = {"e": "positive as t", "w": "= e/(1 + e)", "p": "interior n as x", "q": "simplex n as y"}

# Appendix B: the parameters θ of p_θ are the weights themselves; f(θ|ϑ) is (32), and f(θ|μ + z, ϑ) its product with (33), where
# a factor without θ is left out
PRIOR = {
    "p, h": None,
    r"\theta": "simplex n as x",
    r"\vartheta": "real",
    r"u_\vartheta": "= u",
    r"p_\theta": r"= \theta",
    r"h_\theta": r"= \sum_i \theta_i t_i",
    r"f(\theta|\vartheta)": r"= e^{-\eta \mathcal K(\theta, u)}",
}
POSTERIOR = {
    **PRIOR,
    "b": "vector d",
    r"\theta'": "simplex n as p",
    r"f(\theta|\vartheta)": None,
    r"f(\theta|b, \vartheta)": r"= e^{-\frac1{2\sigma^2} \|b - h_\theta\|^2} e^{-\eta \mathcal K(p_\theta, u_\vartheta)}",
    r"\alpha": r"= 1/(\eta \sigma^2)",
}
LIKELIEST = {**PRIOR, r"p_\theta^*": r"= \tilde p", "z": r"= \eta \sigma^2 \lambda^* - \mu + \hat h"}

# (3) has one Gaussian for all residuals (μ + z) − h, here r with μ = 2h; in (33) the parameter is the mean: only μ + z moves
LIKELIHOOD = {
    "r, s": None,
    "x": "vector d as r",
    "h": "vector d",
    r"\mu": "= 2 h",
    "z": "= x - h",
    r"\ell(z)": r"= -\tfrac1{2\sigma^2} \|(\mu + z) - h\|^2 - \tfrac d2 \log(2\pi\sigma^2)",
}
OBSERVED = {
    "r, s": None,
    "b": "vector d",
    "h": None,
    r"\mu": "vector d as mu",
    "z": r"= b - \mu",
    r"\theta": "vector d as h",
    r"h_\theta": r"= \theta",
    r"f(b|\theta)": r"= (2\pi\sigma^2)^{-d/2} e^{-\frac1{2\sigma^2} \|b - \theta\|^2}",
}

# u = N(μ, Σ) is the law of μ + Ag with a standard normal g, and Σ = AAᵀ
AFFINE = {
    "m, y": "vector d",
    "A, C": "matrix d d",
    "u": "positive",
    r"\mu": "= m",
    r"\Sigma": r"= AA^\top",
    r"\mathcal N(y, C)": "= u",
    r"M(\lambda)": r"= e^{\langle \mu, \lambda \rangle + \frac12 \|A^\top \lambda\|^2}",
}

# A random template
RANDOM = {"W": "point of t", r"\mathbb E": r"expectation under W \sim u"}
MOMENTS = {**RANDOM, "r": "size", "s": "index d"}

# The output of T5 at word j: its preference is (19), and its query y_k that of another sequence
CROSS = {
    **PROJECTIONS,
    **POSITIONS,
    "u_i": POSITIONS[r"u_i^{(j)}"],
    "k": "fixed index n",
    "w": "vector d as y",
    "y_k": "= w",
    "r": "index d'",
}

# 𝒜 has N templates, of which T has M
SUPPORT = {"M": "size as m", "o": "size", "N": "= M + o", "r": "simplex M", "i": "index M"}

CLAIMS = {
    "deciphering.1": {"t": "point of T", "T": "matrix n d", "h": r"= \int t p(t) dt"},
    "deciphering.21": PROJECTIONS,
    "deciphering.s0.convex": CONVEX,
    "deciphering.s0.closed-form": {r"\hat h_{(18)}": CLOSED},
    "deciphering.s2.not-identifiable": MOVED,
    "deciphering.s2.kernel-smoother": SMOOTHER,
    "deciphering.s2.hopfield": HOPFIELD,
    "deciphering.s3.convex-combination": PATTERNS,
    "deciphering.s3.words-so-far": PAIR,
    "deciphering.s5.dual-point": GAUSSIAN,
    "deciphering.7": GAUSSIAN_MINIMIZER,
    "deciphering.8": GAUSSIAN_DUAL,
    "deciphering.s5.mgf": GAUSSIAN_LAW,
    "deciphering.s5.proportional": GAUSSIAN_TILT,
    "deciphering.s5.estimate": GAUSSIAN_ESTIMATE,
    "deciphering.s5.reliability": GAUSSIAN,
    "deciphering.s3.caption-places": CAPTION,
    "deciphering.s4.perspectives": MEM,
    "deciphering.s4.minimizer": STATIONARY,
    "deciphering.s6.small-dual": STATIONARY,
    "deciphering.s6.uniform": UNIFORM,
    "deciphering.s7.dot-product": UNIFORM,
    "deciphering.s7.linearized": TILT,
    "deciphering.s7.two-pieces": {"p_i": ATTENTION},
    "deciphering.s7.context-dependent": WEIGHED,
    "deciphering.19": MASKED,
    "deciphering.fn4": POSITIONS,
    "deciphering.20": {**POSITIONS, "u_i": POSITIONS[r"u_i^{(j)}"], r"\alpha": "= 1", r"\hat h": CLOSED_HERE},
    "deciphering.sB.decay": PRIOR,
    "deciphering.sB.posterior": POSTERIOR,
    "deciphering.sB.map": POSTERIOR,
    "deciphering.sB.argmin": LIKELIEST,
    "deciphering.sB.argmin-rearranged": LIKELIEST,
    "deciphering.sB.alpha-likelihood": SET_ALPHA,
    "deciphering.sB.alpha-map": SET_ALPHA,
    "deciphering.29": SERIES,
    "deciphering.s9.nonnegative-cost": BOUNDED,
    "deciphering.s9.experiment-cost": BOUNDED,
    "deciphering.s9.bilinear-cost": {
        **BOUNDED,
        "p^*_t": r"= \sum_{t'} u(t') e^{(\alpha \langle t, z \rangle - M(t, t'))/"
        r"\gamma} / \sum_{t''} e^{(\alpha \langle t'', z "
        r"\rangle - M(t'', t'))/\gamma}",
    },
    "deciphering.s9.ot-first-order": FIRST_ORDER,
    "deciphering.s9.trained": ONE_GROUP,
    "deciphering.sD.dual-expanded": SHIFTED,
    "deciphering.fn7": {r"\Sigma": "= I_d", r"\lambda^*": r"= \tfrac\alpha{1+\alpha} z"},
    "deciphering.sD.stationarity": STATIONARY_PLAN,
    "deciphering.sD.without-means": STATIONARY_PLAN,
    "deciphering.sD.same-as-25": SYMMETRIC,
    "deciphering.36": SYMMETRIC,
    "deciphering.39": {**SYMMETRIC, "z": r"= \tfrac1\alpha \lambda^* - \tilde\mu + \sum_t p^*(t) t"},
    "deciphering.s3.strong-constraint": SUPPORT,
    "deciphering.s4.reliability": RELIABLE,
    "deciphering.s5.convex": MIXED,
    "deciphering.s6.mgf": RANDOM,
    "deciphering.s7.unified": {**POSITIONS, "u_i": POSITIONS[r"u_i^{(j)}"]},
    "deciphering.s8.bounded-moments": MOMENTS,
    "deciphering.s8.reparametrization": REPARAMETRIZED,
    "deciphering.22": CROSS,
    "deciphering.s6.gaussian-exact": AFFINE,
    "deciphering.sD.resolvent": STATIONARY_PLAN,
    "deciphering.33": OBSERVED,
    "deciphering.sB.log-likelihood": LIKELIHOOD,
    "deciphering.s5.minimizer": GAUSSIAN_MINIMIZER,
    "deciphering.s7.more-general": OUTSIDE,
    "deciphering.s9.regular-attention": OUTSIDE,
    "deciphering.s9.group-sharing": GROUP,
    "deciphering.s9.shares-weight": SHARES,
    "deciphering.s9.synonyms": SHARES,
    "deciphering.s9.one-pass-bound": {**PLANS, "u": "interior N"},  # else 0 log(0/0)
    "deciphering.s6.invertible": {"y": "vector d"},
    "deciphering.s6.gradient-ascent": {r"\nu": "vector d as nu"},
    "deciphering.s6.maximizer": {r"p_i(\lambda)": r"= u_i \exp\langle t_i, \lambda \rangle / M(\lambda)"},
    "deciphering.s6.dual-distance": {r"\lambda": "vector d as y", **STATIONARY},
    "deciphering.s6.suboptimality": {**STATIONARY, **PAIR, "h": None, "h_q": r"= \sum_i q_i t_i", "p^*_i": r"= \tilde p_i"},
    "deciphering.s6.one-pass-gap": ONE_PASS,
    "deciphering.s6.one-pass-bound": GIVEN_MAXIMIZER,
    "deciphering.s6.one-pass-mean": GIVEN_MAXIMIZER,
    "deciphering.s6.one-pass-dual": GIVEN_MAXIMIZER,
    "deciphering.s6.shift": OBJECTIVES,
    "deciphering.s6.scale": SCALED,
    "deciphering.s6.covariance-bound": {"y": "vector d", "c": "vector d"},
    "deciphering.37": SYMMETRIC,
    "deciphering.38": SYMMETRIC,
    "deciphering.40": SYMMETRIC,
    "deciphering.41": SYMMETRIC,
    "deciphering.42": KERNEL,
    "deciphering.sD.conditional": KERNEL,
    "deciphering.46": {**SYMMETRIC, **KERNEL},
    "deciphering.15": STATIONARY,
    "deciphering.16": STATIONARY,
    "deciphering.17": STATIONARY,
    "deciphering.18": STATIONARY,
}

INSTANCES: dict[str, dict[str, str | None]] = {}
