"""Heads of small random models of the shipped BERT and T5, entry by entry, in float64."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from evidence import Finding, Layer, Reading, Run, finding, float64, hold
from evidence.source.calls import Call, Role, calls, visible
from numerics import tolerances

HEADS, WIDTH = 2, 2
MODEL_WIDTH = HEADS * WIDTH
WORDS = 4
PLACES = (1, 3)  # of the queries that are compared
BLANK = 7  # the number of a sentinel that stands for a word to be inferred
ENCODED, DECODED = [3, BLANK, 5, 0], [2, 4, BLANK, 9]


@cache
def t5_calls() -> list[Call]:
    """The attention calls of a random T5 of two and two layers; output maps are the identity, so heads lie side by side."""
    from transformers import T5Config, T5Model

    config = T5Config(
        vocab_size=16, d_model=MODEL_WIDTH, d_kv=WIDTH, num_layers=2, num_heads=HEADS, d_ff=8, attn_implementation="eager"
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = T5Model(config).double().eval()
        for name, parameter in model.named_parameters():
            if name.endswith(".o.weight"):
                parameter.copy_(torch.eye(MODEL_WIDTH))
            elif name.endswith((".q.weight", ".k.weight", ".v.weight", "relative_attention_bias.weight")):
                nn.init.normal_(parameter, std=0.7)
    words = torch.tensor([ENCODED])
    inputs = {
        "input_ids": words,
        "attention_mask": (words > 0).long(),
        "decoder_input_ids": torch.tensor([DECODED]),
        "decoder_attention_mask": torch.ones(1, WORDS, dtype=torch.int64),
    }
    return calls(model, inputs)


@cache
def bert_calls() -> list[Call]:
    """The attention calls of a random BERT of two layers, with biases."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=16,
        hidden_size=MODEL_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=8,
        initializer_range=0.7,
        attn_implementation="eager",
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = BertModel(config, add_pooling_layer=False).double().eval()
        for name, parameter in model.named_parameters():
            if name.endswith(("query.bias", "key.bias", "value.bias")):
                nn.init.normal_(parameter)
    return calls(model, {"input_ids": torch.tensor([[3, 8, 5, 2]]), "attention_mask": torch.ones(1, WORDS, dtype=torch.int64)})


def projections(call: Call, head: int, *names: str) -> list[Tensor]:
    """The weights (e, d) of one head."""
    return [getattr(call.module, name).weight.detach().unflatten(0, (HEADS, WIDTH))[head] for name in names]


def rounded(point: dict[str, Any]) -> float:
    """The rounding error of a head: products over the widths, a softmax over the words, in float64."""
    magnitude = {name: float(x.abs().max()) + 1 for name, x in point.items() if isinstance(x, Tensor)}
    score = MODEL_WIDTH**2 * WIDTH * magnitude["K"] * magnitude["Q"] * max(magnitude["X"], magnitude["y"]) ** 2
    score += magnitude.get("B", 0.0) + magnitude.get("bK", 0.0) * magnitude.get("bQ", 0.0)
    return tolerances.rounding("float64", WORDS + MODEL_WIDTH, MODEL_WIDTH * magnitude["V"] * magnitude["X"] * (1 + score))


def t5_points(*roles: Role) -> Iterator[tuple[dict[str, Any], Tensor, Tensor]]:
    """Every head and query of these calls: its values as a point, its output (e,) and its weights (n,)."""
    for call in (call for call in t5_calls() if call.role in roles):
        seen = visible(call)[0, 0].double()
        blanks = (torch.tensor(DECODED if call.role == "decoder" else ENCODED) == BLANK).double()
        for head in range(HEADS):
            key, query, value = projections(call, head, "k", "q", "v")
            bias = torch.zeros(WORDS, WORDS, dtype=torch.float64) if call.bias is None else call.bias[0, head].detach()
            line = float64([bias[max(shift, 0), max(-shift, 0)] for shift in range(1 - WORDS, WORDS)])
            for position in PLACES:
                shown = seen[position] / seen[position].sum()
                point = {
                    "n": WORDS,
                    "d": MODEL_WIDTH,
                    "e": WIDTH,
                    "X": call.source[0],
                    "y": call.hidden[0, position],
                    "K": key,
                    "Q": query,
                    "V": value,
                    "B": line,
                    "m": shown,
                    "s": (shown == 0).double(),
                    "j": position + 1,
                    "g": blanks,
                }
                yield point, call.output[0, position].view(HEADS, WIDTH)[head], call.weights[0, head, position]


