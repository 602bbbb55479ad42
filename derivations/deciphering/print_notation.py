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
    r"\mathcal W^*_\gamma(p)": r"= \gamma (\sum_t u(t) \log \sum_{t'} e^{(p(t') - M(t', t))/\gamma} - \sum_t u(t) \log u(t))",
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
}

# Stationarity of (9) is μ + z = λ⋆/α + ĥ: it says what z is where λ⋆ is the maximizer
STATIONARY = {"z": r"= \tfrac1\alpha \lambda^* - \mu + \hat h"}

# Footnote 11: costs are nonnegative and symmetric; Appendix D.3: q_t is the kernel of the costs
SYMMETRIC = {"S": "nonnegative matrix N N", "M_{ij}": "= S_{ij} + S_{ji}"}
KERNEL = {"q_{ij}": r"= e^{-M_{ij}/\gamma} / \sum_k e^{-M_{ik}/\gamma}"}

# Section 8: the projections K, Q, V of words x_i
PROJECTIONS = {"d'": "size as e", "x": "matrix n d as X", "K, Q, V": "matrix d' d"}

CLAIMS = {
    "deciphering.1": {"t": "point of T", "T": "matrix n d", "h": r"= \int t p(t) dt"},
    "deciphering.21": PROJECTIONS,
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
