"""Facts about the shipped T5: its scale, its position biases, its masks, its layer normalization."""

import math

import torch
from torch import Tensor, nn
from transformers import T5Config, T5Model
from transformers.masking_utils import create_bidirectional_mask
from transformers.models.t5.modeling_t5 import T5Attention, T5LayerNorm, T5Stack
from transformers.models.t5.modeling_t5 import eager_attention_forward as t5_attention_forward

from evidence.source.calls import Call, visible
from evidence.source.shipped import (
    Fact,
    allowed_error,
    changed,
    generalized,
    location,
    no,
    output_residual,
    t5,
    t5_calls,
    table,
    weights_residual,
    worst,
    yes,
)
from numerics import tolerances
from numerics.priors import (
    RelativePositions,
    prior_from_mask,
    relative_position_bias,
    relative_position_bucket,
    relative_positions,
)

LONG = (140, 150)
"""Numbers of queries and templates, beyond the distance from which all share a bucket."""


def of_role(role: str) -> list[Call]:
    """The calls of one kind of attention."""
    return [call for call in t5_calls() if call.role == role]


def first_attention(role: str) -> T5Attention:
    """The layer that holds the position table of a stack."""
    return getattr(t5(), role).block[0].layer[0].SelfAttention


def scores_are_not_divided() -> Fact:
    """(20) with α = 1 is T5; (22), and inference (23) with τ = d or d′, is not."""
    residual = max(output_residual(generalized(call), call) for call in t5_calls())
    counter = min(
        output_residual(changed(call, scale=width**-0.5), call)
        for call in t5_calls()
        for width in (call.module.key_value_proj_dim, call.module.d_model)
    )
    return Fact(
        "T5 does not divide its scores by √d′ (nor by √d), in any of its three kinds of attention",
        location(T5Attention.__init__),
        residual,
        counter,
    )