def t5_outputs(*roles: Role, **values: Tensor) -> list[Reading]:
    """Outputs of the heads of these calls at points with some of the values replaced, independent of the print."""
    return [Reading({**point, **values}, {"T5": output}, rounded(point)) for point, output, _ in t5_points(*roles)]


def t5_marked(mark: str) -> list[Reading]:
    """Weights of marked words, [i]."""
    return [
        Reading(point, {"T5": weights * point[mark]}, rounded(point)) for point, _, weights in t5_points("encoder", "decoder")
    ]


def t5_odds() -> list[Reading]:
    """w_i exp(s_k) u_k for all words i and k, [i, k], with u from the bias and the mask alone."""
    readings = []
    for point, _, weights in t5_points("encoder", "decoder"):
        x, y, key, query = (point[name] for name in ("X", "y", "K", "Q"))
        positions = torch.tensor([WORDS + point["j"] - 2 - word for word in range(WORDS)])
        prior = point["m"] * point["B"][positions].exp()
        other = prior / prior.sum() * ((x @ key.T) @ (query @ y)).exp()
        readings.append(Reading(point, {"T5": torch.outer(weights, other)}, rounded(point) * (1 + float(other.max()))))
    return readings


def bert_outputs() -> list[Reading]:
    """Every head of BERT, for every query, [k, o]."""
    readings = []
    for call in bert_calls():
        for head in range(HEADS):
            key, query, value = projections(call, head, "key", "query", "value")
            biases = {
                f"b{short}": getattr(call.module, name).bias.detach().view(HEADS, WIDTH)[head]
                for short, name in (("K", "key"), ("Q", "query"), ("V", "value"))
            }
            point = {
                "n": WORDS,
                "d": MODEL_WIDTH,
                "e": WIDTH,
                "X": call.hidden[0],
                "y": call.hidden[0, 0],
                "K": key,
                "Q": query,
                "V": value,
                **biases,
            }
            output = call.output[0].view(-1, HEADS, WIDTH)[:, head]
            readings.append(Reading(point, {"BERT": output}, rounded(point)))
    return readings


# ── what they say of the print, and of its correction ───────────────────────────────────────────────────────────────


def corrected(claim: str, model: str, printed: Iterable[Reading], repaired: Iterable[Reading]) -> Finding:
    """Judge the print by some readings, and the correction with its twins by others."""
    statement = hold(claim, Layer.SOURCE, printed, twins=False)
    correction = hold(claim, Layer.SOURCE, repaired, corrected=True)
    return replace(finding(correction, scope(model)), outcome=statement.outcome, correction=correction.outcome)


def scope(model: str) -> str:
    """A description of the inputs."""
    return f"every head of a random {model} of the shipped code, width {WIDTH}, {WORDS} words, float64"


def bert_heads(claim: str, run: Run) -> Finding:
    outputs = bert_outputs()
    return corrected(claim, "BERT", outputs, outputs)


def t5_heads(claim: str, run: Run) -> Finding:
    outputs = t5_outputs("encoder", "decoder")
    return corrected(claim, "T5", outputs, outputs)


def t5_heads_as_printed(claim: str, run: Run) -> Finding:
    """Check that the printed formula gives the shipped head itself."""
    return finding(hold(claim, Layer.SOURCE, t5_outputs("encoder", "decoder")), scope("T5"))


def t5_cross_heads(claim: str, run: Run) -> Finding:
    """B is the position bias that a self-attention layer of the decoder has."""
    table = next(point["B"] for point, *_ in t5_points("decoder"))
    outputs = t5_outputs("cross", B=table)
    return corrected(claim, "T5", outputs, outputs)


def t5_masks(claim: str, run: Run) -> Finding:
    """The print gives blanks no weight; in fact the words hidden by the attention mask have none."""
    return corrected(claim, "T5", t5_marked("g"), t5_marked("s"))


def t5_priors(claim: str, run: Run) -> Finding:
    return finding(hold(claim, Layer.SOURCE, t5_odds()), scope("T5"))
