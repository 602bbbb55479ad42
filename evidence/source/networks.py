"""Whole networks as transformers ships them: the role of attention, BERT's training task, and how images become words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from derivations.documents.deciphering.section1_adoption import WORDS, reached
from derivations.documents.deciphering.section3_examples import BLANKS, LENGTH, predicted, words
from derivations.documents.deciphering.section9_training import patch, side, tokens
from derivations.relations import AtLeast, Equation
from evidence import Finding, Layer, Outcome, Reading, Run, finding, float64, hold
from numerics import tolerances

EXACT = tolerances.rounding("float64", 1)
CHANGE = 1e-9  # the least change that counts, for numbers of order one in float64


def small_bert() -> Any:
    """A random BERT of two layers, in float64."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=16, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8, initializer_range=0.7
    )
    return BertModel(config, add_pooling_layer=False)


def small_t5() -> Any:
    """The encoder of a random T5 of two layers."""
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(T5Config(vocab_size=16, d_model=8, d_kv=4, num_layers=2, num_heads=2, d_ff=8))


def seeded(build: Callable[[], Any]) -> Any:
    """A random model in float64, the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build().double().eval()


@contextmanager
def silenced(model: nn.Module) -> Iterator[None]:
    """Make every attention module return zeros."""

    def zeros(module: nn.Module, args: object, result: tuple[Any, ...]) -> tuple[Any, ...]:
        return (torch.zeros_like(result[0]), *result[1:])

    modules = [m for m in model.modules() if type(m).__name__ in ("BertSelfAttention", "T5Attention")]
    handles = [module.register_forward_hook(zeros) for module in modules]
    assert handles, "no module of attention"
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def reach(model: nn.Module) -> int:
    """How many words' outputs change when the second word does."""
    ids = torch.tensor([[3, 5, 7, 9]])
    other = ids.clone()
    other[0, 1] = 11
    with torch.no_grad():
        first, second = (model(input_ids=x).last_hidden_state[0] for x in (ids, other))
    return int(((first - second).abs().amax(-1) > CHANGE).sum())


def pivotal(claim: str, run: Run) -> Finding:
    """One word is reached in BERT and in T5 without attention, and all are with it."""
    readings, within = [], []
    for build in (small_bert, small_t5):
        model = seeded(build)
        within.append(reach(model))
        with silenced(model):
            silent_reach = reach(model)
        readings.append(Reading({reached.name: silent_reach}, {"model": float64(silent_reach)}, EXACT))
    vote = hold(claim, Layer.SOURCE, readings, statement=Equation(reached, 1))
    result = finding(
        vote,
        f"one of {WORDS} words changed in random models of the shipped BERT and T5 encoder",
        f"with attention the change reaches {within[0]} and {within[1]} of the {WORDS} outputs",
    )
    return result if set(within) == {WORDS} else replace(result, outcome=Outcome.REFUTED)


def blanks(claim: str, run: Run) -> Finding:
    """The words that the loss of the shipped BERT for masked language depends on."""
    from evidence.source import shipped_bert

    labels = torch.full((1, LENGTH), -100)
    labels[0, [2, 5][:BLANKS]] = 9
    logits = torch.randn(1, LENGTH, 16, generator=torch.Generator().manual_seed(0)).requires_grad_()
    model = seeded(masked_language_model)
    with predicting(model, logits):
        loss = model(input_ids=torch.full((1, LENGTH), 4), labels=labels).loss
    (slope,) = torch.autograd.grad(loss, logits)
    count = int((slope.abs().amax(-1) > CHANGE).sum())
    vote = hold(
        claim,
        Layer.SOURCE,
        [Reading({predicted.name: count}, {"BERT": float64(count)}, EXACT)],
        statement=Equation(predicted, BLANKS),
    )
    share = shipped_bert.not_all_predicted_words_are_masked()
    result = finding(vote, f"BertForMaskedLM on {LENGTH} words, {BLANKS} of them to be predicted", f"but {share.statement}")
    return result if share.holds else replace(result, outcome=Outcome.REFUTED)


