"""Facts about the shipped BERT: its scale, its biases, its positions, its masks, its training task."""

import inspect
import math

import torch
from torch import nn
from torch.nn.functional import pad
from transformers import BertModel, DataCollatorForLanguageModeling
from transformers.masking_utils import create_bidirectional_mask, eager_mask
from transformers.models.bert.modeling_bert import BertEmbeddings, BertSelfAttention
from transformers.models.bert.modeling_bert import eager_attention_forward as bert_attention_forward

from evidence.source.calls import Call, calls, visible
from evidence.source.shipped import (
    Fact,
    allowed_error,
    bert_calls,
    changed,
    generalized,
    location,
    output_residual,
    unbiased,
    worst,
    yes,
)
from numerics import tolerances
from numerics.models.encoder import PARAGRAPH, load_encoder
from numerics.priors import RelativePositions


def every_call() -> list[Call]:
    """The calls of the pretrained encoder and of a random BERT."""
    return [*bert_calls(True), *bert_calls(False)]


def layer_residual() -> float:
    """How far our layer is from BERT's, at worst."""
    return max(output_residual(generalized(call), call) for call in every_call())


def scores_are_divided() -> Fact:
    """(21) has the scale of BERT, if d′ is the width of one head."""
    counter = min(
        output_residual(changed(call, scale=scale), call)
        for call in every_call()
        for scale in (1.0, call.module.all_head_size**-0.5)
    )
    return Fact(
        "BERT divides its scores by √d′, d′ the width of one head (not by √d, and not by 1)",
        location(BertSelfAttention.__init__),
        layer_residual(),
        counter,
    )


def queries_have_a_bias() -> Fact:
    """(21) and z = KᵀQx_k leave it out: z is Kᵀ(Qx_k + b_Q)."""
    counter = min(output_residual(changed(call, query=unbiased(call.module.query)), call) for call in every_call())
    return Fact(
        "the bias of BERT's queries moves every piece of evidence by Kᵀb_Q",
        location(BertSelfAttention.__init__),
        layer_residual(),
        counter,
    )


def values_have_a_bias() -> Fact:
    """(21) leaves it out: the output is V′ĥ + b_V."""
    counter = min(output_residual(changed(call, value=unbiased(call.module.value)), call) for call in every_call())
    return Fact(
        "the bias of BERT's values is added to the output of every head",
        location(BertSelfAttention.__init__),
        layer_residual(),
        counter,
    )


def bias_of_keys_drops_out() -> Fact:
    """It moves all scores of a query alike. Our layer never reads it; the counter moves one key by it."""
    counter = math.inf
    for call in every_call():
        with torch.no_grad():
            key = call.module.key(call.hidden)
            key[:, 0] -= call.module.key.bias
            output = by_hand(call, key)
        counter = min(counter, worst(output - call.output, allowed_error(call)[0]))
    nonzero = all(float(call.module.key.bias.detach().abs().max()) > 0 for call in every_call())
    return Fact(
        "the bias of BERT's keys drops out of the softmax, although it is not zero",
        location(BertSelfAttention.forward),
        max(yes(nonzero), layer_residual()),
        counter,
    )


def by_hand(call: Call, key: torch.Tensor) -> torch.Tensor:
    """The shipped attention function on other keys."""
    module, heads = call.module, call.weights.shape[1]
    query, keys, value = (
        x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (module.query(call.hidden), key, module.value(call.hidden))
    )
    mask = torch.zeros(call.weights.shape).masked_fill(~visible(call), torch.finfo(torch.float32).min)
    output: torch.Tensor = bert_attention_forward(module, query, keys, value, mask, module.scaling)[0]
    return output.flatten(-2)


def prior_has_no_positions() -> Fact:
    """Shuffling the inputs of a layer shuffles its outputs: u is uniform on the words. A T5 table would not do."""
    residual, counter = layer_residual(), math.inf
    for call in every_call():
        length, heads = call.positions[0], call.weights.shape[1]
        order = torch.randperm(length, generator=torch.Generator().manual_seed(0))
        mask = torch.zeros(call.weights.shape).masked_fill(~visible(call), torch.finfo(torch.float32).min)
        with torch.no_grad():
            shuffled = call.module(call.hidden[:, order], mask[..., order])[0]
        residual = max(residual, worst(shuffled - call.output[:, order], allowed_error(call)[0][:, order]))
        position = RelativePositions(heads)
        nn.init.normal_(position.table, generator=torch.Generator().manual_seed(0))
        counter = min(counter, output_residual(changed(call, position=position), call))
    return Fact(
        "BERT's attention has no position bias: u is uniform on the words that are not padding",
        location(bert_attention_forward),
        residual,
        counter,
    )


