r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   S, p, T, V and c of Section 1, x and γ of Section 2, where cos γ is the cosine of the angle between p and x, Ω of
          Section 3, f of Section 4, θ, φ of Section 5; θ₀ is the value of θ(x) before x is observed, and p⁰ the weights there;
          Section 8 is an addition: scores θ₁t + θ₂t² with θ₂ = −b, whose density is N(μ, σ²)
"""

SYMBOLS = {
    "d, D": "size",
    "M": "size",
    "S": "size as m",
    "j, k, l, s, t": "index S",
    "r": "index D",
    "b": "index M",
    "p": "simplex S",
    "x": "vector S",
    "V": "matrix S d",
    r"\cos\gamma": r"= \frac{\|p\|^2 + \|x\|^2 - \|p - x\|^2}{2 \|p\| \|x\|}",
    r"\Omega(p)": r"= -H(p)",
    "f_x": "vector S as f",
    "f(x)": "= f_x",
    r"\vartheta": "vector M as theta",
    r"\theta(x)": r"= \vartheta",
    r"\phi": "matrix S M as phi",
    "p^\\star_t": r"= e^{f_t(x)} / \sum_s e^{f_s(x)}",
}

# Section 4: γ is the angle between p and f(x)
SUMMARY = {r"\cos\gamma": r"= \frac{\|f_x\|^2 + \|p\|^2 - \|f_x - p\|^2}{2 \|f_x\| \|p\|}"}

# (6): the summary is a combination of the basis functions
BASIS = {
    "f_x": None,
    "f_t(x)": r"= \theta^T(x) \phi(t)",
    "p_t(x)": r"= e^{\theta^T(x) \phi(t)} / \sum_s e^{\theta^T(x) \phi(s)}",
    r"\theta_0": "vector M as start",
    "p^0_t": r"= e^{\theta_0^T \phi(t)} / \sum_s e^{\theta_0^T \phi(s)}",
}

# The same with θ as a variable for differentiation, or with the value that a claim gives it
COEFFICIENTS = {
    **BASIS,
    "f(x)": None,
    r"\theta(x)": None,
    r"\vartheta": None,
    "p_t(x)": None,
    r"\theta": "vector M as theta",
    "f_t": r"= \theta^T \phi(t)",
    "f_t(x)": None,
    r"p^\star_t": r"= e^{\theta^T \phi(t)} / \sum_s e^{\theta^T \phi(s)}",
}

CONTINUOUS = {
    "b": "positive",
    "t": "vector S as x",
    "s": "positive",
    "a, h, v": "positive",
    "K": "size",
    "c": "real",
    r"\theta_1": "real as theta1",
    r"\theta_2": "= -b",
    r"\mu": "real as mu",
    r"\sigma^2": "= v",
    r"\mathcal N(z)": r"= \tfrac{1}{\sqrt{2 \pi \sigma^2}} \exp(-(z - \mu)^2/(2 \sigma^2))",
    "z": "real",
}

CHAPTERS = {
    "section4_summary": SUMMARY,
    "section5_basis": BASIS,
    "section7_prediction": COEFFICIENTS,
    "section8_continuous": CONTINUOUS,
    "section8_grids": CONTINUOUS,
}

CLAIMS = {
    "geometric.1": {
        "T": "fixed",
        "d_v": "size as d",
        "v": "matrix S d_v as V",
        "V": None,
        "V(T)": "= v",
        "c": r"= \sum_t p_t v_t",
    },
    "geometric.3": {r"\Omega(p)": r"= \omega", r"\omega": "real as omega"},
    "geometric.s1.context": {
        "b": "real as bound",
        "v": "vector d",
        "c": r"= \sum_t p_t V(t)",
        r"\sigma": "nonnegative vector S as s",
        "u_t": r"= b - \sigma_t",
    },
    "geometric.s1.value": {"g": "vector d", "T": "index S"},
    "geometric.s1.random-location": {"T": "index S"},
    "geometric.s2.basis-vector": {
        "t": "fixed index S as best",
        r"\sigma": "nonnegative vector S as s",
        r"\top": "real as top",
        "x_s": r"= \top - (1 - \delta_{st}) \sigma_s",
        "e_t": r"= [\delta_{jt}]_j",
    },
    "geometric.s3.close-to-practice": {"s": "vector S"},
    "geometric.s3.unique-inside": {"p^\\star_t": r"= e^{x_t} / \sum_s e^{x_s}"},
    "geometric.s0.smooths": {"z": "random vector S"},
    "geometric.s2.not-the-direction": {
        "t": "index S as best",
        "e_t": r"= [\delta_{jt}]_j",
        "x, y": "nonzero vector S",  # else there is no angle
        r"\sin^2\angle(y, x)": r"= 1 - \frac{\langle y, x \rangle^2}{\|y\|^2 \|x\|^2}",
    },
    "geometric.6": {"x": "matrix S D as X"},
    "geometric.s5.backpropagation": {**COEFFICIENTS, r"\nabla_f L": "vector S as g", "L": r"= \sum_t f_t (\nabla_f L)_t"},
    "geometric.s5.additive-score": {
        **COEFFICIENTS,
        "H": "size",
        "W": "matrix H d",
        "U": "matrix H D",
        "v": "vector H",
        "s": "vector d as state",
        "h": "matrix S D as X",
        "e_t": r"= [\delta_{jt}]_j",
        r"\theta": None,
        r"\theta_t": r"= v^T \tanh(W s + U h_t)",
        r"\phi": None,
        r"\phi(t)": "= e_t",
        "f_t": r"= \langle \theta, \phi(t) \rangle",
    },
    "geometric.s5.dot-product": {
        r"\vartheta": None,
        "q": "vector M as Q",
        "k": "matrix S M as K",
        r"\phi(t)": "= k_t",
        r"\theta(x)": r"= q/\sqrt M",
        "f_t": r"= \theta(x)^T \phi(t)",
    },
    "geometric.s7.jointly": {
        "T": "index S",
        r"\phi": None,
        r"\varphi": "matrix S M as phi",
        r"\phi_b(t)": r"= \varphi_{tb}",
        r"p^\star_t": r"= e^{\theta^\top \varphi_t} / \sum_s e^{\theta^\top \varphi_s}",
        r"\nabla_c L": "vector d as g",
        "c": r"= \sum_t p^\star_t V(t)",
        "L": r"= \langle \nabla_c L, c \rangle",
    },
    "geometric.s8.natural": {
        r"\mu": r"= \frac{\partial A}{\partial \theta_1}",
        r"\sigma^2": r"= \frac{\partial^2 A}{\partial \theta_1^2}",
        "A": r"= \tfrac{\theta_1^2}{4b} + \tfrac12 \log\tfrac{\pi}{b}",
        r"\mathcal N(z)": None,
        "v": None,
    },
    "geometric.s8.gradient": {
        r"\psi": "vector S as psi",
        "p_j": r"= e^{\theta_1 t_j + \theta_2 t_j^2} / \sum_k e^{\theta_1 t_k + \theta_2 t_k^2}",
        r"\mu": r"= \frac{\theta_1}{2b}",
        r"\sigma^2": r"= \frac{1}{2b}",
        r"\mu^*": r"= \frac{\theta_1 + c/s^2}{2b + 1/s^2}",
        r"\bar\psi": r"= \sqrt{\tfrac{s^2}{\sigma^2 + s^2}} \exp(-\tfrac{(\mu - c)^2}{2 (\sigma^2 + s^2)})",
    },
    "geometric.s8.ridge": {
        "b": None,
        "L, N": "size",
        "B": "vector N",
        r"\Delta": "vector N as delta",
        r"\varepsilon": "vector L as e",
        r"\lambda": "positive as lam",
        r"\Psi": "matrix L N as psi",
        "C": r"= B + \Delta",
        "v": r"= \Psi B + \varepsilon",
        "p^\\star_t": None,
        r"\phi": None,
        r"\vartheta": None,
        r"\theta(x)": None,
        r"\sigma^2": None,
        r"\mathcal N(z)": None,
        r"\theta_2": None,
    },
    "geometric.s8.softmax-on-a-grid": {"f_j": r"= (\mu t_j - \tfrac12 t_j^2)/\sigma^2"},
    "geometric.s8.sparsemax-on-a-grid": {
        r"\sigma^2": r"= \tfrac23 a^3",
        r"\hat p(\mu)": r"= \tfrac{a^2}{2 \sigma^2}",
        r"\hat p^{(h)}(\mu)": r"= \frac{1}{h (2K + 1)} + \frac{h^2}{2 \sigma^2} \frac{K (K + 1)}{3}",
        "w": r"= (K + \tfrac12) h",
    },
}

INSTANCES: dict[str, dict[str, str | None]] = {
    "geometric.s1.pmf": {"p_t": "= 1/S"},
    "geometric.s4.summary": {"x": "matrix S D as X", "w": "vector D as v", "f(x)": "= x w"},
}
