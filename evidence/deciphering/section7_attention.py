"""Votes on: Section 7: (18) as an attention layer, alone, in a stack and with several heads."""

from dataclasses import replace

import torch
from torch.nn.functional import scaled_dot_product_attention

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.attention import Both, both, reading
from evidence.deciphering.attention_mem import output_of_layer, weights_of_layer
from evidence.deciphering.conic_attention import exact_mean, linearized
from evidence.deciphering.conic_dual import conic_second_of_estimate
from evidence.deciphering.expansion_approximations import second_of_estimate
from evidence.instances.heads import Head, drawn_heads
from evidence.instances.mem import mem_problems
from numerics import mem
from numerics.attention import attention_weights


@confirms(Layer.TORCH, "deciphering.s7.stack", on=drawn_heads(), count=12)
def any_inputs(head: Head) -> Reading:
    query, mask = head["y"][None], head.log_mask[None]
    return reading(head, library=head.by_library(query, mask, None)[0], generalized=head.generalized(query, mask)[0])


@confirms(Layer.TORCH, "deciphering.s7.grouping", on=drawn_heads(smallest_n=2), count=12)
def after_another_layer(head: Head) -> Reading:
    generator = torch.Generator().manual_seed(head.seed + 1)
    scores = torch.randn(head.d, head.d, generator=generator, dtype=torch.float64).clamp(-1, 1)
    inputs = torch.softmax(head["X"] @ scores.to(head.device) @ head["X"].T, -1) @ head["X"]
    query, key, value = (head.projected(name, inputs) for name in ("Q", "K", "V"))
    with torch.no_grad():
        layer = head.layer()(inputs, inputs)
    plain = reading(
        head, scores @ scores, library=scaled_dot_product_attention(query[None], key[None], value[None])[0], generalized=layer
    )
    return replace(plain, point={**plain.point, "G": scores})


@confirms(Layer.TORCH, "deciphering.s7.multi-head", on=drawn_heads(), count=12)
def side_by_side(head: Head) -> Reading:
    query, masks = head["y"][None], head["U"].log()[:, None]
    library = torch.stack([head.by_library(query, masks[h], None, head=h)[0] for h in range(head.heads)])
    with torch.no_grad():
        layer = head.layer(all_heads=True)(query, head["X"], masks)
    routes = {"library": library, "generalized": layer.view(head.heads, head.e)}
    return Reading(head.point(all_heads=True), routes, head.tolerance(*routes.values()))


@confirms(Layer.TORCH, "deciphering.fn8", on=both, count=12)
def unnormalized(drawn: Both) -> Reading:
    head = drawn.head
    tilted = mem.tilt(drawn.alpha * head["z"], head["T"], drawn.raw / drawn.raw.sum())
    return drawn.reading(attention=attention_weights(head["T"], head["z"][None], drawn.raw.log(), drawn.alpha)[0], mem=tilted)


@confirms(Layer.TORCH, "deciphering.s7.dot-product", on=both, count=12)
def uniform(drawn: Both) -> Reading:
    head = drawn.head
    library = scaled_dot_product_attention(head["z"][None, None], head["T"][None], head["T"][None], scale=drawn.alpha)[0, 0]
    return drawn.reading(mem=mem.closed_form(head["T"], head["z"], None, drawn.alpha), library=library)


@confirms(Layer.TORCH, "deciphering.s7.two-pieces", on=both, count=12)
def log_odds(drawn: Both) -> Reading:
    head = drawn.head
    weights = attention_weights(head["T"], head["z"][None], head["u"].log(), drawn.alpha)[0].log()
    return drawn.reading(attention=weights[:, None] - weights)


VOTES = [
    Sampled(
        "deciphering.s7.solves-the-problem",
        Layer.TORCH,
        output_of_layer,
        on=mem_problems(smallest_n=2),
        count=16,
        corrected=second_of_estimate,
    ),
    Sampled("deciphering.s7.linearized", Layer.TORCH, weights_of_layer, on=mem_problems(smallest_n=2)),
    Sampled(
        "deciphering.s7.solves-the-problem",
        Layer.PRIMAL,
        exact_mean,
        on=mem_problems(smallest_n=2),
        count=8,
        corrected=conic_second_of_estimate,
    ),
    Sampled("deciphering.s7.linearized", Layer.PRIMAL, linearized, on=mem_problems(smallest_n=2), count=12),
]