def positions_are_learned_embeddings() -> Fact:
    """Sinusoids of any frequencies give rows of one norm; BERT's rows are parameters, and pretrained ones differ."""
    embeddings = load_encoder().model.embeddings
    weight = embeddings.position_embeddings.weight
    norms = weight.detach().double().norm(dim=-1)
    spread = float(norms.std() / norms.mean())
    learned = isinstance(weight, nn.Parameter) and weight.requires_grad and isinstance(embeddings, BertEmbeddings)
    no_sinusoids = "sin(" not in inspect.getsource(inspect.getmodule(BertModel))  # type: ignore[arg-type]
    sinusoids = sinusoidal(*weight.shape).norm(dim=-1)
    fixed = float(sinusoids.std() / sinusoids.mean()) / tolerances.rounding("float64", weight.shape[1])
    return Fact(
        f"BERT adds learned absolute position embeddings to its inputs, not sinusoids: their norms vary by "
        f"{spread:.0%}, those of sinusoids by nothing",
        location(BertEmbeddings.__init__),
        max(yes(learned and no_sinusoids), fixed),
        spread / tolerances.rounding("float32", weight.shape[1]),
    )


def sinusoidal(positions: int, width: int) -> torch.Tensor:
    """The fixed signals of the original transformer, (positions, width)."""
    angles = torch.arange(positions).double()[:, None] / 10000.0 ** (torch.arange(0, width, 2).double() / width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def words_are_masked_by_padding_alone() -> Fact:
    """[MASK] is a word like any other to the attention of BERT; a prior of zero on it, as in (19), would not do."""
    language_model = load_encoder()
    inputs = masked_sentence()
    hidden_words = inputs["input_ids"] == language_model.tokenizer.mask_token_id
    residual, counter = 0.0, math.inf
    for call in calls(language_model.model, inputs):
        on_masked = call.weights[hidden_words[:, None, None].expand(call.weights.shape)]
        on_padding = call.weights[~visible(call)]
        printed = call.padding & ~hidden_words[:, None, None]
        residual = max(
            residual, yes(bool((on_masked > 0).all())), yes(not on_padding.any()), output_residual(generalized(call), call)
        )
        counter = min(counter, output_residual(generalized(call), call, printed))
    return Fact(
        "BERT's mask hides padding, not masked words: every query gives [MASK] tokens a positive weight",
        location(create_bidirectional_mask),
        residual,
        counter,
    )


def masked_sentence() -> dict[str, torch.Tensor]:
    """A sentence of which two words are masked, padded by three."""
    tokenizer = load_encoder().tokenizer
    encoded = dict(tokenizer(f"The river had been {tokenizer.mask_token} since {tokenizer.mask_token}.", return_tensors="pt"))
    return {name: pad(x, (0, 3), value=tokenizer.pad_token_id if name == "input_ids" else 0) for name, x in encoded.items()}


def masks_are_finite() -> Fact:
    """A row without words is uniform in the eager arithmetic, where (19) and (20) would be 0/0."""
    call = bert_calls(False)[0]
    mask = eager_mask(
        2,
        *call.positions,
        attention_mask=torch.zeros(2, call.positions[0], dtype=torch.bool),
        mask_function=lambda *_: torch.tensor(True),
    )
    with torch.no_grad():
        weights = call.module(call.hidden, mask)[1]
    uniform = torch.full_like(weights, 1.0 / call.positions[0])
    ours = generalized(call).weights(call.hidden, mask=torch.zeros_like(mask, dtype=torch.bool)).detach()
    return Fact(
        "the eager mask adds the most negative finite number, not −∞: a row without words is uniform",
        location(eager_mask),
        max(yes(bool((mask == torch.finfo(mask.dtype).min).all())), worst(weights - uniform, allowed_error(call)[1].amax())),
        worst(weights - ours, allowed_error(call)[1].amax()),
    )


def not_all_predicted_words_are_masked() -> Fact:
    """Of the words to predict 80 % become [MASK]; five standard errors are allowed."""
    tokenizer = load_encoder().tokenizer
    collator = DataCollatorForLanguageModeling(tokenizer, seed=0)
    words = tokenizer(PARAGRAPH)["input_ids"]
    batch = collator([{"input_ids": words} for _ in range(2000)])
    predicted = batch["labels"] != -100
    share = float((batch["input_ids"][predicted] == tokenizer.mask_token_id).double().mean())
    standard_error = math.sqrt(0.8 * 0.2 / int(predicted.sum()))
    return Fact(
        "of the words that BERT is trained to predict only four in five are masked; the others are replaced or kept",
        location(DataCollatorForLanguageModeling),
        abs(share - 0.8) / (5 * standard_error),
        abs(share - 1.0) / (5 * standard_error),
    )


FACTS = (
    scores_are_divided,
    queries_have_a_bias,
    values_have_a_bias,
    bias_of_keys_drops_out,
    prior_has_no_positions,
    positions_are_learned_embeddings,
    words_are_masked_by_padding_alone,
    masks_are_finite,
    not_all_predicted_words_are_masked,
)
