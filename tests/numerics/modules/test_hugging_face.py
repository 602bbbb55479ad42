"""One call lets a model of the library run on any attention of ours: the shipped encoder, and one of each kind."""

import copy
import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close
from transformers import AttentionInterface, AttentionMaskInterface, BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

from numerics.models import tiny
from numerics.models.encoder import load_encoder, load_model, quiet
from numerics.modules import KINDS, Entmax, Linear, MaximumEntropy, Sinkhorn, Softmax
from numerics.modules.hugging_face import _without_padding, register

SENTENCES = ["A man is eating food.", "Someone has a meal.", "The stock market fell sharply on Tuesday afternoon."]


@pytest.fixture(scope="module")
def encoder():
    encoder_found = load_encoder()
    encoder_found.model.double()  # exact computations are compared, not their rounding
    return encoder_found


def hidden(model, tokenizer, name, sentences=SENTENCES):
    model.set_attn_implementation(name)
    inputs = tokenizer(sentences, return_tensors="pt", padding=True)
    with torch.no_grad():
        return model(**inputs).last_hidden_state, inputs["attention_mask"].bool()


def test_softmax_is_the_encoder_itself(encoder):
    expected, states_mask = hidden(encoder.model, encoder.tokenizer, "eager")
    actual, _ = hidden(encoder.model, encoder.tokenizer, register("softmax"))
    assert_close(actual[states_mask], expected[states_mask], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("name", KINDS)
def test_the_encoder_runs_on_every_attention_and_sees_its_mask(encoder, name):
    registered = register(name)
    actual, visible = hidden(encoder.model, encoder.tokenizer, registered)
    assert bool(actual.isfinite().all())
    if name in ("sinkhorn", "semi-relaxed"):
        return  # queries of padding take their share of the keys
    for index, sentence in enumerate(SENTENCES):
        single, _ = hidden(encoder.model, encoder.tokenizer, registered, [sentence])
        assert_close(actual[index][visible[index]], single[0], rtol=0.0, atol=1e-7)


def test_without_the_mask_function_the_library_passes_no_mask(encoder):
    """The trap that ``register`` avoids."""
    name = register(Softmax(), "numerics_without_mask")
    del AttentionMaskInterface._global_mapping[name]
    with quiet():
        actual, visible = hidden(encoder.model, encoder.tokenizer, name)
    expected, _ = hidden(encoder.model, encoder.tokenizer, register("softmax"))
    assert float((actual - expected)[visible].abs().max()) > 0.01


def test_a_custom_name_with_settings():
    name = register(Entmax(1.2), "gentle")
    assert name == register(Entmax(1.2), "gentle")
    assert name in AttentionInterface()
    assert name in AttentionMaskInterface()
    for wrong in ("two words", "hub/kernel"):
        with pytest.raises(ValueError, match="name: expected an identifier, got"):
            register("softmax", wrong)
    for name_in_use in ("eager", "sdpa", "gentle"):
        with pytest.raises(ValueError, match=f"name: expected one that is not taken, got '{name_in_use}'"):
            register("softmax", name_in_use)
    with pytest.raises(ValueError, match="attention: expected an Attention or one of"):
        register("hard")


def test_a_name_stands_for_one_attention():
    assert register("entmax") == "numerics_entmax"
    assert register(Entmax(1.2)) == "numerics_entmax_alpha_1_2"
    assert register(Sinkhorn(math.inf)) == "numerics_sinkhorn_half_steps_inf"
    assert register(Linear(torch.exp)) == "numerics_linear_features_exp"
    assert register(MaximumEntropy(alpha=0.5)) == "numerics_maximum_entropy_alpha_0_5"


def llama():
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "vocab_size": 50}
    return LlamaForCausalLM(LlamaConfig(**sizes, num_attention_heads=4, num_key_value_heads=2)).eval().double()


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "maximum-entropy"])
def test_grouped_queries_causality_and_a_cache(name):
    model, ids = llama(), torch.arange(6)[None] * 7
    with torch.no_grad():
        model.set_attn_implementation(register(name))
        logits = model(ids).logits
        assert_close(model(ids[:, :4]).logits, logits[:, :4], rtol=0.0, atol=1e-8)
        first = model(ids[:, :5], use_cache=True)
        last = model(ids[:, 5:], past_key_values=first.past_key_values).logits
        assert_close(last[:, 0], logits[:, 5], rtol=0.0, atol=1e-8)
        if name == "softmax":
            model.set_attn_implementation("sdpa")  # "eager" takes its softmax in float32
            assert_close(logits, model(ids).logits, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("name", tiny.NAMES)
def test_the_small_models_that_ship(name):
    """Position biases that are added (T5), cross attention, and a causal decoder."""
    trained = load_model(str(tiny.folder(name)))
    model, inputs = trained.model.double(), trained.encode("Four score and seven years ago")
    with torch.no_grad():
        expected = model(**inputs).last_hidden_state
        model.set_attn_implementation(register("softmax"))
        assert_close(model(**inputs).last_hidden_state, expected, rtol=0.0, atol=1e-6)  # T5's softmax is in float32
        model.set_attn_implementation(register("entmax"))
        sparse = model(**inputs).last_hidden_state
    assert float((sparse - expected).abs().max()) > 1e-3


def test_a_model_is_trained_and_reloaded(tmp_path):
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "vocab_size": 20, "num_attention_heads": 2}
    name = register(MaximumEntropy(alpha=0.5))
    model = BertModel(BertConfig(**sizes, attn_implementation=name), add_pooling_layer=False).train()
    before = copy.deepcopy(model.state_dict())
    ids = torch.randint(20, (4, 6))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        loss = model(ids).last_hidden_state.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    query = "encoder.layer.0.attention.self.query.weight"
    assert float((model.state_dict()[query] - before[query]).abs().max()) > 1e-3
    with quiet():
        model.save_pretrained(tmp_path)
        again = BertModel.from_pretrained(tmp_path, attn_implementation=name, add_pooling_layer=False).eval()
    with torch.no_grad():
        assert_close(again(ids).last_hidden_state, model.eval()(ids).last_hidden_state, rtol=0.0, atol=0.0)


