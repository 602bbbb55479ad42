"""The calls of the shipped attention modules of BERT and T5 in a forward pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Role = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a shipped attention module: B sequences, Q queries, M templates, H heads.

    Attributes:
        module: the shipped module.
        role: of the module; encoder and decoder are self-attention.
        hidden: (B, Q, width).
        source: (B, M, width); ``hidden`` for self-attention.
        padding: boolean, (B, 1, 1, M), True for words: the model's input, not the mask that the module received.
        output: of the module, (B, Q, width).
        weights: (B, H, Q, M).
        bias: the position bias that the module used, (1, H, Q, M); None for BERT.
    """

    module: Any
    role: Role
    hidden: Tensor
    source: Tensor
    padding: Tensor
    output: Tensor
    weights: Tensor
    bias: Tensor | None

    @property
    def positions(self) -> tuple[int, int]:
        """Q and M."""
        return self.hidden.shape[1], self.source.shape[1]


def calls(model: "PreTrainedModel", inputs: dict[str, Tensor]) -> list[Call]:
    """Every call of an attention module of BERT or T5 in one forward pass, in order."""
    from transformers.models.bert.modeling_bert import BertSelfAttention
    from transformers.models.t5.modeling_t5 import T5Attention

    recorded: list[Call] = []

    def note(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: tuple[Any, ...]) -> None:
        source = kwargs.get("key_value_states")
        decoder = isinstance(module, T5Attention) and module.is_decoder
        role: Role = "cross" if source is not None else "decoder" if decoder else "encoder"
        padding = inputs["decoder_attention_mask" if role == "decoder" else "attention_mask"].bool()[:, None, None]
        output, weights = result[0], result[-1]
        bias = result[1] if isinstance(module, T5Attention) else None
        recorded.append(Call(module, role, args[0], args[0] if source is None else source, padding, output, weights, bias))

    modules = [module for module in model.modules() if isinstance(module, (BertSelfAttention, T5Attention))]
    with _hooked(modules, note), torch.no_grad():
        model(**inputs)
    return recorded


@contextmanager
def _hooked(modules: list[nn.Module], hook: Callable[..., None]) -> Iterator[None]:
    handles = [module.register_forward_hook(hook, with_kwargs=True) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def visible(call: Call) -> Tensor:
    """The templates that a query may see: words, and for a decoder none after itself; boolean, (B, H, Q, M)."""
    queries, templates = call.positions
    seen = call.padding.expand(-1, 1, queries, -1)
    if call.role == "decoder":
        seen = seen & torch.ones(queries, templates, dtype=torch.bool).tril()
    return seen.expand(call.weights.shape)
