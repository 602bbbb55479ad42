"""The vision transformer of Section 9's experiment: the output of its last attention, and its size."""

import math

import pytest
import torch
from torch import Tensor

from numerics import tolerances
from numerics.experiments.ot_vit import sizes
from numerics.experiments.ot_vit.model import (
    Architecture,
    Attention,
    Kind,
    TransportAttention,
    UntiedTransportAttention,
    VisionTransformer,
    parameters,
)

SMALL = Architecture(side=4, channels=1, classes=3, patch=2, hidden=8, heads=2, mlp=12, layers=2)
every_kind = pytest.mark.parametrize("kind", Kind)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def model(kind: Kind, architecture: Architecture = SMALL) -> VisionTransformer:
    torch.manual_seed(0)
    return VisionTransformer(architecture, kind)


def close(left: Tensor, right: Tensor, size: int = 64) -> None:
    scale = float(left.detach().abs().max()) * size
    torch.testing.assert_close(left, right, rtol=0, atol=tolerances.rounding("float32", size, scale))


def by_hand(scores: Tensor, values: Tensor) -> Tensor:
    """Σ_i softmax(scores)_i values_i, by heads."""
    return torch.einsum("bhqn,bhnd->bqhd", scores.softmax(-1), values).flatten(-2)


def heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (SMALL.heads, -1)).transpose(1, 2)


def test_without_a_cost_transport_is_softmax_over_tied_keys_and_values() -> None:
    last = model(Kind.TIED).last
    assert isinstance(last, TransportAttention)
    query, tokens, extra = drawn(5, 1, 8, seed=1), drawn(5, 4, 8, seed=2), drawn(5, 6, 8, seed=3)
    layer = last.attention
    t = heads(layer.to_templates(torch.cat([tokens, extra], 1)))
    scores = torch.einsum("bhqd,bhnd->bhqn", heads(layer.to_evidence(query)), t) / math.sqrt(SMALL.hidden)
    close(last(query, tokens, extra), layer.to_output(by_hand(scores, t)))


def test_a_cost_changes_the_weights() -> None:
    query, tokens = drawn(5, 1, 8, seed=1), 3 * drawn(5, 4, 8, seed=2)
    tied, transport = (model(kind).last(query, tokens) for kind in (Kind.TIED, Kind.TRANSPORT))
    assert float((tied - transport).detach().abs().max()) > 1e-3


def test_untied_transport_is_the_mixture_that_is_printed() -> None:
    """(25) written out, with templates = tokens, z = KᵀQy, and V applied after the mean."""
    last = model(Kind.TRANSPORT_UNTIED).last
    assert isinstance(last, UntiedTransportAttention)
    query, tokens, extra = drawn(2, 1, 8, seed=1), drawn(2, 4, 8, seed=2), drawn(2, 3, 8, seed=3)
    seen = torch.cat([tokens, extra], 1)
    width = SMALL.hidden // SMALL.heads
    outputs = []
    for head in range(SMALL.heads):
        rows = slice(head * width, (head + 1) * width)
        z = query @ last.to_queries.weight[rows].mT @ last.to_keys.weight[rows]
        each = (seen @ z.mT + seen @ tokens.mT) / math.sqrt(SMALL.hidden)  # C has no influence
        p = each.softmax(1).mean(-1, keepdim=True)
        outputs.append((p * seen).sum(1, keepdim=True) @ last.to_values.weight[rows].mT)
    close(last(query, tokens, extra), last.to_output(torch.cat(outputs, -1)))


@every_kind
def test_a_masked_companion_has_no_influence(kind: Kind) -> None:
    made = model(kind)
    x, extra = drawn(3, 5, 8, seed=1), drawn(3, 5, 8, seed=2)
    single = made.classify(x)
    masked = made.classify(x, extra, torch.tensor([[True], [False], [False]]))
    close(masked[1:], single[1:])
    assert float((masked[0] - single[0]).detach().abs().max()) > 1e-6


@every_kind
def test_a_companion_counts_by_content_and_not_by_position(kind: Kind) -> None:
    made = model(kind)
    x, extra = drawn(3, 5, 8, seed=1), drawn(3, 5, 8, seed=2)
    close(made.classify(x, extra), made.classify(x, extra.flip(1)))


@every_kind
def test_an_image_is_no_news_to_itself(kind: Kind) -> None:
    """Repeated templates share the weight of one; nothing changes if all are repeated."""
    made, x = model(kind), 3 * drawn(3, 5, 8, seed=1)
    close(made.classify(x, x), made.classify(x))


