"""What a symbol, a bracket or an operator means in its place: slopes at points, means over laws, entries, norms, ranges."""

from __future__ import annotations

import re

import pytest

from derivations.latex import Notation, read
from derivations.latex.tree import LatexError

NOTATION = Notation(
    {
        "m, n, d": "size",
        "i, j, k, l": "index m",
        "a, b": "index n",
        r"\tau, \gamma": "positive",
        "x, y": "real",
        "s, u": "vector m",
        "v, w": "vector d",
        "q": "simplex m",
        "r": "interior m",
        "K": "matrix m d",
        "S": "matrix m m",
        "t": "point of K",
        r"\mathcal{T}": "= m",
        "f(v)": r"= \tfrac12 v^\top v + x \langle v, w\rangle",
        "g(v, w)": r"= (v^\top w)^2",
        "h(x)": "= x^3",
        "p_j": r"= e^{s_j/\tau} / \sum_l e^{s_l/\tau}",
        r"\phi(s)": r"= \tau\log\sum_l e^{s_l/\tau}",
        r"\rho(v)": "normal w",
        r"\mathrm{masked}(i)": "real",
        r"\cos\gamma": "real",
        "z": "index n",
        "P(z)": "distribution",
    }
)

TRUE = [
    # slopes
    r"\nabla f(v) = v + x w",
    r"\nabla_v f(v) = v + x w",
    r"\nabla f(w) = w + x w",
    r"\nabla_v f(w) = (1 + x) w",
    r"\nabla_v g(v, w) = 2 (v^\top w) w",
    r"\nabla_w g(v, w) = 2 (v^\top w) v",
    r"\nabla_v g(K^\top s, w) = 2 (s^\top K w) w",
    r"\nabla_v f(v)^\top = v^\top + x w^\top",
    r"\nabla_v f(w)^\top v = (1 + x) w^\top v",
    r"\nabla_s^2 \phi(s)^\top = \nabla_s^2 \phi(s)",
    r"\partial f(v)/\partial x = \langle v, w\rangle",
    r"y \, \partial h(x)/\partial x + y = 3 x^2 y + y",
    r"\partial x y/\partial x = y",
    r"\frac{\partial h(x)}{\partial x}\Big|_{x = y} = 3 y^2",
    r"\frac{\partial f(v)}{\partial v}\Big|_{v = w} = (1 + x) w",
    r"\frac{\partial}{\partial x} \frac{\partial}{\partial y} (x y^2) = 2 y",
    r"\partial_x \frac{\partial h(x)}{\partial x} = 6 x",
    r"\frac{\partial^2}{\partial x \partial y} (x y^2) = 2 y",
    r"h'(y) + h'(x)^2 = 3 y^2 + 9 x^4",
    # means, laws and points
    r"\int \rho(v) dv = 1",
    r"\int \rho(v) e^{\langle v, w\rangle + x} dv = e^{\frac32 \|w\|^2 + x}",
    r"\int e^{2 \langle v, w\rangle} \rho(v) \mathrm{d} v = e^{4 w^\top w}",
    r"\int r(t) dt = 1",
    r"\int r(t) t \, dt = K^\top r",
    r"\int r(t') s(t') \, dt' = s^\top r",
    r"\sum_t r(t) t = \sum_i r(t_i) t_i",
    r"\mathbb E_{t\sim r}[t] = K^\top r",
    r"\mathrm{softmax}_j(s/\tau) = p_j",
    r"\mathrm{softmax}(s/\tau)_j = p_j",
    r"\sum_{t\in\mathcal{T}} t = K^\top\mathbf 1",
    # brackets, entries and norms
    r"|m| = m",
    r"\|v\|^2 = v^\top v",
    r"\|v\| \ge 0",
    r"\|s\|_2^2 = \langle s, s\rangle",
    r"\|K\|_F^2 = \mathrm{tr}(K K^\top)",
    r"\|r\|_1 = 1",
    r"\|s\|_1 \ge 0",
    r"\|x r\|_1^2 = x^2",
    r"\max(x, y) + \min(x, y) = x + y",
    r"\max(x, y) \ge x",
    r"\min(x, y) \le y",
    r"[x]_+ - [-x]_+ = x",
    r"[x]_+^2 \ge 0",
    r"[s_i]_i = s",
    r"[s]_i = s_i",
    r"[s_i]_{i=1}^m = s",
    r"[q_i]_i^\top \mathbf 1 = 1",
    r"\langle v, w\rangle_2 = v^\top w",
    r"\langle x, y\rangle = x y",
    r"s \cdot u = u^\top s",
    r"\mathrm{LSE}(s) = \log\sum_j e^{s_j}",
    r"\mathrm{tr}(S) = \sum_i S_{ii}",
    r"\mathrm{diag}(S)_i = S_{ii}",
    r"\mathrm{sigmoid}(x) = 1 - \mathrm{sigmoid}(-x)",
    r"\mathbb E_q[x] = x",
    r"\mathbb E_q[S] = S^\top q",
    r"\mathrm{Cov}_{i\sim q}(s_i, u_i) = \mathbb E_q[s \odot u] - \mathbb E_q[s]\mathbb E_q[u]",
    r"\mathrm{KL}(P(z) \| P(z)) = 0",
    r"I_m s = s",
    r"I^\top s = s",
    r"\mathbf 1_m^\top q = 1",
    r"s_i = \begin{cases} s_j & \text{if } i = j \\ s_i & \text{otherwise} \end{cases}",
    r"s_i \mathrm{masked}(i) = \begin{cases} s_i & \text{if } \mathrm{masked}(i) \\ 0 & \text{otherwise} \end{cases}",
    r"\sum_{j\in\mathcal{T}} q_j = 1",
    r"2 \cos\gamma = \cos\gamma + \cos\gamma",
    # ranges and bounds
    r"\prod_{j=1}^m e^{s_j} = e^{\sum_j s_j}",
    r"\min_{q \in \Delta^{m-1}}\{\langle q, s\rangle - \tau H(q)\} = -\tau\log\sum_l e^{-s_l/\tau}",
    r"q = |q| \in \mathbb{R}_+^m",
    r"\lim_{x\to\infty} \frac{1}{x} = 0",
]

