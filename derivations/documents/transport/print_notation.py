r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   Q, K, V, S and ε of Section 2, γ, a, b and C of Section 1, K = exp(−C/ε) and the scalings u, v of Sinkhorn's algorithm
          (they are exp(f/ε) and exp(g/ε)); the listings for what their variables are, with the 1e-8 that they add
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

# Plans between two distributions, and Sinkhorn's algorithm: f = ε log u and g = ε log v
PLANS = {
    "a": "simplex n",
    "b": "simplex m",
    r"\gamma": "nonnegative matrix n m as P",
    r"H(\gamma)": r"= -\sum_{ij} \gamma_{ij} \log \gamma_{ij}",
}
SCALINGS = {
    "a": "interior n",
    "b": "interior m",
    "f": "vector n",
    "g": "vector m",
    "P": "nonnegative matrix n m",
    "K_{ij}": r"= e^{-C_{ij}/\varepsilon}",
    "u_i": r"= e^{f_i/\varepsilon}",
    "v_j": r"= e^{g_j/\varepsilon}",
    "y": "nonnegative",
    "z": "positive",
    r"\mathrm{kl}(y, z)": r"= y \log\frac{y}{z} - y + z",
    r"J(P)": r"= \langle P, C \rangle - \varepsilon H(P)",
    "D(f, g)": r"= \langle a, f \rangle + \langle b, g \rangle + \varepsilon - \varepsilon \sum_{ij} u_i K_{ij} v_j",
}

# `sinkhorn`: from scalings v, one round of the loop, and what it returns
ROUND = {
    "a": "interior n",
    "b": "interior m",
    "v": "positive vector m",
    "K_{ij}": r"= e^{-C_{ij}/\varepsilon}",
    "u_i": r"= a_i/(\sum_l K_{il} v_l + 10^{-8})",
    "w_j": r"= b_j/(\sum_k K_{kj} u_k + 10^{-8})",
    r"\gamma_{ij}": r"= u_i K_{ij} w_j",
}

# `sinkhorn_attention`: n tokens, numerators 1, and v = 1/n at first
ATTENTION_ROUND = {
    "n": "size",
    "i, j, h, k, l": "index n",
    "S": "matrix n n",
    "A_{ij}": r"= e^{S_{ij}/\varepsilon} / \sum_l e^{S_{il}/\varepsilon}",
    "v_j": "= 1/n",
    "K_{ij}": r"= e^{S_{ij}/\varepsilon}",
    "u_i": r"= 1/(\sum_l K_{il} v_l + 10^{-8})",
    "w_j": r"= 1/(\sum_k K_{kj} u_k + 10^{-8})",
    r"\gamma_{ij}": r"= u_i K_{ij} w_j",
}

# `LinearAttentionAsOT`: queries and keys enter by their features alone, so that q and k are written for φ(q) and φ(k)
FEATURES = {
    "F": "size as w",
    "q": "nonnegative matrix n F as X",
    "k": "nonnegative matrix m F as Y",
    "v": "vector m as V",
    "z": "real",
    r"\phi(z)": "= z",
    r"\kappa_{ij}": r"= \langle q_i, k_j \rangle",
    "W_{ij}": r"= \kappa_{ij}/(\sum_l \kappa_{il} + 10^{-8})",
}

TEMPERATURE = {"H(P)": None, "d": None, "d_k": None, "Q": None, "K": None, "r": None}

CHAPTERS = {
    "section1_transport": PLANS,
    "section3_sinkhorn": SCALINGS,
    "listing_linear": FEATURES,
    "listing_temperature": TEMPERATURE,
}

MULTIPLIED = {
    "A": "positive matrix n m as W",
    r"\mathcal L(A, \lambda)": r"= \langle A, \varepsilon \log A - S \rangle + \sum_i \lambda_i (\sum_j A_{ij} - 1)",
}
SCORES = {"S": r"= Q K^\top / \sqrt d"}

