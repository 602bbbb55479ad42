# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Sinkhorn, linear attention, and flash attention
#
# Three famous changes to attention, and three different bargains. Sinkhorn changes *what* is computed: every key must get
# its share. Linear attention changes *which kernel* is used, and trades accuracy for length. Flash attention changes
# *nothing at all* but the order of the additions. We check each against naive arithmetic and look at the price.

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.run.notebooks import show
from numerics import flash, linear, one_sided, tolerances, transport
from numerics.primal import coupling

generator = torch.Generator().manual_seed(3)


def normal(*shape):
    """Standard normal numbers, always the same."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


# %% [markdown]
# ## Sinkhorn: every key gets its share
#
# Attention fixes the row sums and leaves the columns free (`eot.sA.free-target`); transport with both marginals fixes the
# columns as well (`eot.s2.fixed-marginals`). One of the documents names two works that do so. The second does not:

# %%
show("eot.s2.sinkhorn-citation")

# %% [markdown]
# Between the two ends is a path: a price ρ on asking too much of one key.

# %%
n, tau = 8, 0.7
scores = normal(n, n) + 0.7 * normal(n)  # some keys are popular with everyone
prices = (0.0, 0.2, 1.0, math.inf)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
for axis, rho in zip(axes, prices, strict=True):
    weights = one_sided.plan(scores, tau) if rho == 0 else transport.relaxed_weights(scores, tau, rho)
    image = axis.imshow(weights.numpy(), cmap="magma", vmin=0, vmax=1)
    report = transport.diagnose(weights)
    caption = f"imbalance {abs(float(report.imbalance)):.2f}, effective keys {float(report.effective_keys.mean()):.1f}"
    axis.set(
        title="ρ = ∞: balanced" if math.isinf(rho) else f"ρ = {rho:g}" + (": softmax" if rho == 0 else ""),
        xlabel=f"key\n{caption}",
    )
    both = report.information + report.imbalance
    torch.testing.assert_close(report.concentration, both, rtol=0.0, atol=tolerances.rounding("float64", n * n, 4.0))
axes[0].set_ylabel("query")
figure.colorbar(image, ax=axes, label="weight")
plt.show()
balanced = transport.sinkhorn(-scores, temperature=tau)
by_cone = coupling.solve_entropic(-scores.numpy(), np.full(n, 1 / n), np.full(n, 1 / n), tau)
apart = np.abs(balanced.plan.numpy() - by_cone.plan).sum()
allowed = tolerances.plan_from_gap(by_cone.gap, tau) + float(balanced.row_error.sum() + balanced.column_error.sum())
print(f"Newton − conic solver: {apart:.1e}, allowed by the gap {allowed:.1e}")
assert by_cone.certified
assert apart <= allowed

# %% [markdown]
# How concentrated a plan is, and how evenly it treats keys, are different things: concentration is what queries tell us
# about keys *plus* imbalance. The sum is asserted above for every picture.
#
# ## Two ways to write one iteration
#
# Scale the rows, scale the columns, repeat. Written with exp(−C/ε) it fails in single precision as soon as ε is small: the
# kernel underflows to zero. (And it depends on the zero of the cost, which no plan does.) Written with logarithms it is the
# same iteration, and survives. It is still slow where ε is small; Newton's method, with which `transport.sinkhorn` ends, is
# not.


# %%
def plain(cost, epsilon, count):
    """Marginal error after each of so many iterations, with the kernel itself; uniform marginals."""
    kernel = (-cost / epsilon).exp()
    share, right, errors = 1 / len(cost), torch.ones(len(cost), dtype=cost.dtype), []
    for _ in range(count):
        left = share / (kernel @ right)
        right = share / (kernel.T @ left)
        errors.append(float((left * (kernel @ right) - share).abs().sum()))
    return errors


def logarithmic(cost, epsilon, count):
    """The same with logarithms."""
    logits, share = -cost / epsilon, -math.log(len(cost))
    right, errors = torch.zeros(len(cost), dtype=cost.dtype), []
    for _ in range(count):
        left = share - (logits + right).logsumexp(-1)
        right = share - (logits + left[:, None]).logsumexp(-2)
        errors.append(float(((left[:, None] + logits + right).exp().sum(-1) - math.exp(share)).abs().sum()))
    return errors


count = 150
cost = 3 + 4 * torch.rand(n, n, generator=generator, dtype=torch.float64)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for axis, epsilon in zip(axes, (0.5, 0.025), strict=True):
    for method, dtype, style in ((plain, "float32", "s"), (logarithmic, "float32", "o"), (logarithmic, "float64", "-")):
        errors = method(cost.to(getattr(torch, dtype)), epsilon, count)
        broken = "" if np.isfinite(errors).all() else ": NaN from the start"
        axis.semilogy(
            range(1, count + 1), errors, style, markersize=3, markevery=3, label=f"{method.__name__}, {dtype}{broken}"
        )
        if epsilon > 0.1:
            sums = tolerances.rounding(dtype, 2 * n, 4.0)  # float32 cannot be asked for more
            assert errors[-1] <= sums
    exact = transport.sinkhorn(cost, temperature=epsilon)
    axis.axhline(
        float(exact.row_error.sum() + exact.column_error.sum()) + 1e-18,
        color="gray",
        linestyle=":",
        label=f"transport.sinkhorn, {exact.steps} steps",
    )
    axis.set(xlabel="iteration", title=f"ε = {epsilon}")
    axis.legend(fontsize=8)
    assert bool(exact.converged)
axes[0].set_ylabel("marginal error, ℓ₁")
plt.show()
assert not np.isfinite(plain(cost.float(), 0.025, count)).any()

# %% [markdown]
# ## Linear attention: another kernel
#
# With positive features φ, the weights ⟨φ(q), φ(k)⟩ / Σ⟨φ(q), φ(k)⟩ need no n × m matrix. They are the exact plan of a
# transport problem, for *another cost*. Random features make that cost near the right one on average. The kernel is
# unbiased; the weights, being quotients, are not. Their bias is known to first order in 1/F:

# %%
d, keys, trials = 3, 5, 4000
q, k = 0.5 * normal(1, d), 0.5 * normal(keys, d)
kappa, softmax = (q @ k.T).exp()[0], one_sided.plan(q @ k.T)[0]
counts = (8, 16, 32, 64, 128)
biases, doubts, predicted = [], [], []
for features in counts:
    omega = normal(trials, features, d)
    phi_q, phi_k = linear.positive_random_features(q, omega), linear.positive_random_features(k, omega)
    kernel = (phi_q @ phi_k.mT).squeeze(-2)
    spread = (linear.kernel_variance(q, k, features)[0] / trials).sqrt()
    assert float(((kernel.mean(0) - kappa) / spread).abs().max()) < 5  # unbiased, to five standard errors
    noise = kernel / kappa - 1
    first = softmax * (noise - (noise * softmax).sum(-1, keepdim=True))  # its mean is zero: without it one sees better
    sample = linear.kernel_weights(phi_q, phi_k).squeeze(-2) - first - softmax
    biases.append(sample.mean(0))
    doubts.append(float((sample.var(0).sum() / trials).sqrt()))
    predicted.append(linear.ratio_bias(q, k, features)[0])
measured = [float(bias.norm()) for bias in biases]
slope = np.polyfit(np.log(counts[-3:]), np.log(measured[-3:]), 1)[0]
figure, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
axis.errorbar(counts, measured, 2 * np.array(doubts), fmt="o", label=f"measured bias, fitted order {slope:.2f}")
axis.loglog(counts, [float(bias.norm()) for bias in predicted], "k--", label="predicted: first order in 1/F")
axis.set_xscale("log", base=2)
axis.set(xlabel="number of features F", ylabel="‖mean of the weights − softmax‖")
axis.legend()
plt.show()
half, doubled = counts[-2] * biases[-2], counts[-1] * biases[-1]  # F · bias = first order + O(1/F)
limit, doubt = 2 * doubled - half, 2 * counts[-1] * doubts[-1] + counts[-2] * doubts[-2]
distance = float((limit - counts[-1] * predicted[-1]).norm())
print(f"F · bias: predicted {float((counts[-1] * predicted[-1]).norm()):.4f}, measured {float(limit.norm()):.4f} ± {doubt:.4f}")
assert distance <= float((limit - doubled).norm()) + 5 * doubt

# %% [markdown]
# What linear attention computes without the matrix is what the matrix gives: exactly, causal or not.

# %%
omega, values = normal(32, d), normal(200, 4)
query, key = 0.6 * normal(200, d), 0.6 * normal(200, d)
phi_q, phi_k = linear.positive_random_features(query, omega), linear.positive_random_features(key, omega)
for causal in (False, True):
    fast = linear.linear_attention(phi_q, phi_k, values, causal=causal)
    slow = linear.kernel_weights(phi_q, phi_k, causal=causal) @ values
    torch.testing.assert_close(fast, slow, rtol=0.0, atol=tolerances.rounding("float64", 432, 2 * float(values.abs().max())))

# %% [markdown]
# ## Flash attention: the same numbers in another order
#
# Keys come in tiles; each tile leaves a peak, a sum and a weighted sum, and such triples combine in any order. The error
# is rounding, whatever the tile. The naive way, without the peak, overflows as soon as scores are large.

# %%
length, width = 256, 16
query, key, values = 6 * normal(length, width), 6 * normal(length, width), normal(length, width)
reference = one_sided.plan(query @ key.T, math.sqrt(width)) @ values
tiles = (1, 2, 4, 8, 16, 32, 64, 128, 256)
figure, axis = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
peak = float((query @ key.T).abs().max()) / math.sqrt(width)
for dtype in (torch.float64, torch.float32):
    parts = [x.to(dtype) for x in (query, key, values)]
    logit_error = tolerances.rounding(dtype, width, float((query.abs() @ key.abs().T).max()) / math.sqrt(width))
    allowed = (2 * logit_error + tolerances.plan(dtype, length, peak)) * 2 * float(values.abs().max())
    errors = [float((flash.tiled_attention(*parts, tile=tile).output - reference).abs().max()) for tile in tiles]
    (line,) = axis.loglog(tiles, errors, "o-", label=f"{dtype}".removeprefix("torch."))
    axis.axhline(allowed, color=line.get_color(), linestyle=":", label="what rounding may do to it")
    assert max(errors) <= allowed
axis.set_xscale("log", base=2)
axis.set(xlabel="keys in a tile", ylabel="largest error of the output")
axis.legend(fontsize=8)
plt.show()
naive = (query @ key.T / math.sqrt(width)).float().exp()
print(f"without the peak: {int((~naive.isfinite()).sum())} of {naive.numel()} exponentials overflow in float32")

# %% [markdown]
# The backward pass needs log Z of each row and nothing else, and it, too, is only reordered:

# %%
leaves = [x.clone().requires_grad_() for x in (query, key, values)]
(one_sided.plan(leaves[0] @ leaves[1].T, math.sqrt(width)) @ leaves[2]).square().sum().backward()
forward = flash.tiled_attention(query, key, values, tile=48)
gradients = flash.tiled_gradients(query, key, values, forward, 2 * forward.output, tile=100)
for mine, leaf in zip(gradients, leaves, strict=True):
    size = float(query.abs().max() * values.abs().max()) ** 2 * length
    torch.testing.assert_close(mine, leaf.grad, rtol=0.0, atol=tolerances.rounding("float64", length + width, size))
print("largest difference of a gradient:", max(float((m - x.grad).abs().max()) for m, x in zip(gradients, leaves, strict=True)))

# %% [markdown]
# ## Try yourself
#
# - Put a causal mask on `transport.sinkhorn_weights(scores, tau, math.inf)`. Why is the answer the identity?
# - Double the queries of the linear attention. By how much does the bias grow? (`linear.ratio_bias` knows.)
# - Take away the line with the peak: write flash attention without it, and find the first tile that fails.