def test_the_prior_of_a_companion_matters() -> None:
    x, extra = 3 * drawn(3, 5, 8, seed=1), 3 * drawn(3, 5, 8, seed=2)
    own, even = (model(kind).classify(x, extra) for kind in (Kind.TRANSPORT, Kind.TRANSPORT_EVEN))
    close(model(Kind.TRANSPORT).classify(x), model(Kind.TRANSPORT_EVEN).classify(x))
    assert float((own - even).detach().abs().max()) > 1e-4


def test_all_kinds_start_with_the_same_other_weights() -> None:
    first, *others = (
        {name: value for name, value in model(kind).state_dict().items() if not name.startswith("last.")} for kind in Kind
    )
    for other in others:
        assert other.keys() == first.keys()
        assert all(torch.equal(other[name], first[name]) for name in first)


def test_ordinary_attention_is_the_library_s() -> None:
    layer = Attention(8, 2)
    peer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        parts = (layer.to_queries, layer.to_keys, layer.to_values)
        peer.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        peer.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        peer.out_proj.load_state_dict(layer.to_output.state_dict())
    x = drawn(3, 5, 8)
    close(layer(x, x), peer(x, x, x, need_weights=False)[0])


@every_kind
def test_patches_are_squares(kind: Kind) -> None:
    """Without positions, exchanged patches give the same output; shifted rows do not."""
    made = model(kind)
    torch.nn.init.zeros_(made.positions)
    images = drawn(2, 1, 4, 4)
    exchanged = torch.cat([images[..., 2:], images[..., :2]], -1)
    close(made(images), made(exchanged))
    assert float((made(images) - made(images.roll(1, -1))).detach().abs().max()) > 1e-5


@every_kind
def test_bfloat16_is_close(kind: Kind) -> None:
    made, images = model(kind), drawn(4, 1, 4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        half = made(images)
    wide = made(images)
    torch.testing.assert_close(half.float(), wide, rtol=0, atol=30 * tolerances.eps("bfloat16"))
    assert not torch.equal(half.float(), wide)


def written_out(a: Architecture) -> int:
    """The number of ViT's parameters by arithmetic."""
    attention = 4 * (a.hidden**2 + a.hidden)
    perceptron = 2 * a.hidden * a.mlp + a.hidden + a.mlp
    layer = attention + perceptron + 4 * a.hidden
    embedding = a.channels * a.patch**2 * a.hidden + a.hidden + a.hidden + (1 + a.patches) * a.hidden
    return embedding + a.layers * layer + 2 * a.hidden + a.classes * (a.hidden + 1)


@pytest.mark.parametrize("architecture", [SMALL, Architecture(32, 3, 100, 4, 256, 8, 512)])
def test_parameters(architecture: Architecture) -> None:
    ordinary = written_out(architecture)
    fewer = ordinary - architecture.hidden**2 - architecture.hidden
    assert {kind: parameters(architecture, kind) for kind in Kind} == {
        Kind.ORDINARY: ordinary,
        Kind.TIED: fewer,
        Kind.TRANSPORT: fewer,
        Kind.TRANSPORT_EVEN: fewer,
        Kind.TRANSPORT_UNTIED: ordinary,
    }


def test_sizes_with_the_printed_number() -> None:
    by_size = {(each.architecture.hidden, each.architecture.mlp): each for each in sizes.fitting("cifar10", ratios=(2, 4))}
    assert {size: (each.vit, each.transport) for size, each in by_size.items()} == {
        (256, 512): (3_195_146, 3_129_354),
        (208, 832): (3_157_658, 3_114_186),
    }
    assert not any(each.both for each in by_size.values())
    hundred = sizes.fitting("cifar100")
    assert [each.architecture.hidden for each in hundred] == [296, 256, 232, 208]
    assert [each.architecture.hidden for each in hundred if each.both] == [256]
    for each in (*by_size.values(), *hundred):
        assert "3.2" in (f"{each.vit / 1e6:.1f}", f"{each.transport / 1e6:.1f}")
    for ratio, (hidden, _) in zip((2, 4), by_size, strict=True):
        for other in (hidden - sizes.STEP, hidden + sizes.STEP):
            each = sizes.size(Architecture(32, 3, 10, 4, other, 8, ratio * other))
            assert each.vit < sizes.FEWEST or each.transport >= sizes.MOST


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"patch": 3}, "patch: expected a divisor of the side 4, got 3"),
        ({"heads": 3}, "hidden: expected a multiple of the 3 heads, got 8"),
        ({"layers": 0}, "layers: expected an integer ≥ 1, got 0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changed: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Architecture(**{**vars(SMALL), **changed})


def test_a_dataset_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="dataset: expected one of fashion-mnist, cifar10, cifar100, got 'digits'"):
        sizes.fitting("digits")
