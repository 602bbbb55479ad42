r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   Q, K, V, S and ε of Section 2, γ and C of Section 1
"""

SYMBOLS = {
    "n, m, d": "size",
    "d_v": "size as e",
    "d_k": "size as d",
    "i, h": "index n",
    "j, k, l": "index m",
    "r": "index d_k",
    "Q": "matrix n d_k",
    "K": "matrix m d_k",
    "V": "matrix m d_v",
    "S": "matrix n m",
    r"\varepsilon": "positive as eps",
    r"\lambda": "vector n as lam",
    "P": "stochastic n m",
    "C": "matrix n m",
    "A_{ij}": r"= e^{S_{ij}/\varepsilon} / \sum_l e^{S_{il}/\varepsilon}",
    "H(P)": r"= -\sum_{ij} P_{ij} \log P_{ij}",
    r"\mathrm{Attention}(Q, K, V)": r"= \mathrm{softmax}(Q K^\top / \sqrt d) V",
}

CHAPTERS = {}

MULTIPLIED = {
    "A": "positive matrix n m as W",
    r"\mathcal L(A, \lambda)": r"= \langle A, \varepsilon \log A - S \rangle + \sum_i \lambda_i (\sum_j A_{ij} - 1)",
}
SCORES = {"S": r"= Q K^\top / \sqrt d"}

CLAIMS = {
    "transport.s2.lagrangian": MULTIPLIED,
    "transport.s2.stationary": MULTIPLIED,
    "transport.s2.solved": MULTIPLIED,
    "transport.s2.scores": {"S": None},
    "transport.lem1": {"A": "stochastic n m"},
    "transport.s2.entropy-spreads": {"d": None},
    "transport.thm1": SCORES,
    "transport.s7.optimization": SCORES,
    "transport.s5.standard": {r"\varepsilon": "= 1", **SCORES},
}

INSTANCES: dict[str, dict[str, str | None]] = {}
