"""Section 9, Table 1: what its figures and its 95 % intervals support.

Claims     deciphering.s9.higher-on-every-dataset         0.937 > 0.928, 0.772 > 0.751, 0.491 > 0.463
           deciphering.s9.demonstrated-on-every-dataset   0.491 − 0.463 > √(0.01² + 0.01²), CIFAR100 only  (corrected)
           deciphering.s9.effect-of-the-layer             e + s > 0, s ≤ 0  ⟹  e > 0
Notation   accuracies and half-widths as printed, as exact decimals; the two models' means are independent; e, s the parts
           of the gain that are due to the layer and to the training
References Table 1 of the document and the paragraph before the conclusion
"""

from dataclasses import dataclass

import sympy as sp

from derivations.vocabulary import *


@dataclass(frozen=True)
class Row:
    """One dataset: accuracies of the plain model and of the one with optimal transport, with half-widths."""

    plain: sp.Rational
    plain_width: sp.Rational
    transport: sp.Rational
    transport_width: sp.Rational

    @property
    def gain(self) -> sp.Expr:
        """The difference of the two accuracies."""
        return self.transport - self.plain

    @property
    def squared_half_width(self) -> sp.Expr:
        """The square of half the 95 % interval of the difference of two independent normal means: variances add."""
        return self.plain_width**2 + self.transport_width**2


def row(*printed: str) -> Row:
    """A row from its printed decimals."""
    return Row(*map(sp.Rational, printed))


FASHION = row("0.928", "0.01", "0.937", "0.01")
CIFAR10 = row("0.751", "0.01", "0.772", "0.02")
CIFAR100 = row("0.463", "0.01", "0.491", "0.01")


@claim(
    "deciphering.tab1",
    "empirical",
    title="Table 1: test accuracy of ViT and OT-ViT",
    latex=r"\begin{array}{lccc}\text{ViT}&0.928\pm0.01&0.751\pm0.01&0.463\pm0.01\\"
    r"\text{OT-ViT}&0.937\pm0.01&0.772\pm0.02&0.491\pm0.01\end{array}",
)
def table() -> None:
    """Six-layer models of 3.2 M parameters reach these test accuracies on Fashion-MNIST, CIFAR10 and CIFAR100."""


@claim(
    "deciphering.s9.parameters",
    "empirical",
    title="Both models have 3.2 M parameters",
    latex=r"|\theta_{\text{ViT}}|=|\theta_{\text{OT-ViT}}|=3.2\text{ M}",
    needs=("deciphering.tab1",),
)
def parameters() -> None:
    """The six-layer model and the one whose last layer is replaced by transport both have 3.2 million parameters."""


@claim(
    "deciphering.s9.higher-on-every-dataset",
    "inequality",
    title="OT-ViT's accuracy is the higher one in every column",
    latex=r"0.937>0.928,\quad 0.772>0.751,\quad 0.491>0.463",
    needs=("deciphering.tab1",),
)
def higher() -> Steps:
    """In each of the three columns the accuracy printed for OT-ViT is above the one printed for ViT."""
    for each, name in ((FASHION, "Fashion-MNIST"), (CIFAR10, "CIFAR10"), (CIFAR100, "CIFAR100")):
        yield AtLeast(each.transport, each.plain, strict=True, reason=name)


higher.twin("the rows are swapped for Fashion-MNIST", lambda: AtLeast(FASHION.plain, FASHION.transport, strict=True))
higher.twin("the rows are swapped for CIFAR10", lambda: AtLeast(CIFAR10.plain, CIFAR10.transport, strict=True))
higher.twin("the rows are swapped for CIFAR100", lambda: AtLeast(CIFAR100.plain, CIFAR100.transport, strict=True))


def separated(each: Row, reason: str = "") -> AtLeast:
    """The difference, which is positive, exceeds half its interval; both squared."""
    return AtLeast(each.gain**2, each.squared_half_width, strict=True, reason=reason)


@claim(
    "deciphering.s9.demonstrated-on-every-dataset",
    "inequality",
    title="Table 1 demonstrates the advantage on every dataset",
    latex=r"x_{\text{OT-ViT}}-x_{\text{ViT}} > \sqrt{w_{\text{OT-ViT}}^2+w_{\text{ViT}}^2}\ \text{in every column}",
    hypotheses=("the printed intervals are 95 % intervals of independent means",),
    needs=("deciphering.s9.higher-on-every-dataset",),
)
def demonstrated() -> Steps:
    """By the printed 95 % intervals OT-ViT is better than ViT on all three datasets, Fashion-MNIST included."""
    yield Fails(separated(CIFAR10), reason="CIFAR10: 0.021 within ±√(0.01² + 0.02²)")
    yield Fails(separated(FASHION), reason="Fashion-MNIST: 0.009 within ±0.01√2")


@demonstrated.corrected(r"0.491-0.463 > \sqrt{0.01^2+0.01^2}", Severity.FATAL, replaces="every column")
def on_one_dataset() -> Steps:
    """By the printed 95 % intervals the advantage is demonstrated on CIFAR100 only."""
    yield separated(CIFAR100, reason="0.028 against ±0.0141")


demonstrated.twin(
    "half-widths add for Fashion-MNIST",
    lambda: AtLeast(FASHION.gain, FASHION.plain_width + FASHION.transport_width, strict=True),
)
demonstrated.twin("CIFAR10 too", lambda: separated(CIFAR10))


layer, training = scalar("e"), scalar("s")
gain = layer + training
MORE = sp.Rational(1, 100)


def due_to_the_layer(right: sp.Expr, strict: bool = False) -> Follows:
    """What a gain implies for the effect of the layer, if templates of the same class do not help by themselves."""
    premises = AtLeast(gain, 0, strict=True), AtLeast(0, training)
    return Follows(
        premises,
        AtLeast(layer, right, strict=strict),
        (sp.S.One, sp.S.One),
        given=premises,
        at={layer: 1, training: 0} if right != 0 else {},
        reason="what is not due to the training is due to the layer",
    )


@claim(
    "deciphering.s9.effect-of-the-layer",
    "inequality",
    title="Table 1 highlights the effectiveness of OT-based attention",
    latex=r"x_{\text{OT-ViT}}-x_{\text{ViT}}=e+s>0\implies e>0",
    needs=("deciphering.tab1",),
    hypotheses=("e is the effect of the last layer, s that of templates of another image of the same class in training",),
)
def effect_of_the_layer() -> Steps:
    """OT-ViT's higher accuracy is ascribed to its layer; in training it also sees templates of the same class, ViT does not."""
    gained = AtLeast(gain, 0, strict=True)
    yield Fails(
        Follows(
            (gained,),
            AtLeast(layer, 0, strict=True),
            (sp.S.One,),
            given=(gained,),
            at={layer: sp.S.Zero, training: sp.Rational(9, 1000)},
        ),
        reason="a gain of 0.009, as on Fashion-MNIST, with no effect of the layer at all: the two are not told apart",
    )


@effect_of_the_layer.corrected(
    r"e+s>0,\ s\le0\implies e>0",
    Severity.HYPOTHESIS,
    under="templates of another image of the same class in training do not help by themselves",
)
def effect_without_confound() -> Steps:
    """With an arm in which ViT is trained on such templates too, and gains nothing by it, the gain is that of the layer."""
    yield due_to_the_layer(sp.S.Zero, strict=True)


effect_of_the_layer.twin("twice the gain", lambda: due_to_the_layer(2 * gain))
effect_of_the_layer.twin("a hundredth more than the gain", lambda: due_to_the_layer(gain + MORE))
