"""Tiled attention: a monoid, its identity, and exactness in any order, forwards and backwards."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.instances.attention import Tiled, tilings
from numerics import flash, one_sided, tolerances
from numerics.flash import Contribution, combine, contribution, finish, identity, tiled_attention, tiled_gradients
from numerics.transport import one_sided_plan
from tests.numerics.common import close, in_dtypes, in_halves

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

F64 = torch.float64

PATIENT = settings(deadline=None, max_examples=100)


def parts(x: Tiled) -> list[Contribution]:
    """The contribution of every tile of the first tiling, from scores that are masked by hand."""
    s = x.query @ x.key.mT / x.temperature
    if x.mask is not None and x.mask.is_floating_point():
        s = s + x.mask
    s = s.masked_fill(~x.allowed, -torch.inf)
    pieces = zip(s.split(x.tiles[0], -1), x.value.split(x.tiles[0], -2), strict=True)
    return [contribution(scores, value) for scores, value in pieces]


def same(left: Contribution, right: Contribution, x: Tiled) -> None:
    """The peaks are equal; the sums agree up to the rounding of m terms ≤ 1, each with the rounding of its logit."""
    assert (left.peak == right.peak).all()
    m, largest = x.key.shape[-2], float(x.value.double().abs().max())
    size = m * max(1.0, largest)
    allowed = tolerances.rounding(x.query.dtype, 2 * m, size) + tolerances.eps("float64") * 4 * x.logit * size
    close(left.total, right.total, allowed)
    close(left.weighted, right.weighted, allowed)


# --- the monoid --------------------------------------------------------------------------------------------------


@PATIENT
@given(tilings())
def test_the_identity_changes_nothing(x: Tiled) -> None:
    for part in parts(x):
        for both in (combine(identity(part), part), combine(part, identity(part))):
            for left, right in zip(both, part, strict=True):
                close(left, right, 0.0)


@PATIENT
@given(tilings(), st.randoms(use_true_random=False))
def test_any_bracketing_and_any_order(x: Tiled, random: object) -> None:
    tiles = parts(x)
    left = tiles[0]
    for part in tiles[1:]:
        left = combine(left, part)
    right = tiles[-1]
    for part in reversed(tiles[:-1]):
        right = combine(part, right)
    same(left, right, x)
    shuffled = list(tiles)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    while len(shuffled) > 1:  # as a tree
        shuffled = [combine(*pair) for pair in zip(shuffled[::2], shuffled[1::2], strict=False)] + (
            [shuffled[-1]] if len(shuffled) % 2 else []
        )
    same(left, shuffled[0], x)


def test_associativity_on_three_named_triples() -> None:
    def triple(peak: float, total: float, weighted: float) -> Contribution:
        return Contribution(*(torch.tensor(row, dtype=F64) for row in ([peak], [total], [[weighted]])))

    a, b, c = triple(0.0, 1.0, 2.0), triple(-math.inf, 0.0, 0.0), triple(1.0, 3.0, -1.0)
    for x, y, z in ((a, b, c), (b, b, a), (c, a, b), (b, b, b)):
        for left, right in zip(combine(combine(x, y), z), combine(x, combine(y, z)), strict=True):
            close(left, right, 1e-15)
    assert finish(combine(b, b)).output.tolist() == [[0.0]]
    assert finish(combine(b, b)).log_sum_exp.tolist() == [-math.inf]
    assert combine(a, c).total.item() == pytest.approx(3 + math.exp(-1))


def test_a_masked_tile_is_the_identity() -> None:
    part = contribution(torch.full((2, 3), -torch.inf), torch.ones(3, 4))
    for left, right in zip(part, identity(part), strict=True):
        close(left, right, 0.0)


# --- exactness ---------------------------------------------------------------------------------------------------


@in_dtypes
def test_any_tiling_is_attention(dtype: torch.dtype) -> None:
    @settings(deadline=None, max_examples=150)
    @given(tilings(dtype))
    def check(x: Tiled) -> None:
        y = x.rounded_to(F64)
        expected = torch.nn.functional.scaled_dot_product_attention(y.query, y.key, y.value, y.mask, scale=1 / x.temperature)
        largest, m = float(y.value.abs().max()), x.key.shape[-2]
        allowed = tolerances.rounding(dtype, m, largest) + 2 * m * x.error * largest
        log_z = one_sided.log_partition(y.query @ y.key.mT, x.temperature, y.mask)
        computed = torch.float64 if dtype == F64 else torch.float32
        logs = tolerances.plan(computed, m, (x.query.shape[-1] + 3) * x.logit)
        for tiles in (*x.tiles, 2, 100):
            output, log_sum_exp = tiled_attention(*x.arguments, tile=tiles)
            assert (output.dtype, log_sum_exp.dtype) == (dtype, computed)
            close(output.double(), expected, allowed)
            assert (output[~x.allowed.any(-1)] == 0).all()
            assert ((log_sum_exp == -torch.inf) == ~x.allowed.any(-1)).all()
            close(log_sum_exp.double(), log_z, logs)

    check()


@pytest.mark.parametrize("mistake", ["no rescaling", "a tile is lost"])
def test_the_tolerance_refuses(mistake: str) -> None:
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((3, 2), (6, 2), (6, 2)))
    x = Tiled(q, k, v, None, 1.0, ([3, 3], [6]))
    a, b = parts(x)
    wrong = Contribution(a.peak.maximum(b.peak), a.total + b.total, a.weighted + b.weighted) if mistake == "no rescaling" else a
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
    largest = float(v.abs().max())
    allowed = tolerances.rounding("float64", 6, largest) + 12 * x.error * largest
    assert (finish(wrong).output - expected).abs().max() > 1e6 * allowed


@PATIENT
@given(tilings())
def test_backwards_tile_by_tile(x: Tiled) -> None:
    leaves = [part.clone().requires_grad_() for part in (x.query, x.key, x.value)]
    g = torch.Generator().manual_seed(0)
    upward = torch.randn(*x.query.shape[:-1], x.value.shape[-1], generator=g, dtype=F64)
    slope = torch.randn(x.query.shape[:-1], generator=g, dtype=F64)
    expected = torch.nn.functional.scaled_dot_product_attention(*leaves, x.mask, scale=1 / x.temperature)
    log_z = one_sided.log_partition(leaves[0] @ leaves[1].mT, x.temperature, x.mask)
    live = x.allowed.any(-1)
    loss = (expected * upward).sum() + (torch.where(live, log_z, 0.0) * slope).sum()
    gradients = torch.autograd.grad(loss, leaves)
    tiled = tiled_attention(*leaves, x.mask, x.temperature, tile=x.tiles[0])
    own = torch.autograd.grad((tiled.output * upward).sum() + (torch.where(live, tiled.log_sum_exp, 0.0) * slope).sum(), leaves)
    backward = tiled_gradients(
        x.query,
        x.key,
        x.value,
        flash.Attention(*(part.detach() for part in tiled)),
        upward,
        x.mask,
        x.temperature,
        log_sum_exp_gradient=slope,
        tile=x.tiles[1],
    )
    m, n = x.key.shape[-2], x.query.shape[-2]
    sizes = [float(part.abs().max()) for part in (x.query, x.key, x.value, upward, slope)]
    reach = sizes[3] * sizes[2] * x.value.shape[-1] + sizes[4]
    # ∇s is a weight times an advantage; each weight is off by x.error, each advantage by the rounding of its sums.
    scores = tolerances.score_gradient("float64", m, 2 * reach, x.temperature, x.error)
    allowed = (m * scores * sizes[1], n * scores * sizes[0], n * 2 * x.error * sizes[3])
    for reference, *others, bound in zip(gradients, own, backward, allowed, strict=True):
        for other in others:
            close(other, reference, 4 * bound + 1e-300)


def test_backwards_with_broadcast_tensors_and_a_mask() -> None:
    g = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64).requires_grad_() for shape in ((2, 1, 4, 3), (5, 6, 3), (1, 6, 2)))
    mask = torch.rand(1, 4, 6, generator=g) > 0.4
    result = tiled_attention(q, k, v, mask, tile=4)
    assert result.output.shape == (2, 5, 4, 2)
    upward = torch.randn(2, 5, 4, 2, generator=g, dtype=F64)
    expected = torch.autograd.grad((result.output * upward).sum(), (q, k, v))
    gradients = tiled_gradients(q, k, v, result, upward, mask, tile=1)
    for left, right in zip(gradients, expected, strict=True):
        close(left.detach(), right, 1e-13)


def test_a_batch_is_its_problems_forwards_and_backwards() -> None:
    """Each problem has its own temperature, and log Z has its own derivative."""
    g = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((2, 1, 4, 3), (5, 6, 3), (2, 1, 6, 2)))
    mask = torch.rand(5, 1, 6, generator=g) > 0.4
    tau = torch.tensor([[0.5], [2.0]], dtype=F64)
    upward, slope = torch.randn(2, 5, 4, 2, generator=g, dtype=F64), torch.randn(2, 5, 4, generator=g, dtype=F64)
    result = tiled_attention(q, k, v, mask, tau, tile=4)
    back = tiled_gradients(q, k, v, result, upward, mask, tau, log_sum_exp_gradient=slope, tile=1)
    sums = [torch.zeros_like(x) for x in (q, k, v)]
    for i in range(2):
        for h in range(5):
            leaves = [x.clone().requires_grad_() for x in (q[i, 0], k[h], v[i, 0])]
            s = torch.where(mask[h], leaves[0] @ leaves[1].mT / tau[i, 0], -torch.inf)
            output, log_z = s.softmax(-1) @ leaves[2], s.logsumexp(-1)
            close(result.output[i, h], output.detach(), 1e-14)
            close(result.log_sum_exp[i, h], log_z.detach(), 1e-14)
            parts = torch.autograd.grad((output * upward[i, h]).sum() + (log_z * slope[i, h]).sum(), leaves)
            for total, where, part in zip(sums, ((i, 0), (h,), (i, 0)), parts, strict=True):
                total[where] += part
    for total, part in zip(sums, back, strict=True):
        close(part, total, 1e-13)


def test_the_temperature_is_the_root_of_the_width_by_default() -> None:
    g = torch.Generator().manual_seed(8)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((4, 3), (6, 3), (6, 2)))
    result = tiled_attention(q, k, v)
    close(result.output, (q @ k.mT / math.sqrt(3)).softmax(-1) @ v, 1e-15)
    upward = torch.ones(4, 2, dtype=F64)
    for left, right in zip(
        tiled_gradients(q, k, v, result, upward),
        tiled_gradients(q, k, v, result, upward, temperature=math.sqrt(3)),
        strict=True,
    ):
        close(left, right, 0.0)


def test_masks_and_values_may_have_additional_axes() -> None:
    g = torch.Generator().manual_seed(6)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((1, 4, 3), (6, 3), (6, 2)))
    mask = torch.rand(2, 4, 6, generator=g) > 0.4
    result = tiled_attention(q, k, v, mask, tile=4)
    for i in range(2):
        close(result.output[i], tiled_attention(q[0], k, v, mask[i]).output, 1e-15)
    values = tiled_attention(q[0], k, torch.stack((v, -v)), tile=4)
    close(values.output[1], -values.output[0], 0.0)
    close(values.log_sum_exp, tiled_attention(q, k, v).log_sum_exp.expand(2, 4), 1e-15)


def test_masked_values_may_be_infinite() -> None:
    """A masked key may have any scores; a fully masked row is zero for all values."""
    g = torch.Generator().manual_seed(7)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64).abs() for shape in ((2, 3), (4, 3), (4, 2)))
    k[3] = torch.inf
    mask = torch.tensor([0.0, 0.5, 0.0, -torch.inf], dtype=F64)
    close(tiled_attention(q, k, v, mask).output, tiled_attention(q, k[:3], v[:3], mask[:3]).output, 1e-15)
    nothing = tiled_attention(q, k, torch.full_like(v, torch.inf), torch.zeros(4, dtype=torch.bool))
    close(nothing.output, torch.zeros(2, 2, dtype=F64), 0.0)
    close(nothing.log_sum_exp, torch.full((2,), -torch.inf, dtype=F64), 0.0)


def test_the_log_sum_exp_is_the_optimal_value() -> None:
    """−τ log Z is the minimum of −⟨p, s⟩ + τ Σ p log p, which one_sided evaluates at the plan of the same scores."""
    g = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((4, 3), (6, 3), (6, 2)))
    scores, tau = q @ k.mT, 0.7
    output, log_z = tiled_attention(q, k, v, temperature=tau, tile=[1, 2, 3])
    plan = 4 * one_sided_plan(-scores, temperature=tau)
    close(-tau * log_z, one_sided.objective(plan, scores, tau), 1e-14)
    close(log_z, one_sided.log_partition(scores, tau), 1e-14)
    close(output, plan @ v, 1e-14)


@in_halves
def test_half_precision_is_computed_in_float32(dtype: torch.dtype) -> None:
    g = torch.Generator().manual_seed(4)
    q, k, v = (torch.randn(*shape, generator=g).to(dtype) for shape in ((4, 3), (9, 3), (9, 2)))
    half, wide = tiled_attention(q, k, v, tile=2), tiled_attention(q.float(), k.float(), v.float(), tile=2)
    close(half.output, wide.output.to(dtype), 0.0)
    close(half.log_sum_exp, wide.log_sum_exp, 0.0)
    assert {part.dtype for part in tiled_gradients(q, k, v, half, torch.ones_like(half.output))} == {dtype}


Q, K = torch.zeros(2, 3), torch.zeros(4, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: tiled_attention(Q, K, K, tile=0), "tile"),
        (lambda: tiled_attention(Q, K, K, tile=True), "tile"),
        (lambda: tiled_attention(Q, K, K, tile=[1, 2]), "tile"),
        (lambda: tiled_attention(Q, K, K, tile=[5, -1]), "tile"),
        (lambda: contribution(Q, K), "value"),
        (lambda: contribution(Q[0], K[:3]), "scores"),
        (lambda: contribution(Q, K[:3, 0]), "value"),
        (lambda: contribution(Q.expand(2, 2, 3), K[:3].expand(3, 3, 3)), "value"),
        (lambda: tiled_gradients(Q, K, K, tiled_attention(Q, K, K), K), "output_gradient"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]
