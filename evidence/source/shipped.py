"""The computations of the shipped attention modules of BERT and T5, call by call, and their rounding errors.

A ``Fact`` holds a statement about them, its place in the shipped source, and how far the shipped numbers are from it and from
its nearest wrong version, both in units of the tolerance. The facts are in ``shipped_t5``, ``shipped_bert`` and
``published``.
"""

import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, T5Config, T5Model
from transformers.models.t5.modeling_t5 import T5Attention

from evidence.source.calls import Call, Role, calls, visible
from evidence.source.rounding import Rounded, allowed
from numerics.attention import GeneralizedAttention
from numerics.models.encoder import load_encoder
from numerics.priors import RelativePositions

REFUSAL = 10.0
"""A wrong version must be at least this many tolerances away."""


@dataclass(frozen=True)
class Fact:
    """One fact about shipped or published attention.

    Attributes:
        statement: of the fact, in one sentence.
        where: the place in the shipped source, or the publication.
        residual: how far the numbers are from the fact, in tolerances; 0 where nothing is rounded.
        counter: how far they are from the nearest wrong version of the fact, in tolerances.
    """

    statement: str
    where: str
    residual: float
    counter: float

    @property
    def holds(self) -> bool:
        """The fact is true to rounding, and its wrong versions are not."""
        return self.residual <= 1.0 and self.counter >= REFUSAL


@cache
def t5() -> T5Model:
    """A random T5 of two and two layers, with position biases as large as its scores."""
    config = T5Config(vocab_size=64, d_model=32, d_kv=8, num_layers=2, num_heads=4, d_ff=64, attn_implementation="eager")
    with _seeded():
        model = T5Model(config).eval()
        for parameter in (table(model, "encoder"), table(model, "decoder")):
            nn.init.normal_(parameter)
    return model


def table(model: T5Model, role: Role) -> Tensor:
    """The position table of one of the stacks, (num_buckets, H)."""
    weight: Tensor = getattr(model, role).block[0].layer[0].SelfAttention.relative_attention_bias.weight
    return weight


@cache
def t5_calls(dtype: torch.dtype = torch.float32) -> list[Call]:
    """The six attention calls of the random T5 on sequences longer than the reach of its buckets, padded at the end."""
    with _seeded():
        inputs = {"input_ids": torch.randint(64, (2, 150)), "decoder_input_ids": torch.randint(64, (2, 140))}
    for name, length in (("attention_mask", 150), ("decoder_attention_mask", 140)):
        inputs[name] = torch.ones(2, length, dtype=torch.int64)
        inputs[name][1, length - 9 :] = 0
    return [_widened(call, dtype) for call in calls(t5(), inputs)]


@cache
def bert_calls(pretrained: bool = True, dtype: torch.dtype = torch.float32) -> list[Call]:
    """The attention calls of the pretrained encoder on two sentences, or of a random BERT, padded."""
    if pretrained:
        language_model = load_encoder()
        sentences = ["Nobody crossed.", "By noon the ferryman refused to cross the river, which had been rising."]
        inputs = dict(language_model.tokenizer(sentences, padding=True, return_tensors="pt"))
        return [_widened(call, dtype) for call in calls(language_model.model, inputs)]
    with _seeded():
        config = BertConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            initializer_range=0.3,
            attn_implementation="eager",
        )
        model = BertModel(config).eval()
        for name, parameter in model.named_parameters():
            if name.endswith(("query.bias", "key.bias", "value.bias")):
                nn.init.normal_(parameter)
        inputs = {"input_ids": torch.randint(64, (2, 9)), "attention_mask": torch.ones(2, 9, dtype=torch.int64)}
        inputs["attention_mask"][1, :3] = 0
    return [_widened(call, dtype) for call in calls(model, inputs)]


def _widened(call: Call, dtype: torch.dtype) -> Call:
    """The same call run by the shipped module in another precision."""
    if dtype == call.hidden.dtype:
        return call
    module, kwargs = _copy(call.module).to(dtype), {}
    hidden, source = call.hidden.to(dtype), call.source.to(dtype)
    mask = torch.zeros(call.weights.shape, dtype=dtype).masked_fill(~visible(call), torch.finfo(dtype).min)
    bias = None
    if call.bias is not None:
        bias = call.bias.to(dtype)
        kwargs = {"position_bias": bias, "key_value_states": source if call.role == "cross" else None}
    with torch.no_grad():
        result = module(hidden, mask, **kwargs)
    return Call(module, call.role, hidden, source, call.padding, result[0], result[-1], bias)


def _copy(module: Any) -> Any:
    copied = type(module)(
        module.config,
        **(
            {"has_relative_attention_bias": module.has_relative_attention_bias, "layer_idx": 0, "is_causal": module.is_causal}
            if isinstance(module, T5Attention)
            else {}
        ),
    )
    copied.load_state_dict(module.state_dict())
    return copied.eval()


