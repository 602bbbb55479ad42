"""What the symbols of the paper stand for: The evidence lower bound of a finite latent variable.

Correct what is guessed wrong; see docs/a_document_of_your_own.md for what a line may say.
"""

from derivations import Notation

NOTATION = Notation({
    "K": "size",  # line 18: $k = 1, \dots, K$
    r"\ell": "vector K",  # line 19: $\ell \in \mathbb{R}^K$
    "q": "simplex K",  # line 19: $q \in \Delta^{K-1}$
    "Z": r"= \sum_{k = 1}^{K} e^{\ell_{k}}",  # line 21
    "p_{k}": r"= \frac{e^{\ell_{k}}}{Z}",  # line 22
    r"\mathcal{L} (q)": r"= \sum_{k} q_{k} \ell_{k} - \sum_{k} q_{k} \log q_{k}",  # line 30
    "t": "vector K",  # line 49: $t \in \mathbb{R}^K$
    "h": "positive vector K",  # line 49: $h_k > 0$
    r"\theta": "real",  # line 49: $\theta \in \mathbb{R}$
    r"A (\theta)": r"= \log \sum_{k = 1}^{K} h_{k} e^{\theta t_{k}}",  # line 52
    "f_{k}": r"= h_{k} e^{\theta t_{k} - A (\theta)}",  # line 53
    r"\beta": "positive",  # line 70: $\beta > 0$
    "F (q)": r"= \mathbb{E}_{q} [\ell] + \beta H (q)",  # line 72
    "r_{k}": r"= \frac{e^{\ell_{k} / \beta}}{\sum_{j} e^{\ell_{j} / \beta}}",  # line 76
    "k": "index K",  # a bound index
    "j": "index K",  # a bound index
})
