"""Attention captured once per model: from a pretrained encoder, or the model of --model, and random models of each kind."""

from functools import cache
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from numerics.models.capture import AttentionProblem
    from numerics.models.encoder import LanguageModel

SHORT = "Attention weighs what it sees."

ARCHITECTURES = ("bert", "bloom", "gpt2", "llama", "t5", "vit")
"""Those of `numerics.models.zoo`."""

SCALED = tuple(name for name in ARCHITECTURES if name != "t5")
"""All but T5, which has τ = 1, where a lost temperature cannot show: it has no vote where a twin loses τ."""


def cubic(output: object) -> Tensor:
    """A loss that is not linear in any layer's context."""
    first = next(x for x in output.values() if isinstance(x, Tensor) and x.is_floating_point())  # type: ignore[attr-defined]
    return (first.double() ** 3).mean() + first.double().square().sum().sqrt()


@cache
def language_model(name: str | None = None) -> "LanguageModel":
    """The encoder of the wheel, or a pretrained model by its folder or name."""
    from numerics.models.encoder import load_encoder, load_model

    return load_model(name) if name else load_encoder()


@cache
def paragraph(name: str | None = None) -> "list[AttentionProblem]":
    """The attention of a pretrained model on the paragraph, with the gradients of a loss."""
    from numerics.models.capture import capture
    from numerics.models.encoder import encode_paragraph

    read = language_model(name)
    return capture(read.model, encode_paragraph(language_model=read), cubic)


@cache
def sentence(name: str | None = None) -> "list[AttentionProblem]":
    """The same on a sentence short enough for its rows to be compared with a claim's formula."""
    from numerics.models.capture import capture

    read = language_model(name)
    return capture(read.model, read.encode(SHORT), cubic)


@cache
def random_model(architecture: str) -> "list[AttentionProblem]":
    """The attention of a small random model, with the gradients of a loss."""
    from numerics.models.capture import capture
    from numerics.models.zoo import zoo

    example = zoo()[architecture]()
    return capture(example.model, example.inputs, cubic)