CLAIMS = {
    "transport.s2.lagrangian": MULTIPLIED,
    "transport.s2.stationary": MULTIPLIED,
    "transport.s2.solved": MULTIPLIED,
    "transport.s2.scores": SCORES,
    "transport.lem1": {"A": "stochastic n m"},
    "transport.s1.couplings": {r"\gamma_{ij}": "= a_i b_j"},
    "transport.s2.particles": {"a_i": r"= \sum_j P_{ij}"},
    "transport.s2.uniform-target": {"b_j": "= 1/m"},
    "transport.s2.cost": {**SCORES, "C": "= -S", "q": "matrix n d_k as Q", "k": "matrix m d_k as K"},
    "transport.s2.constraint": {"b": "simplex m"},
    "transport.s2.entropy-spreads": {
        **TEMPERATURE,
        "s": "vector m",
        "p_j": r"= e^{s_j/\varepsilon} / \sum_l e^{s_l/\varepsilon}",
    },
    "transport.thm1": SCORES,
    "transport.s7.optimization": SCORES,
    "transport.s5.standard": {r"\varepsilon": "= 1", **SCORES},
    "transport.s1.sinkhorn": {
        **SCALINGS,
        r"\gamma": "nonnegative matrix n m as P",
        "P": None,
        r"H(P)": None,
        "J(P)": None,
        r"J(\gamma)": r"= \langle \gamma, C \rangle - \varepsilon H(\gamma)",
        r"\gamma^{(t)}_{ij}": "= e^{f_i/\\varepsilon} K_{ij} v_j",
        "u_i": r"= a_i/\sum_j K_{ij} v_j",
        "D(f, g)": None,
        "D^{(t+1)}": r"= \varepsilon \langle a, \log u \rangle + \langle b, g \rangle"
        r" + \varepsilon - \varepsilon \sum_{ij} u_i K_{ij} v_j",
    },
    "transport.s3.sinkformers": {
        **SCALINGS,
        r"P^\star": "nonnegative matrix n m as P",
        "P": None,
        "W": "positive matrix n m",
        "U": "positive matrix n m",
        "H(P)": None,
        "J(P)": None,
        "J(W)": r"= \langle W, C \rangle + \varepsilon \sum_{ij} W_{ij} \log W_{ij}",
        r"\mathrm{KL}(W, U)": r"= \sum_{ij} (W_{ij} \log\frac{W_{ij}}{U_{ij}} - W_{ij} + U_{ij})",
        "W^{(t)}_{ij}": "= u_i K_{ij} v_j",
        "W^{(t+1)}_{ij}": r"= a_i K_{ij} v_j/\sum_l K_{il} v_l",
        "D^{(t)}": r"= \langle a, f \rangle + \langle b, g \rangle + \varepsilon - \varepsilon \sum_{ij} u_i K_{ij} v_j",
    },
    "transport.s4.flash-tiles": {
        "i, h": None,
        "N": "size as t1",
        "M": "size as t2",
        "x": "vector N",
        "y": "vector M",
        "j": "index N as a",
        "k": "index M",
        "Z_1": r"= \sum_{j=1}^N e^{x_j}",
        "Z_2": r"= \sum_{k=1}^M e^{y_k}",
        "A_j": r"= \frac{e^{x_j}}{Z_1 + Z_2}",
    },
    "transport.s4.shift-invariance": {"c": "vector n as o"},
    "transport.s4.kernel": {"F": "size", "x": "matrix n F", "z": "vector n", "y": "real", r"\phi(y)": "= y"},
    "transport.listing.AttentionAsOT.heads": {
        r"d_{\mathrm{model}}": "size as d_model",
        r"n_{\mathrm{heads}}": "size as H",
        "d_k": "size as g",
    },
    "transport.listing.sinkhorn_divergence.one-cost": {
        "x, y": "vector d",
        r"\delta": "vector d",
        r"S_\varepsilon(\delta_x, \delta_y)": r"= \|x - y\|^2 - \tfrac12 \|x - y\|^2 - \tfrac12 \|x - y\|^2",
    },
    "transport.listing.sinkhorn_divergence.distance": {
        "i, k": "index n",
        "S": "matrix n n",
        r"\delta": "vector n",
        "p, q": "fixed",
        r"S_\varepsilon(p, q)": r"= -S_{ik} + \tfrac12 S_{ii} + \tfrac12 S_{kk}",
    },
    "transport.listing.sinkhorn_divergence.value": {
        "u": "positive vector n",
        "v": "positive vector m",
        r"\gamma_{ij}": r"= u_i e^{-C_{ij}/\varepsilon} v_j",
        r"H(\gamma)": r"= -\sum_{ij} \gamma_{ij} \log \gamma_{ij}",
        "p, q": "fixed",
        r"\mathrm{OT}_\varepsilon(p, q)": r"= \langle \gamma, C \rangle",
    },
    "transport.listing.compute_attention_ot_divergence.overflow": {"S": "= -C"},
    "transport.listing.run_ot_attention_experiment": {
        "x": "vector m as X",
        "w, y": "real",
        "P, B": "simplex m",
        "v_j": "= w x_j",
        r"\mathrm{out}_{\mathrm{std}}": r"= \sum_j P_j w x_j",
        r"\mathrm{out}_{\mathrm{OT}}": r"= \sum_j B_j y x_j",
    },
    "transport.listing.LinearAttentionAsOT.kernel": {
        "q": "matrix n F as z",
        "k": "matrix n F as y",
        "c": "vector n",
        r"\mathrm{ReLU}(z)": "= (z)_+",
    },
    "transport.listing.LinearAttentionAsOT.features": {"t": "real", r"\mathrm{ReLU}(t)": "= (t)_+"},
    "transport.listing.LinearAttentionAsOT.stable": {
        "s": "positive",
        "q": None,
        "k": None,
        "X": "nonnegative matrix n F",
        "Y": "nonnegative matrix m F",
        r"\kappa_{ij}": None,
        "W_{ij}": None,
        r"\mathrm{out}_i(X, Y)": r"= \frac{\sum_j \langle X_i, Y_j \rangle v_j}{\sum_j \langle X_i, Y_j \rangle + 10^{-8}}",
    },
    "transport.listing.OptimalTransportAttention.epsilon": {
        "y": "real",
        r"\mathrm{softplus}(y)": r"= \log(1 + e^y)",
        r"\varepsilon_{\mathrm{start}}": r"= \mathrm{softplus}(y)",
    },
    "transport.listing.OptimalTransportAttention.temperature": {"y": "real", r"\mathrm{softplus}(y)": r"= \log(1 + e^y)"},
    "transport.listing.OptimalTransportAttention.mask": {"h": "index m", "M_{ij}": "= 0"},
    "transport.listing.sinkhorn.optimal": {
        **PLANS,
        r"\gamma": None,
        r"\gamma_{ij}": r"= u_i e^{-C_{ij}/\varepsilon} v_j",
        "R": "nonnegative matrix n m",
        "u": "positive vector n",
        "v": "positive vector m",
        r"H(\gamma)": None,
        "H(P)": r"= -\sum_{ij} P_{ij} \log P_{ij}",
    },
    "transport.listing.sinkhorn.columns": ROUND,
    "transport.listing.sinkhorn.shift": {
        "a": "interior n",
        "b": "interior m",
        "v": "positive vector m",
        "t": "real",
        "u_i(C)": r"= a_i/(\sum_l e^{-C_{il}/\varepsilon} v_l + 10^{-8})",
        "w_j(C)": r"= b_j/(\sum_k e^{-C_{kj}/\varepsilon} u_k(C) + 10^{-8})",
        r"\gamma_{ij}(C)": r"= u_i(C) e^{-C_{ij}/\varepsilon} w_j(C)",
    },
    "transport.listing.sinkhorn_attention.shift": {
        **ATTENTION_ROUND,
        "t": "real",
        "v_j": None,
        "v": "positive vector n",
        "K_{ij}": None,
        "u_i": None,
        "w_j": None,
        "u_i(S)": r"= 1/(\sum_l e^{S_{il}/\varepsilon} v_l + 10^{-8})",
        "w_j(S)": r"= 1/(\sum_k e^{S_{kj}/\varepsilon} u_k(S) + 10^{-8})",
        r"\gamma_{ij}": None,
        r"\gamma_{ij}(S)": r"= u_i(S) e^{S_{ij}/\varepsilon} w_j(S)",
    },
    "transport.listing.sinkhorn_attention.one-iteration": {**ATTENTION_ROUND, "T": "= 1"},
    "transport.listing.sinkhorn_attention.marginals": {**ATTENTION_ROUND, "b_j": "= 1/n"},
    "transport.listing.sinkhorn_attention.overflow": ATTENTION_ROUND,
    "transport.listing.analyze_attention_temperature.entropy": {"A": "stochastic n m"},
    "transport.listing.analyze_attention_temperature.max-attention": {
        "g": "nonnegative vector m",
        "Z": r"= \sum_l e^{-g_l/\varepsilon}",
        r"A_{\max}": "= 1/Z",
    },
    "transport.listing.analyze_attention_temperature.effective-size": {
        "A": "stochastic n m",
        r"n_{\mathrm{heads}}": "positive as H",
    },
    "transport.listing.analyze_attention_temperature.average": {
        "h": "vector n",
        r"\mathrm{size}": r"= \exp(\tfrac1n \sum_i h_i)",
    },
}

INSTANCES: dict[str, dict[str, str | None]] = {"transport.s1.entropic": {r"\gamma_{ij}": "= a_i b_j"}}