FALSE = [
    r"\nabla f(v) = v + w",
    r"\int \rho(v) e^{\langle v, w\rangle} dv = e^{\frac12 \|w\|^2}",
    r"\int s(t) dt = 1",
    r"\mathrm{softmax}_j(s) = p_j",
    r"\nabla_v f(w) = w",
    r"\nabla_v g(v, w) = 2 (v^\top w) v",
    r"\partial f(v)/\partial x = \langle v, v\rangle",
    r"\frac{\partial h(x)}{\partial x}\Big|_{x = y} = 3 x^2",
    r"\|s\|_1 = \sum_i s_i",
    r"\max(x, y) = x",
    r"\min(x, y) = y",
    r"[x]_+ = x",
    r"\mathrm{tr}(S) = \sum_{i,j} S_{ij}",
    r"\mathrm{diag}(S)_i = S_{ij}",
    r"\mathrm{sigmoid}(x) = \mathrm{sigmoid}(-x)",
    r"\mathrm{LSE}(s) = \log\sum_j s_j^2",
    r"|s_i| = s_i",
    r"\mathbb E_q[x] = x + 1",
]

REFUSED = [
    (r"\nabla = 1", "expected a function after it, got nothing"),
    (r"\nabla_s^3 \phi(s) = 1", "expected no power or 2, got 3"),
    (r"\nabla g(v, w) = v", "expected a variable as subscript, since g is no function of one argument"),
    (r"\nabla s = 1", "expected a variable as subscript, since s is no function of one argument"),
    (r"\partial_x = 1", "expected a function after it, got nothing"),
    (r"f'(v) = v", "expected a function of one real number, got one of (v)"),
    (r"g'(v, w) = v", "expected a function of one real number, got one of (v, w)"),
    (r"\frac{\partial x}{\partial K} = 1", "expected a number or a vector, got a matrix [m×d]"),
    (r"\frac{\partial h(x)}{\partial x}\Big|_{x = v} = 1", "expected two values of one shape at a point"),
    (r"\frac{\partial h(x)}{\partial x}\Big|_{x + 1 = y} = 1", "expected a variable of the notation at a point, got"),
    (r"\frac{\partial h(x)}{\partial x}\Big|_{x \ge y} = 1", "expected x = y below the bar"),
    (r"\log = 1", r"\log: expected an argument, got none"),
    (r"\mathrm{tr} = 1", "trace: expected an argument in parentheses, got nothing"),
    (r"\mathrm{tr} S = 1", "trace: expected an argument in parentheses, got S"),
    (r"\mathrm{tr}(K) = 1", "tr: expected a square matrix, got a matrix [m×d]"),
    (r"\mathrm{tr}(s) = 1", "tr: expected a square matrix, got a vector [m]"),
    (r"\mathrm{diag}(x) = 1", "diag: expected a vector or a matrix, got a number"),
    (r"\mathrm{softmax}(x) = 1", "softmax: expected a vector, got the number x"),
    (r"\mathrm{LSE}(K) = 1", "logsumexp: expected a vector, got a matrix"),
    (r"H(x) = 1", "entropy: expected a vector, got the number x"),
    (r"\mathrm{KL}(q) = 1", "KL: expected two distributions, got q"),
    (r"\mathrm{KL}(x \| y) = 1", "KL: expected two vectors, got a number and a number"),
    (r"\mathrm{tr}(S)_i = 1", "trace: expected no subscript, got i"),
    (r"\mathrm{softmax}_i(s)_j = s_i", "softmax: expected one subscript, got i and j"),
    (r"\mathrm{Cov}_q(s) = 1", "covariance: expected two arguments, got s"),
    (r"\mathrm{Var}_q(S) = 1", "variance: expected numbers, got a vector"),
    (r"x + \mathbb E_t[t] = x", "expected a distribution as subscript"),
    (r"\mathbb E_q = 1", "expectation: expected an argument, got nothing"),
    (r"\mathbb E_x[s] = 1", "expected a distribution as subscript, got the number x"),
    (r"\mathbb E_{ij \sim q}[s_i] = 1", "expected 1 indices before ∼, got i j"),
    (r"\mathbb E_q[s_i] = 1", "can be the mean over i or that of a number for one i"),
    (r"\mathbb E_q[v] = 1", "expectation: expected a vector over m, got a vector [d]"),
    (r"\delta_i = 1", "expected two indices, got i"),
    (r"\delta = 1", "expected two indices, got none"),
    (r"\langle v \rangle = 1", "expected ⟨a, b⟩, got v"),
    (r"\langle v, s \rangle = 1", "expected two values of one shape, got a vector [d] and a vector [m]"),
    (r"\|x\|^2 = 1", "norm: expected a vector or a matrix, got a number"),
    (r"\|s\|_3 = 1", "expected the Euclidean norm (no name, 2 or F) or that of absolute values (1), got 3"),
    (r"\|s\|^{(2)} = 1", "expected a power without parentheses, got (2)"),
    (r"\max(x, y, \tau) = 1", r"\max: expected two arguments in parentheses"),
    (r"\max_{i,j} S_{ij} \le x", "expected one index below, got i, j"),
    (r"s_i = \begin{cases} s_j & \text{otherwise} \\ s_i & \text{if } i = j \end{cases}", "in the first row, got otherwise"),
    (r"x / s = 1", "expected a number below, got a vector"),
    (r"\frac{x}{S} = 1", "expected a number below, got a matrix"),
    (r"x \cdot = 1", "expected a factor on each side of \\cdot, got one"),
    (r"(x, y) = 1", "expected one expression in brackets, got"),
    (r"(x = y) = 1", "expected an expression, got a relation"),
    (r"S^2 = 1", "expected a number or a vector to the power 2, got a matrix"),
    (r"s^{(k)} = 1", "the superscript (k) can be a label, the order of a derivative or a power"),
    (r"[s_i]_{i=1}^n = s", "expected entries up to m, got n"),
    (r"s + s^\top = s", "expected two rows or two columns, got one of each"),
    (r"s S = s", "expected a row before a matrix, got a column"),
    (r"S s^\top = s", "expected a column after a matrix, got a row"),
    (r"S K^\top = S", "expected factors whose inner sizes agree, got a matrix [m×m] and a matrix [d×m]"),
    (r"v + s = v", "expected two values of one shape, got a vector [d] and a vector [m]"),
    (r"\sum_j v_j K_{ja} = 1", "expected an index over"),
    (r"s = 1", "expected two sides of one shape, got a vector [m] and a number"),
    (r"\mathbf 1 = \mathbf 1", "expected sides with a length, got only ones or identity matrices"),
    (r"\|\mathbf 1\|^2 = m", "expected a vector whose length is known"),
    (r"\sum s = 1", "expected an index below, got none"),
    (r"\sum_{i \ne x} q_i = 1", "x"),
    (r"\sum_{i=1}^{x} q_i = 1", "expected a size of the notation as the last value, got x"),
    (r"\sum_{i=1, i \ne a}^m q_i = 1", "expected the range of a, got 1 to m"),
    (r"\int \rho(v) (v^\top v) dv = 1", "expected the exponential of a linear function of v"),
    (r"\lim_{x \to 1^+} x = 1", "expected a limit from both sides or at 0"),
    (r"\lim_{x = 1} x = 1", "expected x \\to a below and an expression after it"),
    (r"x \propto y", "expected an index at the end of the left side, got x"),
    (r"x = 1 \text{ for } y \in K", "expected a condition such as x > 0"),
    (r"\forall x", r"expected a statement, got the expression \forall x"),
    (r"x + y", "expected a relation such as a = b"),
]


@pytest.mark.parametrize("latex", TRUE)
def test_what_is_true_is_proved(latex: str) -> None:
    relations = read(latex, NOTATION)
    assert relations
    for relation in relations:
        assert relation.trivial() or relation.prove(), relation
        assert relation.counterexample() is None


@pytest.mark.parametrize("latex", FALSE)
def test_what_is_false_is_refuted(latex: str) -> None:
    assert any(relation.counterexample() for relation in read(latex, NOTATION))


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_what_cannot_be_read_says_why(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=re.escape(why)):
        read(latex, NOTATION)
