"""Attention that cannot be captured faithfully is refused, and the error names the model class."""

import pytest
import torch
from transformers import (
    AttentionMaskInterface,
    FalconConfig,
    FalconModel,
    Gemma2Config,
    Gemma2Model,
    GPTNeoConfig,
    GPTNeoModel,
    GptOssConfig,
    GptOssModel,
    MptConfig,
    MptModel,
    ResNetConfig,
    ResNetModel,
    TimesFmConfig,
    TimesFmModel,
)

from numerics.models.capture import _IMPLEMENTATION, CaptureError, capture
from numerics.models.zoo import zoo

SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ONE_TIME_SERIES = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "head_dim": 8,
    "patch_length": 4,
    "context_length": 8,
    "horizon_length": 4,
}
GROUPED = {"intermediate_size": 64, "num_key_value_heads": 2, "head_dim": 8, "initializer_range": 0.3}
TOKENS = {"input_ids": torch.arange(3, 9)[None]}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda: MptModel(MptConfig(vocab_size=64, d_model=32, n_heads=4, n_layers=1)), "attention interface"),
        (lambda: FalconModel(FalconConfig(**SMALL)), "attention interface"),
        (
            lambda: GPTNeoModel(
                GPTNeoConfig(
                    vocab_size=64,
                    hidden_size=32,
                    num_layers=1,
                    num_heads=4,
                    attention_types=[[["global"], 1]],
                    bos_token_id=1,
                    eos_token_id=2,
                )
            ),
            "attention interface",
        ),
        (lambda: Gemma2Model(Gemma2Config(**SMALL, **GROUPED)), "logits are not"),
        (
            lambda: GptOssModel(GptOssConfig(**SMALL, **GROUPED, num_local_experts=2, num_experts_per_tok=1)),
            "softmax runs over more than its scores",
        ),
        (lambda: torch.nn.Linear(2, 2), "PreTrainedModel"),
    ],
    ids=["mpt", "falcon", "gpt_neo", "gemma2", "gpt_oss", "linear"],
)
def test_other_attention_is_refused_by_name(model, reason):
    built = model()
    with pytest.raises(CaptureError, match=f"(?s){type(built).__name__}.*{reason}"):
        capture(built, TOKENS)


@pytest.mark.parametrize(
    ("model", "inputs", "reason"),
    [
        (
            lambda: ResNetModel(ResNetConfig(embedding_size=4, hidden_sizes=[4], depths=[1])),
            {"pixel_values": torch.ones(1, 3, 16, 16)},
            "no call went through",
        ),
        (
            lambda: TimesFmModel(TimesFmConfig(**ONE_TIME_SERIES)),
            {
                "past_values": torch.ones(1, 8),
                "past_values_padding": torch.zeros(1, 8),
                "freq": torch.zeros(1, 1, dtype=torch.int64),
            },
            "no eager_attention_forward",
        ),
    ],
    ids=["resnet", "timesfm"],
)
def test_model_without_known_attention_is_refused(model, inputs, reason):
    built = model()
    with pytest.raises(CaptureError, match=f"{type(built).__name__}.*{reason}"):
        capture(built, inputs)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
def test_a_missing_mask_is_refused(name, monkeypatch):
    example = zoo()[name]()
    monkeypatch.delitem(AttentionMaskInterface._global_mapping, _IMPLEMENTATION)
    with pytest.raises(CaptureError, match="differs from its output in the recorded run"):
        capture(example.model, example.inputs)


def eager_with(change):
    """The eager attention of BERT with one operation changed."""

    def attention(module, query, key, value, attention_mask, scaling=None, **kwargs):
        logits = query @ key.transpose(2, 3) * scaling
        if attention_mask is not None:
            logits = logits + attention_mask
        probabilities = logits.softmax(-1)
        logits, probabilities, value = change(logits, probabilities, value)
        return (probabilities @ value).transpose(1, 2).contiguous(), probabilities

    return attention


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda logits, p, v: (logits, p * 0.5, v), "weights on its values"),
        (lambda logits, p, v: (logits, (2 * logits).softmax(-1), v), "2 softmaxes"),
        (lambda logits, p, v: (logits, p, v @ torch.eye(8)), "3 matrix products"),
    ],
    ids=["weights", "softmaxes", "products"],
)
def test_other_arithmetic_is_refused(change, reason, monkeypatch):
    monkeypatch.setattr("transformers.models.bert.modeling_bert.eager_attention_forward", eager_with(change))
    example = zoo()["bert"]()
    with pytest.raises(CaptureError, match=f"BertModel.*{reason}"):
        capture(example.model, example.inputs)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda output: output[0], "scalar"),
        (lambda output: output[0].sum().item(), "scalar"),
        (lambda output: output[0].sum().detach(), "scalar"),
        (lambda output: torch.ones((), requires_grad=True) * 2, "depends on an attention layer"),
    ],
    ids=["not scalar", "number", "detached", "independent"],
)
def test_unusable_loss_is_refused(loss, message):
    example = zoo()["vit"]()
    with pytest.raises(ValueError, match=message):
        capture(example.model, example.inputs, loss)
