r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   (4) to (20) of the document, whose definitions are those of the later version; τ of Corollary 1 and (21)
"""

from derivations.documents.deciphering import print_notation as later

SYMBOLS = {**later.SYMBOLS, r"\tau": "positive as tau"}

CHAPTERS: dict[str, dict[str, str | None]] = {}

# (21) has 1/√τ where (20) has α
BY_TAU = {r"\tau": r"= \alpha^{-2}"}
CLOSED = r"= \sum_i t_i u_i \exp(\langle t_i, z \rangle/\sqrt\tau) / \sum_j u_j \exp(\langle t_j, z \rangle/\sqrt\tau)"

# Section 7 with τ = d: the scores are divided by √d
SCALED = r"= \sum_i t_i u_i \exp(\langle t_i, z \rangle/\sqrt d) / \sum_l u_l \exp(\langle t_l, z \rangle/\sqrt d)"

# Templates that grow, with the evidence as it is: P of (6) as a function of T, z and α
GROWING = {**later.SCALED, "z": "vector d"}

# Weight moves from t_0 to the others; all weights are divided by their sum
MOVED = {
    "p": None,
    "q": "simplex n as p",
    "g": "simplex n",
    "x, y": "positive",
    "t_0": r"= \sum_i g_i t_i",
    "p_0": r"= (x + y)/(1 + x + y)",
    "p_i": r"= q_i/(1 + x + y)",
    "p_0'": r"= x/(1 + x + y)",
    "p'_i": r"= (q_i + y g_i)/(1 + x + y)",
}

# u without a superscript is defined nowhere, so it is another law v than the preference w of the output k
OF_OUTPUT = {
    "u": "interior n as v",
    "w": "interior n as u",
    "u^{(k)}_i": "= w_i",
    r"\tilde p^{(k)}_i": r"= w_i \exp\langle t_i, \lambda^* \rangle / \sum_j w_j \exp\langle t_j, \lambda^* \rangle",
}

CLAIMS = {
    "inference.s0.convex": later.CONVEX,
    "inference.s0.closed-form": {r"\hat h_{(20)}": later.CLOSED},
    "inference.s2.not-identifiable": MOVED,
    "inference.s2.hopfield": later.HOPFIELD,
    "inference.s3.perspectives": later.MEM,
    "inference.s3.dual-point": later.GAUSSIAN,
    "inference.2": later.GAUSSIAN_MINIMIZER,
    "inference.3": later.GAUSSIAN_DUAL,
    "inference.s3.mgf": later.GAUSSIAN_LAW,
    "inference.s3.proportional": later.GAUSSIAN_TILT,
    "inference.s3.estimate": later.GAUSSIAN,
    "inference.s4.words-so-far": later.PAIR,
    "inference.s4.caption-places": later.CAPTION,
    "inference.s5.minimizer": later.STATIONARY,
    "inference.s5.alpha-likelihood": later.SET_ALPHA,
    "inference.s5.perspectives": later.MEM,
    "inference.s6.gradient-ascent": {r"\nu": "vector d as nu"},
    "inference.s6.small-dual": later.STATIONARY,
    "inference.17": later.STATIONARY,
    "inference.18": later.STATIONARY,
    "inference.19": later.STATIONARY,
    "inference.20": later.STATIONARY,
    "inference.cor1": {**later.STATIONARY, r"\alpha": r"= 1/\sqrt\tau"},
    "inference.s7.dot-product": {**later.UNIFORM, **BY_TAU, r"\hat h_{(21)}": CLOSED},
    "inference.s7.two-pieces": {**BY_TAU, "p_i": later.ATTENTION},
    "inference.s7.context-dependent": {**later.WEIGHED, **BY_TAU},
    "inference.s4.strong-constraint": later.SUPPORT,
    "inference.fn1": {**later.POSITIONS, "k": "fixed index n", "u_i^{(k)}": r"= e^{b_{k-i}} / \sum_l e^{b_{k-l}}"},
    "inference.s6.mgf": later.RANDOM,
    "inference.s7.unified": {**later.POSITIONS, "u_i": later.POSITIONS[r"u_i^{(j)}"]},
    "inference.s7.finite-moments": {**later.MOMENTS, "x": "vector d"},
    "inference.s7.small-alpha": {r"\hat h_{(20)}": later.CLOSED},
    "inference.s7.growing-templates": GROWING,
    "inference.s3.minimizer": later.GAUSSIAN_MINIMIZER,
    "inference.s5.log-likelihood": later.LIKELIHOOD,
    "inference.s6.superscript": OF_OUTPUT,
    "inference.22": later.MASKED,
    "inference.23": {**later.POSITIONS, "u_i": later.POSITIONS[r"u_i^{(j)}"], r"\hat h": SCALED},
}

INSTANCES: dict[str, dict[str, str | None]] = {}
