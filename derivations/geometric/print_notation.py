r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   S, p, T of Section 1, x and γ of Section 2, where cos γ is the cosine of the angle between p and x, Ω of Section 3,
          f, θ, φ of Sections 4 and 5
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
    r"\cos\gamma": r"= \frac{\|p\|^2 + \|x\|^2 - \|p - x\|^2}{2 \|p\| \|x\|}",
    r"\Omega(p)": r"= -H(p)",
    "f": "vector S",
    r"\theta": "vector M as theta",
    r"\phi": "matrix S M as phi",
    "p^\\star_t": r"= e^{f_t} / \sum_s e^{f_s}",
}

CHAPTERS = {
    "section4_summary": {r"\cos\gamma": r"= \frac{\|f\|^2 + \|p\|^2 - \|f - p\|^2}{2 \|f\| \|p\|}"},
}

CLAIMS = {
    "geometric.1": {"T": "fixed", "d_v": "size as d", "v": "matrix S d_v as V", "V(T)": "= v", "c": r"= \sum_t p_t v_t"},
    "geometric.3": {r"\Omega(p)": r"= \omega", r"\omega": "real as omega"},
}

INSTANCES: dict[str, dict[str, str | None]] = {}
