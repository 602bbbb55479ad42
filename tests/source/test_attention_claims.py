"""What the shipped BERT and T5 say about deciphering and inference: heads of small models, in float64, entry by entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, T5Config, T5Model
from transformers.models.t5.modeling_t5 import T5LayerNorm

from derivations.catalogue import entries
from derivations.claims import Evidence, Layer, Outcome
from evidence.harness import Formula, Reading, Vote, assert_sound, consider, float64
from evidence.source import shipped_bert, shipped_t5
from evidence.source.shipped import Call, calls, visible
from numerics import tolerances

Record = Callable[[Evidence], None]
HEADS, WIDTH = 2, 2
MODEL_WIDTH = HEADS * WIDTH
WORDS = 4
PLACES = (1, 3)                                              # of the queries that are looked at
BLANK = 7                                                    # the number of a sentinel that stands for a word to be inferred
ENCODED, DECODED = [3, BLANK, 5, 0], [2, 4, BLANK, 9]


@cache
def t5_calls() -> list[Call]:
    """The attention calls of a random T5 of two and two layers; output maps are the identity, so heads lie side by side."""
    config = T5Config(vocab_size=16, d_model=MODEL_WIDTH, d_kv=WIDTH, num_layers=2, num_heads=HEADS, d_ff=8,
                      attn_implementation="eager")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = T5Model(config).double().eval()
        for name, parameter in model.named_parameters():
            if name.endswith(".o.weight"):
                parameter.copy_(torch.eye(MODEL_WIDTH))
            elif name.endswith((".q.weight", ".k.weight", ".v.weight", "relative_attention_bias.weight")):
                nn.init.normal_(parameter, std=0.7)
    words = torch.tensor([ENCODED])
    inputs = {"input_ids": words, "attention_mask": (words > 0).long(), "decoder_input_ids": torch.tensor([DECODED]),
              "decoder_attention_mask": torch.ones(1, WORDS, dtype=torch.int64)}
    return calls(model, inputs)


@cache
def bert_calls() -> list[Call]:
    """The attention calls of a random BERT of two layers, with biases."""
    config = BertConfig(vocab_size=16, hidden_size=MODEL_WIDTH, num_hidden_layers=2, num_attention_heads=HEADS,
                        intermediate_size=8, initializer_range=0.7, attn_implementation="eager")
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


def rounded(point: dict[str, object]) -> float:
    """What rounding may do to a head: products over the widths, a softmax over the words, in float64."""
    magnitude = {name: float(x.abs().max()) + 1 for name, x in point.items() if isinstance(x, Tensor)}
    score = MODEL_WIDTH**2 * WIDTH * magnitude["K"] * magnitude["Q"] * max(magnitude["X"], magnitude["y"]) ** 2
    score += magnitude.get("B", 0.0) + magnitude.get("bK", 0.0) * magnitude.get("bQ", 0.0)
    return tolerances.rounding("float64", WORDS + MODEL_WIDTH, MODEL_WIDTH * magnitude["V"] * magnitude["X"] * (1 + score))


def t5_points(role: tuple[str, ...]) -> Iterator[tuple[dict[str, object], Tensor, Tensor]]:
    """Every head and query of these calls: the point it is, its output (e,) and its weights (n,)."""
    for call in (call for call in t5_calls() if call.role in role):
        seen = visible(call)[0, 0].double()
        blanks = (torch.tensor(DECODED if call.role == "decoder" else ENCODED) == BLANK).double()
        for head in range(HEADS):
            key, query, value = projections(call, head, "k", "q", "v")
            bias = torch.zeros(WORDS, WORDS, dtype=torch.float64) if call.bias is None else call.bias[0, head].detach()
            line = float64([bias[max(shift, 0), max(-shift, 0)] for shift in range(1 - WORDS, WORDS)])
            for place in PLACES:
                shown = seen[place] / seen[place].sum()
                point = {"n": WORDS, "d": MODEL_WIDTH, "e": WIDTH, "X": call.source[0], "y": call.hidden[0, place], "K": key,
                         "Q": query, "V": value, "B": line, "m": shown, "s": (shown == 0).double(), "j": place + 1,
                         "g": blanks, "f": (1 - blanks) / (1 - blanks).sum()}
                yield point, call.output[0, place].unflatten(-1, (HEADS, WIDTH))[head], call.weights[0, head, place]


def t5_heads(claim: str) -> list[Reading]:
    """Outputs of self-attention heads, whatever the claim prints about them."""
    return [Reading(point, {"T5": output}, rounded(point)) for point, output, _ in t5_points(("encoder", "decoder"))]  # type: ignore[arg-type]


def t5_cross(claim: str) -> list[Reading]:
    """Outputs of cross-attention heads; B is the position bias that a self-attention layer of the decoder has."""
    table = next(point["B"] for point, *_ in t5_points(("decoder",)))
    return [Reading({**point, "B": table}, {"T5": output}, rounded(point))  # type: ignore[arg-type, dict-item]
            for point, output, _ in t5_points(("cross",))]


def t5_marked(mark: str) -> Callable[[str], list[Reading]]:
    """Weights of marked words, [i]."""
    def found(claim: str) -> list[Reading]:
        return [Reading(point, {"T5": weights * point[mark]}, rounded(point))  # type: ignore[arg-type, operator]
                for point, _, weights in t5_points(("encoder", "decoder"))]

    return found


def t5_priors(claim: str) -> list[Reading]:
    """w_i exp(s_k) u_k for all words i and k, [i, k], with u from the bias and the mask alone."""
    found = []
    for point, _, weights in t5_points(("encoder", "decoder")):
        x, y, key, query = (point[name] for name in ("X", "y", "K", "Q"))
        places = torch.tensor([WORDS + point["j"] - 2 - word for word in range(WORDS)])  # type: ignore[operator]
        prior = point["m"] * point["B"][places].exp()  # type: ignore[operator, index]
        other = prior / prior.sum() * ((x @ key.T) @ (query @ y)).exp()  # type: ignore[operator, union-attr]
        found.append(Reading(point, {"T5": torch.outer(weights, other)}, rounded(point) * (1 + float(other.max()))))  # type: ignore[arg-type]
    return found


def bert_heads(claim: str) -> list[Reading]:
    """Every head and query of BERT."""
    found = []
    for call in bert_calls():
        for head in range(HEADS):
            key, query, value = projections(call, head, "key", "query", "value")
            biases = {f"b{short}": getattr(call.module, name).bias.detach().view(HEADS, WIDTH)[head]
                      for short, name in (("K", "key"), ("Q", "query"), ("V", "value"))}
            point = {"n": WORDS, "d": MODEL_WIDTH, "e": WIDTH, "X": call.hidden[0], "y": call.hidden[0, 0], "K": key,
                     "Q": query, "V": value, **biases}
            output = call.output[0].unflatten(-1, (HEADS, WIDTH))[:, head]
            found.append(Reading(point, {"BERT": output}, rounded(point)))  # type: ignore[arg-type]
    return found


SAID = f"every head of a random T5 of the shipped code, width {WIDTH}, {WORDS} words, float64"
T5_SELF = (t5_heads, t5_heads)
CHECKS: dict[str, tuple[tuple[Callable[[str], list[Reading]], Callable[[str], list[Reading]]], str]] = {
    "deciphering.21": ((bert_heads, bert_heads), SAID.replace("T5", "BERT")),
    "deciphering.22": (T5_SELF, SAID),
    "deciphering.s8.t5-reparametrization": (T5_SELF, SAID),
    "deciphering.s8.cross-prior": ((t5_cross, t5_cross), SAID),
    "deciphering.s7.t5-structure": (T5_SELF, SAID),
    "deciphering.s7.t5-realizes": (T5_SELF, SAID),
    "deciphering.s7.t5-inputs": ((t5_priors, t5_priors), SAID),
    "deciphering.s7.mask-function": ((t5_marked("g"), t5_marked("s")), SAID),
    "inference.s7.t5-structure": (T5_SELF, SAID),
    "inference.s7.t5-realizes": (T5_SELF, SAID),
    "inference.s7.t5-inputs": ((t5_priors, t5_priors), SAID),
    "inference.s7.mask-function": ((t5_marked("g"), t5_marked("s")), SAID),
}


def source(claim: str) -> object:
    """A pytest parameter for a claim."""
    return pytest.param(claim, id=claim, marks=pytest.mark.claim(claim, Layer.SOURCE))


@pytest.mark.parametrize("claim", [source(claim) for claim in CHECKS])
def test_shipped_heads(claim: str, record_evidence: Record) -> None:
    start = time.perf_counter()
    entry, (reads, scope) = entries()[claim], CHECKS[claim]
    statement, repaired = entry.printed(), entry.repaired()
    assert statement is not None
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    printed, corrected = Vote(claim, Layer.SOURCE), Vote(claim, Layer.SOURCE)
    for reading in reads[0](claim):
        consider(printed, Formula(statement), {} if repaired else twins, reading)
    for reading in reads[1](claim) if repaired else ():
        consider(corrected, Formula(repaired), twins, reading)  # type: ignore[arg-type]
    shown = corrected if repaired else printed
    evidence = Evidence(
        claim=claim,
        layer=Layer.SOURCE,
        outcome=printed.outcome,
        correction=None if repaired is None else corrected.outcome,
        scope=f"{scope}, worst error {shown.worst:.2g} of the tolerance",
        seconds=time.perf_counter() - start,
        detail=shown.why_not,
        error=shown.worst,
        refuted_twins=shown.refuted,
    )
    record_evidence(evidence)
    assert_sound(evidence)


# ── counts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def position_numbers() -> tuple[int, int]:
    """How many trained numbers of T5-small hold positions, and how many numbers it has."""
    with torch.device("meta"):
        model = T5Model(T5Config(num_decoder_layers=6))
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters() if parameter.requires_grad}
    return sum(size for name, size in sizes.items() if "relative_attention_bias" in name), sum(sizes.values())



@pytest.mark.parametrize(("claim", "count", "expected", "fact"), [
    pytest.param("deciphering.s8.three-types", lambda: len({call.role for call in t5_calls()}), 3,
                 shipped_t5.there_are_three_kinds, id="deciphering.s8.three-types",
                 marks=pytest.mark.claim("deciphering.s8.three-types", Layer.SOURCE)),
    pytest.param("deciphering.s7.trainable-positions", lambda: position_numbers()[0], 2 * 32 * 8,
                 shipped_t5.position_is_nowhere_else, id="deciphering.s7.trainable-positions",
                 marks=pytest.mark.claim("deciphering.s7.trainable-positions", Layer.SOURCE)),
])
def test_shipped_counts(
    claim: str, count: Callable[[], int], expected: int, fact: Callable[[], shipped_t5.Finding], record_evidence: Record
) -> None:
    start = time.perf_counter()
    found, finding = count(), fact()
    killed = [name for name, make in entries()[claim].twins.items() if int(make().value) != found]
    evidence = Evidence(
        claim=claim,
        layer=Layer.SOURCE,
        outcome=Outcome.HOLDS if found == expected and finding.holds else Outcome.REFUTED,
        scope=f"{finding.where}: {found} counted",
        seconds=time.perf_counter() - start,
        detail=finding.says,
        refuted_twins=tuple(killed),
    )
    record_evidence(evidence)
    assert evidence.outcome is Outcome.HOLDS
    assert set(killed) == set(entries()[claim].twins)


@pytest.mark.claim("deciphering.s7.little-cost", Layer.SOURCE)
def test_cost_of_positions(record_evidence: Record) -> None:
    found, whole = position_numbers()
    record_evidence(Evidence(
        claim="deciphering.s7.little-cost",
        layer=Layer.SOURCE,
        outcome=Outcome.HOLDS if found < whole / 10_000 else Outcome.REFUTED,
        scope="the shipped T5 at the sizes of T5-small",
        detail=f"{found} of {whole:,} trained numbers hold positions, and one addition for each score is all that they cost",
    ))
    assert found < whole / 10_000


# ── layer normalization ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.claim("deciphering.fn9", Layer.SOURCE)
def test_layer_norm(record_evidence: Record) -> None:
    start = time.perf_counter()
    entry, vote = entries()["deciphering.fn9"], Vote("deciphering.fn9", Layer.SOURCE)
    statement = entry.printed()
    assert statement is not None
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    for seed in range(12):
        generator = torch.Generator().manual_seed(seed)
        x, gain, offset = torch.randn(3, 2 + seed % 4, generator=generator, dtype=torch.float64) + 1
        norm = T5LayerNorm(len(x), eps=0.1).double()
        centred = x - x.mean()
        with torch.no_grad():
            norm.weight.copy_(gain)
            output = norm(centred)
        # The shipped module takes the mean square in float32, whatever it is given.
        allowed = tolerances.rounding("float32", len(x), float(gain.abs().max() * centred.abs().max()) / 0.1**0.5)
        point = {"d": len(x), "eps": 0.1, "x": x, "G": gain, "bN": offset}
        consider(vote, Formula(statement), twins, Reading(point, {"T5": output}, allowed))
    finding = shipped_t5.layer_norm_only_rescales()
    evidence = Evidence(
        claim="deciphering.fn9",
        layer=Layer.SOURCE,
        outcome=vote.outcome if finding.holds else Outcome.REFUTED,
        scope=f"{finding.where}: {vote.instances} inputs, worst error {vote.worst:.2g} of the tolerance",
        seconds=time.perf_counter() - start,
        detail=vote.why_not or finding.says,
        error=vote.worst,
        refuted_twins=vote.refuted,
    )
    record_evidence(evidence)
    assert_sound(evidence)


# ── what the pretrained encoder adds ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("fact", [
    shipped_bert.queries_have_a_bias, shipped_bert.values_have_a_bias, shipped_bert.bias_of_keys_drops_out,
    shipped_bert.words_are_masked_by_padding_alone, shipped_t5.scores_are_not_divided,
], ids=lambda fact: fact.__name__)
def test_larger_models_agree(fact: Callable[[], shipped_t5.Finding]) -> None:
    """The facts behind the corrections hold in the pretrained encoder and in a T5 of ordinary width."""
    finding = fact()
    assert finding.holds, f"{finding.says}: {finding.residual:.3g} tolerances away, the wrong version {finding.counter:.3g}"