def initialization_holds_the_scale() -> Fact:
    """The weights of the queries start √d′ times smaller than those of the keys: five standard errors are allowed."""
    config = T5Config(vocab_size=8, d_model=256, d_kv=64, num_layers=1, num_heads=4, d_ff=8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = T5Model(config).encoder.block[0].layer[0].SelfAttention
    query, key = attention.q.weight.detach().double(), attention.k.weight.detach().double()
    standard_error = math.sqrt(2.0 / (2 * query.numel()))  # of the log of the ratio of two sample deviations
    ratio = math.log(float(key.std() / query.std()))
    return Fact(
        "T5 starts its query weights 1/√d′ times as large as its key weights, in place of the division",
        location(T5Model._init_weights),
        abs(ratio - math.log(8.0)) / (5 * standard_error),
        abs(ratio) / (5 * standard_error),
    )


def bias_is_inside_the_softmax() -> Fact:
    """u stands in the numerator and in the denominator; (22) has it in the numerator alone."""
    residuals: list[float] = []
    counters: list[float] = []
    for call in (*of_role("encoder"), *of_role("decoder")):
        scores, prior = scores_and_prior(call)
        tilted = prior * scores.exp()
        printed = tilted / torch.where(visible(call), scores.exp(), 0.0).sum(-1, keepdim=True)
        residuals.append(weights_residual(tilted / tilted.sum(-1, keepdim=True), call))
        counters.append(weights_residual(printed, call))
    return Fact(
        "T5 adds the position bias before the softmax: u_i is in the numerator and u_j in the denominator",
        location(t5_attention_forward),
        max(residuals),
        min(counters),
    )


def scores_and_prior(call: Call) -> tuple[Tensor, Tensor]:
    """⟨Kx_i, Qy_k⟩ less its largest value in the row, and u, in float64."""
    heads = call.weights.shape[1]
    with torch.no_grad():
        query, key = (
            (x.double() @ projection.weight.double().T).unflatten(-1, (heads, -1)).transpose(1, 2)
            for x, projection in ((call.hidden, call.module.q), (call.source, call.module.k))
        )
        scores = query @ key.mT
        scores = scores - scores.amax(-1, keepdim=True)
        bias = torch.zeros_like(scores) if call.bias is None else call.bias.double().expand_as(scores)
        return scores, prior_from_mask(visible(call), bias)


def cross_attention_has_no_position() -> Fact:
    """Neither table of the model would fit."""
    residual = max(output_residual(generalized(call), call) for call in of_role("cross"))
    residual = max(residual, *(float(call.bias.abs().max()) for call in of_role("cross") if call.bias is not None))
    counter = min(
        output_residual(changed(call, position=RelativePositions.from_t5(first_attention(role))), call)
        for call in of_role("cross")
        for role in ("encoder", "decoder")
    )
    return Fact(
        "the cross-attention of T5 has no position bias: its prior is uniform on the words of the source",
        location(T5Attention.forward),
        residual,
        counter,
    )


def self_attention_has_positions() -> Fact:
    """Without the table the outputs do not agree."""
    calls = [*of_role("encoder"), *of_role("decoder")]
    residual = max(output_residual(generalized(call), call) for call in calls)
    return Fact(
        "every self-attention layer of T5 has a position bias",
        location(T5Attention.compute_bias),
        residual,
        min(output_residual(changed(call, position=None), call) for call in calls),
    )


def bias_depends_on_relative_position() -> Fact:
    """b[k, i] = b[k + 1, i + 1], bit for bit; a bias by the template's own position is not like that."""
    residual, counter = 0.0, math.inf
    for role in ("encoder", "decoder"):
        bias = first_attention(role).compute_bias(*LONG)[0].detach()
        absolute = bias[:, -1:].expand_as(bias)
        residual = max(residual, yes(torch.equal(bias[:, 1:, 1:], bias[:, :-1, :-1])))
        counter = min(counter, no(torch.equal(absolute[:, 1:, 1:], absolute[:, :-1, :-1])))
    return Fact(
        "the bias depends on the query and the template only through their relative position",
        location(T5Attention.compute_bias),
        residual,
        counter,
    )


def buckets_are_the_definition() -> Fact:
    """Template minus query indexes the table; query minus template would not fit."""
    residual, counter = 0.0, math.inf
    for role in ("encoder", "decoder"):
        first, weights = first_attention(role), table(t5(), role).detach()
        expected = first.compute_bias(*LONG)[0].detach()
        both = role == "encoder"
        residual = max(residual, yes(torch.equal(relative_position_bias(*LONG, weights, both), expected)))
        mirrored = weights[relative_position_bucket(-relative_positions(*LONG), 32, both)].movedim(-1, 0)
        one_sided = relative_position_bias(*LONG, weights, not both)
        counter = min(counter, no(torch.equal(mirrored, expected)), no(torch.equal(one_sided, expected)))
    return Fact(
        "T5 looks its bias up by template minus query (i − j for word i and query j), both sides in the encoder, "
        "one in the decoder",
        location(T5Attention._relative_position_bucket),
        residual,
        counter,
    )


def bias_is_many_to_one() -> Fact:
    """Encoder: distances 0 to 7 alone, then shared, all from 91 on; decoder: 0 to 15 alone, all from 113 on."""
    distance = torch.arange(0, 400)
    facts, wrong = [], []
    for both, single, last in ((True, 8, 91), (False, 16, 113)):
        bucket = T5Attention._relative_position_bucket(-distance, both, 32, 128)
        facts += [
            len(set(bucket[:single].tolist())) == single,
            bucket[last:].unique().numel() == 1,
            bucket.unique().numel() == 2 * single,
        ]
        wrong += [
            bucket[: single + 8].unique().numel() == single + 8,
            bucket[last - 1 :].unique().numel() == 1,
            bucket.unique().numel() == distance.numel(),
        ]
    return Fact(
        "the bias is many-to-one: 32 buckets, logarithmic beyond 8 (decoder 16), clipped from 91 (decoder 113)",
        location(T5Attention._relative_position_bucket),
        yes(all(facts)),
        no(any(wrong)),
    )


def sides_are_told_apart() -> Fact:
    """Encoder: i − j and j − i have different buckets; decoder: everything after the query is bucket 0."""
    bucket, ahead = T5Attention._relative_position_bucket, torch.arange(1, 200)
    separate = not set(bucket(ahead, True).tolist()) & set(bucket(-ahead, True).tolist())
    return Fact(
        "the encoder's bias depends on the sign of the relative position; the decoder's has no bucket for what comes later",
        location(bucket),
        yes(separate and not bucket(ahead, False).any()),
        no(bool((bucket(-ahead, False) == 0).any())),
    )


def table_is_shared_over_layers() -> Fact:
    """The second layer has no table and is given the first one's biases; encoder and decoder share nothing."""
    encoder, decoder = of_role("encoder"), of_role("decoder")
    shared = all(
        not calls[1].module.has_relative_attention_bias and torch.equal(calls[0].bias, calls[1].bias)  # type: ignore[arg-type]
        for calls in (encoder, decoder)
    )
    apart = torch.equal(table(t5(), "encoder"), table(t5(), "decoder"))
    other = RelativePositions.from_t5(first_attention("decoder"))
    other.bidirectional = True
    counter = output_residual(changed(encoder[1], position=other), encoder[1])
    return Fact(
        "the layers of a stack share the biases of its first layer; encoder and decoder have a table each",
        location(T5Stack.forward),
        max(yes(shared), yes(not apart)),
        counter,
    )


def table_is_trainable_per_head() -> Fact:
    """One scalar a bucket and head: 256 numbers a stack for the sizes of T5-small."""
    small = T5Attention(T5Config(), has_relative_attention_bias=True, layer_idx=0).relative_attention_bias.weight
    call = of_role("encoder")[0]
    mean = RelativePositions.from_t5(first_attention("encoder"))
    mean.table = nn.Parameter(mean.table.detach().mean(-1, keepdim=True).expand_as(mean.table).clone())
    facts = small.requires_grad and tuple(small.shape) == (32, 8)
    return Fact(
        "a position bias is a trainable scalar for each bucket and head",
        location(T5Attention.__init__),
        yes(facts),
        output_residual(changed(call, position=mean), call),
    )


def prior_depends_on_the_query() -> Fact:
    """(22) writes u_i; it is u_ki, and the prior of another query does not fit."""
    residuals: list[float] = []
    counters: list[float] = []
    for call in (*of_role("encoder"), *of_role("decoder")):
        scores, prior = scores_and_prior(call)
        for offs, u in ((residuals, prior), (counters, prior[..., -1:, :])):
            offs.append(weights_residual(u * scores.exp() / (u * scores.exp()).sum(-1, keepdim=True), call))
    return Fact(
        "every query of a self-attention layer has a prior of its own",
        location(T5Attention.compute_bias),
        max(residuals),
        min(counters),
    )


def there_are_three_kinds() -> Fact:
    """In self-attention the x_i are the y_k; in cross-attention they are not, and are not as many."""
    kinds = [call.role for call in t5_calls()]
    same = all((call.source is call.hidden) == (call.role != "cross") for call in t5_calls())
    sizes = all((call.positions[0] == call.positions[1]) == (call.role != "cross") for call in t5_calls())
    call = of_role("cross")[0]
    with torch.no_grad():
        output = generalized(call)(call.hidden, mask=of_role("decoder")[0].padding)
    return Fact(
        "T5 has self-attention in the encoder and in the decoder, and cross-attention from one to the other",
        location(T5Stack.forward),
        yes(sorted(set(kinds)) == ["cross", "decoder", "encoder"] and same and sizes),
        worst(output - call.output, allowed_error(call)[0]),
    )


def decoder_is_causal() -> Fact:
    """(19) has no causal mask: the prior of the decoder depends on where the query is."""
    calls = of_role("decoder")
    residual = max(output_residual(generalized(call), call) for call in calls)
    return Fact(
        "the decoder's self-attention is causal besides: u is zero on every later word",
        location(T5Stack.forward),
        max(residual, *(float(call.weights.triu(1).max()) for call in calls)),
        min(output_residual(changed(call, causal=False), call) for call in calls),
    )


def encoder_and_cross_attention_are_not_causal() -> Fact:
    """Besides positions, their prior consists of padding alone."""
    calls = [*of_role("encoder"), *of_role("cross")]
    return Fact(
        "the encoder's self-attention and the cross-attention are not causal",
        location(T5Stack.forward),
        max(output_residual(generalized(call), call) for call in calls),
        min(output_residual(changed(call, causal=True), call) for call in calls),
    )


def projections_have_no_bias() -> Fact:
    """(22) has none either."""
    layers = [getattr(call.module, name) for call in t5_calls() for name in "qkvo"]
    biased = changed(of_role("encoder")[0], query=_with_bias(layers[0]))
    return Fact(
        "the projections of T5 have no biases",
        location(T5Attention.__init__),
        yes(all(layer.bias is None for layer in layers)),
        output_residual(biased, of_role("encoder")[0]),
    )


def _with_bias(projection: nn.Linear) -> nn.Linear:
    biased = nn.Linear(projection.in_features, projection.out_features)
    with torch.no_grad():
        biased.weight.copy_(projection.weight)
        biased.bias.fill_(1.0)
    return biased


def words_are_masked_by_padding_alone() -> Fact:
    """Changing the words, sentinels included, never changes the mask; every word gets weight, padding none."""
    call = of_role("encoder")[0]
    config, length = t5().config, 5
    padding = torch.tensor([[1, 1, 1, 1, 0]])
    masks = [
        create_bidirectional_mask(config=config, inputs_embeds=t5().shared(words), attention_mask=padding)
        for words in (torch.arange(length)[None], torch.full((1, length), 63))
    ]
    same = torch.equal(*masks)
    seen = visible(call)
    return Fact(
        "T5's mask knows padding, not masked words: a sentinel takes part like any word",
        location(create_bidirectional_mask),
        max(yes(same), yes(bool((call.weights[seen] > 0).all())), float(call.weights[~seen].max())),
        output_residual(generalized(call), call, torch.ones_like(call.padding)),
    )


def layer_norm_only_rescales() -> Fact:
    """Footnote 9: no mean is subtracted and nothing is added."""
    x = torch.randn(64, 32, generator=torch.Generator().manual_seed(0)) + 0.5
    norm = T5LayerNorm(32)
    allowed = tolerances.rounding("float32", 32, float(x.abs().max()) / float(x.square().mean(-1).sqrt().min()))
    with torch.no_grad():
        shipped = norm(x).double()
    wide = x.double()
    expected = wide / (wide.square().mean(-1, keepdim=True) + norm.variance_epsilon).sqrt()
    full = nn.functional.layer_norm(wide, (32,), eps=norm.variance_epsilon)
    facts = [name for name, _ in norm.named_parameters()] == ["weight"]
    return Fact(
        "T5's layer normalization divides by the root mean square: no mean is subtracted, no bias added",
        location(T5LayerNorm),
        max(yes(facts), worst(shipped - expected, allowed)),
        worst(shipped - full, allowed),
    )


def position_is_nowhere_else() -> Fact:
    """Without its biases a layer does not see the order of the words, and nothing before the layers does."""
    parts = {name.split(".")[-2] for name, _ in t5().named_parameters()}
    expected = {"shared", "q", "k", "v", "o", "relative_attention_bias", "wi", "wo", "layer_norm", "final_layer_norm"}
    call = of_role("encoder")[0]
    order = torch.randperm(call.positions[0], generator=torch.Generator().manual_seed(0))
    residuals = []
    for bias in (torch.zeros_like(call.bias), call.bias):  # type: ignore[arg-type]
        with torch.no_grad():
            straight, shuffled = (call.module(x, position_bias=bias) for x in (call.hidden, call.hidden[:, order]))
        padding = torch.ones_like(call.padding)
        run = Call(call.module, "encoder", call.hidden, call.hidden, padding, straight[0], straight[2], bias)
        residuals.append(worst(straight[0][:, order] - shuffled[0], allowed_error(run)[0][:, order]))
    return Fact(
        "T5 has relative position biases in place of position embeddings: no other part sees the order",
        location(T5Stack.__init__),
        max(yes(parts == expected), residuals[0]),
        residuals[1],
    )


FACTS = (
    scores_are_not_divided,
    initialization_holds_the_scale,
    bias_is_inside_the_softmax,
    cross_attention_has_no_position,
    self_attention_has_positions,
    bias_depends_on_relative_position,
    buckets_are_the_definition,
    bias_is_many_to_one,
    sides_are_told_apart,
    table_is_shared_over_layers,
    table_is_trainable_per_head,
    prior_depends_on_the_query,
    there_are_three_kinds,
    decoder_is_causal,
    encoder_and_cross_attention_are_not_causal,
    projections_have_no_bias,
    words_are_masked_by_padding_alone,
    layer_norm_only_rescales,
    position_is_nowhere_else,
)
