"""What the symbols of the paper stand for: Gating a mixture of experts, and balancing its load.

Correct what is guessed wrong; see docs/a_document_of_your_own.md for what a line may say.
"""

from derivations import Notation

NOTATION = Notation({
    "n": "size",  # line 13: $s_i = \sum_{a=1}^{d} W_{ia} x_a, \qquad i = 1, \do …$
    "d": "size",  # line 13: $s_i = \sum_{a=1}^{d} W_{ia} x_a, \qquad i = 1, \do …$
    "T": "size",  # line 49: $t = 1, \dots, T$
    "x": "vector d",  # line 10: $x \in \mathbb{R}^d$
    "W": "matrix n d",  # line 10: $W \in \mathbb{R}^{n \times d}$
    r"\tau": "positive",  # line 10: $\tau > 0$
    "s_{i}": r"= \sum_{a = 1}^{d} W_{i a} x_{a}",  # line 13
    "g": r"= \mathrm{softmax} (s / \tau)",  # line 14
    "v": "vector n",  # line 25: $v \in \mathbb{R}^n$
    "y": r"= \langle g,v\rangle",  # line 27
    "u": "vector n",  # line 31: $u \in \mathbb{R}^n$
    "p_{i}": r"= \frac{\exp (u_{i})}{\sum_{j = 1}^{n} \exp (u_{j})}",  # line 33
    "M": r"= \sum_{i = 1}^{n} p_{i} v_{i}",  # line 33
    "w": "vector n",  # line 43: $w \in \mathbb{R}^n$
    "G": "matrix T n",  # line 49: $G \in \mathbb{R}^{T \times n}$
    "m_{i}": r"= \frac{1}{T} \sum_{t = 1}^{T} G_{t i}",  # line 51
    "f": "simplex n",  # line 53: $f \in \Delta^{n-1}$
    r"\mathcal{B} (f)": r"= n \sum_{i = 1}^{n} f_{i}^{2}",  # line 55
    "c (f)": r"= n \sum_{i = 1}^{n} (f_{i} - \frac{1}{n})^{2}",  # line 56
    "i": "index n",  # a bound index
    "a": "index d",  # a bound index
    "j": "index n",  # a bound index
    "t": "index T",  # a bound index
})
