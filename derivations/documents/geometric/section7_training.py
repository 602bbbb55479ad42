"""“Using an Attention Mechanism in a Prediction Model”: what training through the weights is worth, measured.

Claims     geometric.s7.good-predictions   accuracy(θ learned) beside that of θ = 0 and of θ untrained: measured
References the last section of the document; `python -m numerics geometric` is the experiment
"""

from derivations.vocabulary import *


@claim(
    "geometric.s7.good-predictions",
    "empirical",
    title="A learned summary makes weights that help to predict well",
    latex=r"\text{accuracy}(\theta\ \text{learned})>\text{accuracy}(\theta=0),\ \text{accuracy}(\theta\ \text{untrained})",
    needs=("geometric.5", "geometric.6", "geometric.7", "geometric.s7.jointly"),
)
def good_predictions() -> None:
    """With θ learned together with the predictor, weights that follow the summary are said to lead to good predictions."""