def masked_language_model() -> Any:
    """A random BERT with the head that it is pretrained with."""
    from transformers import BertConfig, BertForMaskedLM

    return BertForMaskedLM(
        BertConfig(vocab_size=16, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    )


@contextmanager
def predicting(model: Any, logits: Tensor) -> Iterator[None]:
    """Make the head return these logits."""
    handle = model.cls.register_forward_hook(lambda module, args, result: logits)
    try:
        yield
    finally:
        handle.remove()


def vocabularies(claim: str, run: Run) -> Finding:
    """The vocabulary sizes of BERT and T5; T5 was trained to translate."""
    from transformers import BertConfig, T5Config

    sizes = {"BERT": BertConfig().vocab_size, "T5": T5Config().vocab_size}
    readings = [Reading({words.name: count}, {"vocabulary": float64(count)}, EXACT) for count in sizes.values()]
    vote = hold(claim, Layer.SOURCE, readings, statement=AtLeast(words, 10**4, strict=True))
    return finding(vote, "the shipped configurations", ", ".join(f"{name} {count:,} words" for name, count in sizes.items()))


def vision(claim: str, run: Run) -> Finding:
    """The vectors of the shipped Vision Transformer, what each sees of the image, and which of them is classified."""
    readings, classified, seen = [], set(), set()
    for pixels, width in ((8, 4), (8, 2), (12, 4)):
        embedded, last, logits, image = through(seeded(partial(vision_transformer, pixels, width)), pixels)
        count = embedded.shape[1]
        readings.append(Reading({tokens.name: count, side.name: pixels, patch.name: width}, {"ViT": float64(count)}, EXACT))
        (read,) = torch.autograd.grad(logits.sum(), last, retain_graph=True)
        classified |= {int(position) for position in (read.abs().amax((0, -1)) > CHANGE).nonzero()}
        for position in range(count):
            (within,) = torch.autograd.grad(embedded[0, position].sum(), image, retain_graph=True)
            seen.add((position > 0, int((within[0, 0].abs() > CHANGE).sum()) == (width**2 if position else 0)))
    vote = hold(claim, Layer.SOURCE, readings, statement=Equation(tokens, (side / patch) ** 2 + 1))
    result = finding(
        vote,
        "random models of the shipped ViTForImageClassification, three sizes of images and patches",
        "each vector but the first is made of one patch, the first of trained numbers, and it alone is classified",
    )
    return result if (classified, seen) == ({0}, {(False, True), (True, True)}) else replace(result, outcome=Outcome.REFUTED)


def vision_transformer(pixels: int, width: int) -> Any:
    """A random Vision Transformer of two layers."""
    from transformers import ViTConfig, ViTForImageClassification

    return ViTForImageClassification(
        ViTConfig(
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=8,
            image_size=pixels,
            patch_size=width,
            num_labels=3,
            initializer_range=0.7,
        )
    )


def through(model: Any, pixels: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The embeddings, the last layer's outputs, the logits, and the image."""
    outputs: list[Tensor] = []
    handles = [
        module.register_forward_hook(lambda module, args, result: outputs.append(result))
        for module in (model.vit.embeddings, model.vit.layernorm)
    ]
    generator = torch.Generator().manual_seed(0)
    image = torch.randn(1, 3, pixels, pixels, generator=generator, dtype=torch.float64).requires_grad_()
    logits = model(pixel_values=image).logits
    for handle in handles:
        handle.remove()
    return outputs[0], outputs[1], logits, image


class Counted(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the numbers that are read by arithmetic."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note how many numbers the largest argument has."""
        if func.__name__.split(".")[0] not in ("_to_copy", "to", "detach", "view", "alias"):
            self.numbers += max((x.numel() for x in args if isinstance(x, Tensor)), default=0)
        return func(*args, **(kwargs or {}))


def faster_norm(claim: str, run: Run) -> Finding:
    """How often arithmetic passes over a vector in T5's normalization, and in layer normalization as it is defined."""
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    width = 512
    x, gain, offset = torch.randn(3, width, generator=torch.Generator().manual_seed(0))

    def definition(x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        normalized: Tensor = gain * (centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-6)) + offset
        return normalized

    passes = {}
    for name, normalize in (("T5", T5LayerNorm(width)), ("layer normalization", definition)):
        with torch.no_grad(), Counted() as mode:  # type: ignore[no-untyped-call]
            normalize(x)
        passes[name] = round(mode.numbers / width)
    fewer = passes["T5"] < passes["layer normalization"]
    return Finding(
        Outcome.HOLDS if fewer else Outcome.REFUTED,
        f"the shipped T5LayerNorm beside the definition of layer normalization, {width} numbers, operations of PyTorch counted",
        f"{passes['T5']} passes over the vector in place of {passes['layer normalization']}, and one trained vector in place "
        "of two; which is faster on a machine depends on whether their passes are fused, and was not timed",
    )