def test_the_library_calls_the_registered_implementation():
    """Keys shared by groups of heads, a scale, the module's causality if the mask is silent, and transposed tensors."""
    register("softmax")
    forward = AttentionInterface()["numerics_softmax"]
    draw = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(2, heads, length, width, generator=draw, dtype=torch.float64)
        for heads, length, width in ((6, 4, 8), (3, 5, 8), (3, 5, 7))
    )
    wide = [x.repeat_interleave(2, 1) for x in (key, value)]
    module, causal = torch.nn.Module(), torch.ones(4, 5, dtype=torch.bool).tril()
    other = torch.rand(2, 1, 4, 5, generator=draw) > 0.3
    other[..., 0] = True
    for options, mask, seen in (
        ({"is_causal": False}, None, None),
        ({"is_causal": True}, None, causal),
        ({}, None, causal),
        ({"is_causal": True}, other, other),
        ({"is_causal": None}, None, causal),
    ):
        output, weights = forward(module, query, key, value, mask, scaling=0.3, **options)
        expected = scaled_dot_product_attention(query, *wide, attn_mask=seen, scale=0.3)
        assert_close(output, expected.transpose(1, 2))
        assert output.is_contiguous()
        assert_close(weights @ wide[1], expected)
    bias = torch.randn(6, 4, 5, generator=draw, dtype=torch.float64)
    for mask in (None, other, torch.where(other, 0.25, -math.inf).double()):
        added = bias if mask is None else bias + (mask.double().log() if mask.dtype == torch.bool else mask)
        expected = scaled_dot_product_attention(query, *wide, attn_mask=added)
        assert_close(
            forward(module, query, key, value, mask, is_causal=False, position_bias=bias.expand(2, 6, 4, 5))[0],
            expected.transpose(1, 2),
        )
    module.is_causal = False
    assert_close(forward(module, query, key, value, None)[0], forward(module, query, key, value, None, is_causal=False)[0])
    assert_close(forward(module, query, *wide, None)[0], forward(module, query, key, value, None)[0])
    one = forward(module, query[:, :, :1], key, value, None, is_causal=True)[0]
    assert_close(one, forward(module, query[:, :, :1], key, value, None, is_causal=False)[0])
    torch.manual_seed(0)
    dropped = forward(module, query, key, value, None, dropout=0.5)[1]
    assert 0.3 < float((dropped == 0).double().mean()) < 0.7
    for name in ("softcap", "s_aux", "cache", "block_table"):
        forward(module, query, key, value, None, **{name: None})
        with pytest.raises(ValueError, match=f"{name}: expected None for attention 'softmax', got float"):
            forward(module, query, key, value, None, **{name: 1.0})


def test_additive_padding_masks_of_the_library_exclude_padding():
    lowest = torch.finfo(torch.float32).min
    mask = torch.tensor([0.0, 1.5, lowest, lowest / 2, lowest / 4])
    assert _without_padding(mask).tolist() == [0.0, 1.5, -math.inf, -math.inf, lowest / 4]
    assert _without_padding(None) is None
    assert _without_padding(mask > 0).tolist() == [False, True, False, False, False]


def test_a_causal_mask_is_always_made():
    """Where the library would leave it to a flag, which says nothing of the offsets of a cache."""
    register("softmax")
    mask = AttentionMaskInterface()["numerics_softmax"]
    for skipped in ({}, {"allow_is_causal_skip": True}):
        made = mask(batch_size=1, q_length=3, kv_length=3, **skipped)
        assert made.squeeze().tolist() == torch.ones(3, 3).tril().bool().tolist()


def test_unsupported_options_are_refused():
    register("softmax")
    forward = AttentionInterface()["numerics_softmax"]
    x = torch.randn(1, 2, 3, 4)
    with pytest.raises(ValueError, match="softcap: expected None for attention 'softmax', got float"):
        forward(torch.nn.Module(), x, x, x, None, softcap=30.0)
    bias = torch.randn(1, 2, 3, 3)
    lowest = torch.zeros(3, 3).masked_fill(torch.eye(3).bool(), torch.finfo(torch.float32).min)
    output, weights = forward(torch.nn.Module(), x, x, x, lowest, position_bias=bias, is_causal=False)
    assert bool((weights.diagonal(dim1=-2, dim2=-1) == 0).all())
    boolean, _ = forward(torch.nn.Module(), x, x, x, ~torch.eye(3).bool(), position_bias=bias, is_causal=False)
    assert_close(boolean, output)
    causal = forward(torch.nn.Module(), x, x, x, None, position_bias=bias)[1]
    assert bool((causal.triu(1) == 0).all())