def generalized(call: Call) -> GeneralizedAttention:
    """Our layer for a call, with the position table of the first layer of the stack."""
    if not isinstance(call.module, T5Attention):
        return GeneralizedAttention.from_bert(call.module)
    position = None
    if call.role != "cross" and not call.module.has_relative_attention_bias:
        first = getattr(t5(), call.role).block[0].layer[0].SelfAttention
        position = RelativePositions.from_t5(first)
    return GeneralizedAttention.from_t5(call.module, position)


def changed(call: Call, **attributes: Any) -> GeneralizedAttention:
    """Our layer for a call, with some of its parts replaced."""
    layer = generalized(call)
    for name, part in attributes.items():
        setattr(layer, name, part)
    return layer


def output_residual(layer: GeneralizedAttention, call: Call, padding: Tensor | None = None) -> float:
    """How far a layer's output is from the shipped one, in tolerances."""
    with torch.no_grad():
        actual = layer(call.hidden, call.source, call.padding if padding is None else padding)
    return worst(actual - call.output, allowed_error(call)[0])


def weights_residual(weights: Tensor, call: Call) -> float:
    """How far weights are from the shipped ones, in tolerances."""
    return worst(weights - call.weights, allowed_error(call)[1])


def worst(difference: Tensor, allowed: Tensor | float) -> float:
    """The largest difference in units of the allowed one; inf for NaN."""
    distance = difference.double().abs()
    ratio = float(torch.where(distance == 0, 0.0, distance / allowed).max())
    return math.inf if math.isnan(ratio) else ratio


@cache
def allowed_error(call: Call) -> tuple[Tensor, Tensor]:
    """The rounding errors of the outputs (B, Q, width) and the weights (B, H, Q, M): ours and the shipped side's together.

    The shipped side multiplies queries with keys; ours takes the queries back to the space of the inputs first.
    """
    m, heads, scale = call.module, call.weights.shape[1], call.module.scaling
    hidden, source = Rounded.exact(call.hidden), Rounded.exact(call.source)
    if isinstance(m, T5Attention):
        query, key, value, merge = _projected(m.q, hidden), _projected(m.k, source), _projected(m.v, source), m.o
    else:
        query, key, value, merge = _projected(m.query, hidden), _projected(m.key, source), _projected(m.value, source), None
    query, key, value = query.heads(heads), key.heads(heads), value.heads(heads)
    projection = m.k if isinstance(m, T5Attention) else m.key
    templates = Rounded.exact(call.source.unsqueeze(-3)) * scale
    evidence = query @ Rounded.exact(projection.weight.unflatten(0, (heads, -1)))
    weights = []
    for scores in ((query @ key.mT) * scale, evidence @ templates.mT):
        biased = scores if call.bias is None else scores + call.bias
        weights.append(biased.softmax(visible(call)))
    reading = Rounded.exact((m.v if isinstance(m, T5Attention) else m.value).weight.unflatten(0, (heads, -1))) * (1 / scale)
    outputs = [(weights[0] @ value).merged(), (_ours(weights[1] @ templates, reading, m)).merged()]
    if merge is not None:
        outputs = [output @ Rounded.exact(merge.weight).mT for output in outputs]
    return allowed(*outputs), allowed(*weights)


def _ours(mean: Rounded, reading: Rounded, module: Any) -> Rounded:
    read = mean @ reading.mT
    bias = None if isinstance(module, T5Attention) else module.value.bias
    return read if bias is None else read + bias.detach().view(reading.value.shape[0], 1, -1)


def _projected(projection: nn.Linear, x: Rounded) -> Rounded:
    projected = x @ Rounded.exact(projection.weight).mT
    return projected if projection.bias is None else projected + projection.bias.detach()


@contextmanager
def _seeded() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def location(item: Any) -> str:
    """File and line of a shipped class or function."""
    item = inspect.unwrap(item)
    parts = Path(inspect.getsourcefile(item) or "").parts
    inside = parts[max(i for i, part in enumerate(parts) if part in ("transformers", "torch")) :]
    return f"{'/'.join(inside)}:{inspect.getsourcelines(item)[1]} {item.__qualname__}"


def unbiased(projection: nn.Linear) -> nn.Linear:
    """The same map without its bias."""
    with torch.no_grad():
        bare = nn.Linear(projection.in_features, projection.out_features, bias=False, dtype=projection.weight.dtype)
        bare.weight.copy_(projection.weight)
    return bare


def yes(condition: bool) -> float:
    """The residual of a fact without rounding: 0 if it is true."""
    return 0.0 if condition else math.inf


def no(condition: bool) -> float:
    """The residual of a wrong version without rounding: infinite if it is false, as it should be."""
    return math.inf if not condition else 0.0
