r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   q, k_j, τ, α of Definition 3.1; C, J, H, ε of Definition 3.2; p⋆ of (6), which is α at τ = ε; L, u of Definition 5.1;
          V of Definition 6.1, φ⋆ of Theorem 6.3; F of Definition 7.2; U(a, ·), P, J of Appendix A; f of (125)
"""

SYMBOLS = {
    "m, n": "size",
    "d_v": "size as e",
    "d_k": "size as d",
    "j, k, l": "index m",
    "i, h": "index n",
    "r": "index d_k",
    r"\tau": "positive as tau",
    r"\varepsilon": "positive as eps",
    r"\lambda": "real as lam",
    r"\theta": "real as theta",
    "q": "vector d_k as Q",
    "K": "matrix m d_k",
    "v": "matrix m d_v as V",
    "s, u": "vector m",
    "p": "simplex m",
    "H(p)": r"= -\sum_j p_j \log p_j",
    r"p^\star_j(s)": r"= e^{s_j/\tau} / \sum_l e^{s_l/\tau}",
}

# Sections 0 to 3: scores are inner products, k_j is a key
KEYS = {
    "k": "matrix m d_k as K",
    "C_j": r"= -\langle q, k_j \rangle",
    "s_j": r"= \langle q, k_j \rangle",
    "J(p)": r"= \sum_j p_j C_j - \varepsilon H(p)",
    r"\alpha_j": r"= e^{\langle q, k_j \rangle/\tau} / \sum_{l=1}^m e^{\langle q, k_l \rangle/\tau}",
    r"p^\star_j(s)": r"= e^{\langle q, k_j \rangle/\varepsilon} / \sum_{l=1}^m e^{\langle q, k_l \rangle/\varepsilon}",
}

# Theorem 3.3: ε = τ, and the Lagrangian is that of positive weights
LAGRANGIAN = {
    **KEYS,
    "p": "positive vector m",
    r"\mathcal L(p, \lambda)": r"= J(p) + \lambda (1 - \sum_j p_j)",
    "J(p)": r"= \sum_j p_j C_j - \tau H(p)",
    "Z": "positive",
}

# Sections 5 to 8: p is the softmax of the scores, and the loss is seen through the weights
PROBABILITIES = {
    "p_j(s)": r"= e^{s_j/\tau} / \sum_l e^{s_l/\tau}",
    "i, a, b": "index m",
    "Z": r"= \sum_l e^{s_l/\tau}",
    r"\mathcal L": r"= -\sum_k u_k p_k",
    "A_j": r"= u_j - \mathbb E_p[u]",
    "F_{jk}(s)": r"= \sum_i p_i(s) \frac{\partial \log p_i(s)}{\partial s_j} \frac{\partial \log p_i(s)}{\partial s_k}",
    "D": r"= \mathrm{diag}(p)",
    r"\mathbb E": "expectation under p",
    "v": "matrix m d_v as V",
    "c(p)": r"= \sum_j p_j v_j",
    r"\phi^\star(s)": r"= \tau \log \sum_l e^{s_l/\tau}",
    "M": r"= \tfrac1\tau (\mathrm{diag}(p^\star) - p^\star p^{\star\top})",
    "J(w, s)": r"= -\langle w, s \rangle + \tau \sum_j w_j \log w_j",
    "V(s)": r"= J(p^\star(s), s)",
}

# Section 6: p is any point of the simplex
VALUE = {
    r"\phi^\star(s)": r"= \tau \log \sum_l e^{s_l/\tau}",
    "J(p, s)": r"= -\langle p, s \rangle + \tau \sum_j p_j \log p_j",
    "V(s)": r"= J(p^\star(s), s)",
    "t": "real",
    "g(\\lambda)": r"= \lambda - \tau \sum_j e^{(s_j + \lambda - \tau)/\tau}",
    "d^*": r"= g(\tau - \phi^\star(s))",
    r"\Omega(p)": r"= \tau \sum_j p_j \log p_j",
}

MULTIPLIED = {
    "p": "positive vector m",
    r"\mathcal L(p, \lambda)": r"= -\sum_j p_j s_j + \tau \sum_j p_j \log p_j + \lambda (1 - \sum_j p_j)",
    r"\phi": "real as φ",
}

# Appendix A: plans whose rows have mass 1; A is attention
PLANS = {
    "k": "matrix m d_k as K",
    "q": "matrix n d_k as Q",
    "P": "stochastic n m",
    "C_{ij}": r"= -\langle q_i, k_j \rangle",
    "H(P)": r"= -\sum_{ij} P_{ij} \log P_{ij}",
    "J(P)": r"= \sum_{ij} P_{ij} C_{ij} - \varepsilon H(P)",
    "A_{ij}": r"= e^{\langle q_i, k_j \rangle/\tau} / \sum_{l=1}^m e^{\langle q_i, k_l \rangle/\tau}",
    r"P^\star_{ij}": r"= e^{\langle q_i, k_j \rangle/\varepsilon} / \sum_{l=1}^m e^{\langle q_i, k_l \rangle/\varepsilon}",
    r"\lambda": "vector n as lam",
    "Z": "positive vector n",
    "a_i": "= 1",
}

ROW_MULTIPLIED = {"P": "positive matrix n m as W", r"\mathcal L(P, \lambda)": r"= J(P) + \sum_i \lambda_i (1 - \sum_j P_{ij})"}

# Appendix B: f is the negative entropy on the simplex, +∞ outside of it, and f⋆ its conjugate
CONJUGATE = {
    r"I_\Delta(p)": "= 0",
    "f(p)": r"= \tau \sum_j p_j \log p_j + I_\Delta(p)",
    "f^*(s)": r"= \langle p^\star(s), s \rangle - f(p^\star(s))",
    r"\phi(s)": "= f^*(s)",
    "J(p, s)": r"= -\langle p, s \rangle + \tau \sum_j p_j \log p_j",
    "V(s)": r"= J(p^\star(s), s)",
    "Z": r"= \sum_l e^{s_l/\tau}",
    r"\mu": "real as μ",
    "t": "vector m",
    "h(p)": r"= \langle p, s \rangle - f(p)",
    r"\mathcal L(p, \lambda)": r"= \sum_j p_j s_j - \tau \sum_j p_j \log p_j - \lambda (\sum_j p_j - 1)",
}

# Section 4: Ω is the regularizer of the chapter, and J the objective with it
SPARSEMAX = {
    r"\Omega(p)": r"= \tfrac12 \sum_j p_j^2",
    "p": "positive vector m as v",
    r"\mu": "vector m as nu",
    r"\mathcal L": r"= -\sum_j p_j s_j + \Omega(p) + \lambda (1 - \sum_j p_j) - \sum_j \mu_j p_j",
}

ENTMAX = {
    r"\alpha": "= a + 1",
    "a": "positive",
    "p": "positive vector m as v",
    r"\Omega(p)": r"= \tfrac{1}{\alpha (\alpha - 1)} \sum_j (p_j^\alpha - p_j)",
    "J(p)": r"= -\sum_j p_j s_j + \Omega(p)",
    r"\mathcal L(p, \lambda)": r"= J(p) + \lambda (1 - \sum_j p_j)",
}

ALIBI = {
    "i, h": "index m",
    "p": "positive matrix m m as P",
    "s": "matrix m m as S",
    r"\gamma": "nonnegative as gamma",
    "C'_{ij}": r"= -s_{ij} + \gamma |i - j|",
    r"\Omega_L(w)": r"= \tau \sum_j w_j \log w_j + \gamma \sum_j w_j |i - j|",
    "J(w)": r"= -\sum_j w_j s_{ij} + \Omega_L(w)",
    r"p^\star_{ij}": r"= e^{(s_{ij} - \gamma |i - j|)/\tau} / \sum_l e^{(s_{il} - \gamma |i - l|)/\tau}",
}

CHAPTERS = {
    "section0_abstract": KEYS,
    "section1": KEYS,
    "section2_related": KEYS,
    "section3_problem": KEYS,
    "section3_existence": KEYS,
    "section3_remarks": KEYS,
    "section3_theorem": LAGRANGIAN,
    "section4_alibi": ALIBI,
    "section4_entmax": ENTMAX,
    "section4_sparsemax": SPARSEMAX,
    "section5_gradient": PROBABILITIES,
    "section5_loss": PROBABILITIES,
    "section5_remarks": PROBABILITIES,
    "section6_primer": VALUE,
    "section6_theorem": VALUE,
    "section6_value": VALUE,
    "section7_fisher": PROBABILITIES,
    "section7_hessian": {**PROBABILITIES, r"p^\star_j": SYMBOLS[r"p^\star_j(s)"], "V(s)": r"= J(p^\star, s)"},
    "section7_manifold": PROBABILITIES,
    "section7_natural": PROBABILITIES,
    "section8_conclusion": PROBABILITIES,
    "appendix_a_existence": PLANS,
    "appendix_a_matrix": PLANS,
    "appendix_a_solution": PLANS,
    "appendix_b_potential": CONJUGATE,
    "appendix_b_lemma": CONJUGATE,
    "appendix_b_conjugate": CONJUGATE,
    "appendix_b_theorem": CONJUGATE,
}

# (6) names the solution of the problem p⋆, and states only that p⋆ solves it
SOLUTION = {r"p^\star_j": r"= \arg\min_{p \in \Delta^{m-1}} J(p)", "p": "simplex m"}
ROWS = {"p": "stochastic m m", r"p^\star": r"= \arg\min_{p_i \in \Delta^{m-1}} \{-\sum_j p_{ij} s_{ij} + \Omega_L(p_i)\}"}
PLAN = {r"P^\star": r"= \arg\min_{P \in U(a, \cdot)} J(P)", r"\varepsilon": "positive as tau"}
UNIFORM = {"p_j": "= 1/m"}
FREE = {"p": "positive vector m"}
PAIRS = {"p^\\star": "interior m"}

# Section 5: keys i are drawn from p, and g_ij is the slope of log p_i in s_j
SAMPLED = {
    "i, j, k, l": "index m",
    "C_j": None,
    "s_j": None,
    "p": "interior m as π",
    "u": "vector m",
    "g_{ij}": r"= (\delta_{ij} - p_j)/\tau",
    r"\mathrm{Var}": r"variance under i \sim p",
    r"\mathcal L": None,
    r"\nabla_s\mathcal L": r"= -g^\top (u \odot p)",
}

# Section 3's primer: a and b are prescribed
COUPLINGS = {
    "a": "simplex n",
    "b": "simplex m",
    "i": "index n",
    "j": "index m",
    "k": None,
    "C_j": None,
    "C": "matrix n m",
    "H(p)": None,
    "P": "nonnegative matrix n m",
}

# Remark 3.4: components are independent with mean 0 and variance 1
RANDOM = {"q": "random vector d_k as Q", "k": "random matrix m d_k as K"}

# Mixtures: t/(1 − t) is any positive number, the odds
ODDS = {"o": "positive as t", "t": r"= \frac{o}{1 + o}", "x, y": "simplex m"}
MIXED_PLANS = {"o": "positive as t", "t": r"= \frac{o}{1 + o}", "R": "stochastic n m"}

# Any scores are of this form, with p their sparsemax or entmax and μ its multipliers
SCORES = {"q": "simplex m", r"\pi": "simplex m as p", r"\mu": "nonnegative vector m as mu", r"\theta": "real as theta"}

# Section 7: Δs_nat with the Moore–Penrose inverse of F, which has no other
NATURAL = {
    "v": "vector m",
    "F^+_{jk}": r"= \tau^2 \sum_b (\delta_{jb} - \tfrac1m)(\delta_{bk} - \tfrac1m)/p_b(s)",
    r"\Delta s_{\mathrm{nat}}": r"= -F^+ \nabla_s\mathcal L",
}

ENTROPY = {
    "w": "positive vector m",
    r"\Phi(w)": r"= \sum_j w_j \log w_j",
    "J(w, s)": None,
    "J_{ij}": r"= \frac{\partial p_i}{\partial s_j}",
}

# The manifold as a part of the sphere of radius 2, y = 2√p, with its second fundamental form
CURVATURE = {
    "y_i": r"= 2 \sqrt{p_i}",
    "h_{jk}": r"= \sum_i \tfrac{y_i}{2} \frac{\partial^2 y_i}{\partial s_j \partial s_k}",
    "R_{jk}": "= h_{jj} h_{kk} - h_{jk}^2",
}

PENALTY = {"w": "positive vector m", r"\Omega(w)": r"= \tau \sum_j w_j \log w_j + \gamma \sum_j w_j |i - j|"}

CLAIMS = {
    "eot.45": {
        "p": "positive vector m",
        "g": "vector d_v",
        r"\nabla_c\mathcal L": "vector d_v as g",
        r"\mathcal L": r"= \langle g, c(p) \rangle",
        "u_j": r"= -\frac{\partial \mathcal L}{\partial p_j}",
    },
    "eot.144": {"p^\\star_j(s)": r"= \arg\max_{p \in \Delta^{m-1}} \{\langle p, s \rangle - f(p)\}"},
    "eot.s3.minimum-exists": {r"\varepsilon": "positive as tau"},
    "eot.s8.unique-solution": {**KEYS, "p_j(s)": None, "p": "simplex m", r"\varepsilon": "positive as tau"},
    "eot.thm3.3": {"p": "simplex m", r"\varepsilon": "positive as tau"},
    "eot.18": SOLUTION,
    "eot.15": {"p_j": r"= \tfrac1Z e^{\langle q, k_j \rangle/\tau}", "Z": r"= \sum_l e^{\langle q, k_l \rangle/\tau}"},
    "eot.16": {"Z": r"= \sum_l e^{\langle q, k_l \rangle/\tau}"},
    "eot.35": {"p": "stochastic m m"},
    "eot.s4.separable": {
        "J(w)": None,
        "J_i(w)": r"= -\sum_j w_j s_{ij} + \tau \sum_j w_j \log w_j + \gamma \sum_j w_j |i - j|",
        "w": "positive vector m",
    },
    "eot.s3.trade-off": {"s": "vector m", r"p^\star_j": r"= e^{s_j/\varepsilon} / \sum_l e^{s_l/\varepsilon}"},
    "eot.s3.proportional": {"p_j": r"= \alpha_j"},
    "eot.14": {"Z": r"= e^{-(\lambda - \tau)/\tau}"},
    "eot.19": {r"\Omega(p)": r"= \tfrac12 \sum_j p_j^2"},
    "eot.s0.variance-reduced": SAMPLED,
    "eot.s1.variance-reduced": SAMPLED,
    "eot.s5.baseline-variance": SAMPLED,
    "eot.s8.variance-reduced": SAMPLED,
    "eot.s2.exact-update": SAMPLED,
    "eot.s5.reinforce": SAMPLED,
    "eot.s8.entropy-geometry": ENTROPY,
    "eot.s8.curvature": CURVATURE,
    "eot.s7.manifold-curvature": CURVATURE,
    "eot.s3.linear-is-convex": ODDS,
    "eot.s3.second-derivative": {"x": "positive as a", "f(x)": r"= x \log x"},
    "eot.s3.plan-marginals": {**COUPLINGS, "P": "coupling a b"},
    "eot.rem3.4": RANDOM,
    "eot.s3.unit-variance": RANDOM,
    "eot.s3.stable-trade-off": {
        **RANDOM,
        "H(p)": None,
        "J(p)": r"= \langle p, C \rangle - \tau H(p)",
        r"\tau": r"= \sqrt{d_k}",
        "C_j": r"= -\langle q, k_j \rangle",
    },
    "eot.s3.kantorovich": {
        **COUPLINGS,
        "P": "coupling a b",
        "c": "nonnegative matrix n m",
        "f": "vector n",
        "g": "vector m",
        "C": None,
        "C_{ij}": "= c_{ij} + f_i + g_j",
    },
    "eot.s3.entropic-objective": {**COUPLINGS, "H(p)": None, "P": None, "P_{ij}": "= a_i b_j"},
    "eot.s3.couplings-exist": {**COUPLINGS, "P": None, "P_{ij}": "= a_i b_j"},
    "eot.s3.primer-trade-off": {
        **COUPLINGS,
        "o": "positive as odds",
        r"\varepsilon'": r"= \varepsilon + o",
        r"P_\varepsilon": "nonnegative matrix n m as P",
        r"P_{\varepsilon'}": "nonnegative matrix n m as R",
        "P": None,
    },
    "eot.s3.dense": {**COUPLINGS, "P": None, r"P^\star": "nonnegative matrix n m as P"},
    "eot.s3.most-entropic": {**COUPLINGS, "a": "interior n", "b": "interior m"},
    "eot.s3.eps-to-infinity": {
        **COUPLINGS,
        "a": "interior n",
        "b": "interior m",
        "P": None,
        r"P_\varepsilon": "nonnegative matrix n m as P",
    },
    "eot.s3.row-independence": {
        "j, k, l": "index m",
        "C_j": None,
        "s": "matrix n m as S",
        "A_{ij}": r"= e^{s_{ij}/\tau} / \sum_l e^{s_{il}/\tau}",
    },
    "eot.prop4.4": {**ROWS, **PENALTY},
    "eot.s4.additive-penalty": {"k": "index m", "b_{ij}": r"= -\gamma |i - j|"},
    "eot.s4.tab1-alibi": {
        "p": "positive vector m",
        r"\Omega_L(w)": None,
        r"\Omega": r"= \tau \sum_j p_j \log p_j + \gamma \sum_j p_j |i - j|",
    },
    "eot.prop4.2": {
        **SCORES,
        "s_j": r"= \theta + \pi_j - \mu_j",
        "p^\\star_j": r"= \arg\min_{q \in \Delta^{m-1}} \{-\langle q, s \rangle + \tfrac12 \|q\|^2\}",
    },
    "eot.prop4.3": {
        **SCORES,
        "s_j": r"= \theta + \tfrac{1}{\alpha - 1} \pi_j^{\alpha - 1} - \mu_j",
        "p^\\star_j": r"= \arg\min_{q \in \Delta^{m-1}} \{-\langle q, s \rangle"
        r" + \tfrac{1}{\alpha (\alpha - 1)} \sum_l (q_l^\alpha - q_l)\}",
    },
    "eot.33": {
        **SCORES,
        "p": "simplex m",
        "q": None,
        r"\pi": None,
        "s_j": r"= \theta + \tfrac{1}{\alpha - 1} p_j^{\alpha - 1} - \mu_j",
    },
    "eot.s4.tsallis-convex": {"x": "positive as b", r"\omega(x)": r"= \frac{x^\alpha - x}{\alpha (\alpha - 1)}"},
    "eot.s4.linear-in-score": {r"\theta": r"= -\lambda - \tfrac{1}{\alpha (\alpha - 1)}"},
    "eot.s4.threshold": {
        **SCORES,
        "q": None,
        r"\theta": r"= -\lambda",
        "p": "simplex m",
        r"\pi": None,
        "s_j": r"= p_j - \lambda - \mu_j",
    },
    "eot.s4.entropy-makes-softmax": {
        "p": "positive vector m as v",
        "J": r"= -\sum_j p_j s_j + \tau \sum_j p_j \log p_j",
        r"\Omega(p)": None,
    },
    "eot.prop4.1": {
        "p": "simplex m",
        r"\Omega": r"= -\tau H(p)",
        "p^\\star_j": r"= \arg\min_{p \in \Delta^{m-1}} \{-\langle p, s \rangle - \tau H(p)\}",
    },
    "eot.s5.query-key-gradient": {
        "k": "matrix m d_k as K",
        "p_j(s)": None,
        "s": None,
        "p_j": r"= e^{\langle q, k_j \rangle/\tau} / \sum_l e^{\langle q, k_l \rangle/\tau}",
        r"\mathcal L": r"= -\sum_l u_l p_l",
        "A_j": r"= u_j - \sum_l p_l u_l",
    },
    "eot.s6.information": {"t": "positive"},
    "eot.s7.metric": {"v": "vector m"},
    "eot.s7.information-distance": {
        "v": "vector m",
        "t": "positive",
        "M(s)": r"= \tfrac1\tau (\mathrm{diag}(p(s)) - p(s) p(s)^\top)",
    },
    "eot.s7.direction": NATURAL,
    "eot.s7.dual": NATURAL,
    "eot.s8.maximum-entropy": {"q": "simplex m"},
    "eot.defA.4": {
        "q": None,
        "k": None,
        "Q": "matrix n d_k",
        "K": "matrix m d_k",
        "A_{ij}": None,
        "P^\\star_{ij}": None,
        "C_{ij}": None,
        "C": r"= -Q K^\top",
    },
    "eot.sA.non-empty": {"P_{ij}": "= 1/m"},
    "eot.sA.compact-convex": MIXED_PLANS,
    "eot.sA.linear-part": {**MIXED_PLANS, "L(P)": r"= \langle P, C \rangle"},
    "eot.thmA.6": {},
    "eot.sA.unit-masses": {"a_i": r"= \sum_j P_{ij}"},
    "eot.sA.free-target": {"b": "simplex m"},
    "eot.sA.decomposable": {"H(P)": None, "J(P)": r"= \sum_{ij} P_{ij} C_{ij} + \varepsilon \sum_{ij} P_{ij} \log P_{ij}"},
    "eot.sA.single-row": {
        "i, h": "index 1",
        "H(P)": None,
        "q": "vector d_k as Q",
        "P": "stochastic 1 m",
        "C_{ij}": None,
        "C_j": r"= -\langle q, k_j \rangle",
        "J(P)": r"= \sum_{ij} P_{ij} C_j + \varepsilon \sum_{ij} P_{ij} \log P_{ij}",
        "A_{ij}": None,
        "P^\\star_{ij}": None,
    },
    "eot.44": {"p": "positive vector m"},
    "eot.def5.1": {"p": "positive vector m"},
    "eot.36": ROWS,
    "eot.43": ROWS,
    "eot.24": {"p": "simplex m", r"\mu": "nonnegative vector m as mu", "s_j": r"= p_j - \lambda - \mu_j"},
    "eot.65": {"s_j": r"= \langle q, k_j \rangle", "k": "matrix m d_k as K"},
    "eot.72": MULTIPLIED,
    "eot.73": MULTIPLIED,
    "eot.74": MULTIPLIED,
    "eot.115": ROW_MULTIPLIED,
    "eot.116": ROW_MULTIPLIED,
    "eot.117": ROW_MULTIPLIED,
    "eot.sA.separable": ROW_MULTIPLIED,
    "eot.118": ROW_MULTIPLIED,
    "eot.119": ROW_MULTIPLIED,
    "eot.120": ROW_MULTIPLIED,
    "eot.sA.constant-of-row": {**ROW_MULTIPLIED, "Z_i": r"= e^{-(\lambda_i - \varepsilon)/\varepsilon}"},
    "eot.121": {"P_{ij}": r"= \tfrac{1}{Z_i} e^{-C_{ij}/\varepsilon}", "Z_i": r"= \sum_l e^{-C_{il}/\varepsilon}"},
    "eot.123": PLAN,
    "eot.thmA.7": {r"\varepsilon": "positive as tau"},
    "eot.s2.exact": {**PLANS, r"\varepsilon": "positive as tau", "C_{ij}": r"= -\langle q_i, k_j \rangle"},
    "eot.s2.source-marginal": PLANS,
    "eot.142": FREE,
    "eot.143": FREE,
    "eot.sB.proportional": FREE,
    "eot.132": FREE,
    "eot.136": FREE,
    "eot.137": FREE,
    "eot.138": FREE,
    "eot.sB.first-order": FREE,
    "eot.sB.equality-condition": FREE,
    "eot.68": FREE,
    "eot.69": FREE,
    "eot.s6.flat": FREE,
}
INSTANCES = {
    "eot.2": UNIFORM,
    "eot.3": UNIFORM,
    "eot.defA.5": {"P_{ij}": "= 1/m"},
    "eot.def3.2": {"p_j": "= 1/m"},
    "eot.34": {"p_{ij}": "= 1/m"},
    "eot.108": {"P_{ij}": "= 1/m"},
    "eot.111": {"P_{ij}": "= b_j", "b": "simplex m"},
}
for _id in ("0.policy-gradient", "1.policy-gradient", "0.geometry", "1.geometry", "2.log-derivative"):
    _weights = {"k": "index m", "s": "vector m", r"p^\star_j(s)": SYMBOLS[r"p^\star_j(s)"]}
    CLAIMS[f"eot.s{_id}"] = {**PROBABILITIES, **_weights, **(ENTROPY if _id == "0.geometry" else {})}
