"""Small random models of each attention architecture, with inputs that exercise their masks."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertModel,
    BloomConfig,
    BloomModel,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
    T5Config,
    T5Model,
    ViTConfig,
    ViTModel,
)

_VOCABULARY = 64
_HIDDEN = 32
_HEADS = 4
_LAYERS = 2
# Large enough for attention far from uniform; the usual 0.02 at this width gives almost constant logits.
_SPREAD = 0.3


@dataclass(frozen=True)
class Example:
    """A model in evaluation mode (float32, CPU) and keyword arguments for its forward pass."""

    model: PreTrainedModel
    inputs: dict[str, Tensor]


def zoo(seed: int = 0) -> dict[str, Callable[[], Example]]:
    """Builders by architecture: bert, bloom, gpt2, llama (grouped queries), t5 (encoder, decoder, cross), vit.

    Every call of a builder gives the same weights and inputs for the same seed, and leaves the global random state
    alone. Token inputs are int64 (2, 7), the second sequence padded on the right; images are float32 (2, 3, 16, 16).
    """
    architectures = {"bert": _bert, "bloom": _bloom, "gpt2": _gpt2, "llama": _llama, "t5": _t5, "vit": _vit}
    return {name: _seeded(build, seed) for name, build in architectures.items()}


def _seeded(build: Callable[[], Example], seed: int) -> Callable[[], Example]:
    def example() -> Example:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            built = build()
        built.model.eval()
        return built

    return example


def _tokens(length: int = 7, padding: int = 2) -> tuple[Tensor, Tensor]:
    attention_mask = torch.ones(2, length, dtype=torch.int64)
    attention_mask[1, length - padding :] = 0
    return torch.randint(_VOCABULARY, (2, length)), attention_mask


def _text_inputs() -> dict[str, Tensor]:
    input_ids, attention_mask = _tokens()
    return {"input_ids": input_ids, "attention_mask": attention_mask}


def _bert() -> Example:
    config = BertConfig(
        vocab_size=_VOCABULARY,
        hidden_size=_HIDDEN,
        num_hidden_layers=_LAYERS,
        num_attention_heads=_HEADS,
        intermediate_size=2 * _HIDDEN,
        initializer_range=_SPREAD,
    )
    return Example(BertModel(config), _text_inputs())


def _gpt2() -> Example:
    config = GPT2Config(
        vocab_size=_VOCABULARY,
        n_embd=_HIDDEN,
        n_layer=_LAYERS,
        n_head=_HEADS,
        initializer_range=_SPREAD,
        bos_token_id=0,
        eos_token_id=0,
    )
    return Example(GPT2Model(config), _text_inputs())


def _llama() -> Example:
    config = LlamaConfig(
        vocab_size=_VOCABULARY,
        hidden_size=_HIDDEN,
        num_hidden_layers=_LAYERS,
        num_attention_heads=_HEADS,
        num_key_value_heads=_HEADS // 2,
        intermediate_size=2 * _HIDDEN,
        initializer_range=_SPREAD,
    )
    return Example(LlamaModel(config), _text_inputs())


def _bloom() -> Example:
    config = BloomConfig(vocab_size=_VOCABULARY, hidden_size=_HIDDEN, n_layer=_LAYERS, n_head=_HEADS, initializer_range=_SPREAD)
    return Example(BloomModel(config), _text_inputs())


def _t5() -> Example:
    config = T5Config(
        vocab_size=_VOCABULARY, d_model=_HIDDEN, d_kv=_HIDDEN // _HEADS, num_layers=_LAYERS, num_heads=_HEADS, d_ff=2 * _HIDDEN
    )
    decoder_input_ids, decoder_attention_mask = _tokens(length=5, padding=1)
    decoder = {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
    return Example(T5Model(config), _text_inputs() | decoder)


def _vit() -> Example:
    config = ViTConfig(
        image_size=16,
        patch_size=8,
        hidden_size=_HIDDEN,
        num_hidden_layers=_LAYERS,
        num_attention_heads=_HEADS,
        intermediate_size=2 * _HIDDEN,
        initializer_range=_SPREAD,
    )
    return Example(ViTModel(config), {"pixel_values": torch.randn(2, 3, 16, 16)})
