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
# # The backward pass and Fisher geometry
#
# What does backpropagation tell a query about its keys? Not "this key is good", but "this key is better than what you
# look at now, on average". That is the advantage of reinforcement learning, and it falls out of the derivative of softmax.
# Behind it is one matrix that measures how far apart two plans are. It is worth knowing well; two of the document's
# lines about it are wrong.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.run.notebooks import show
from numerics import fisher, one_sided, tolerances
from numerics.primal import one_sided as primal

generator = torch.Generator().manual_seed(0)


def normal(*shape):
    """Standard normal numbers, always the same."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


# %% [markdown]
# ## The gradient is an advantage

# %%
show("eot.46")

# %% [markdown]
# Five keys, values in the plane, and a loss that wants the context vector to be at a target. Automatic differentiation
# goes through softmax step by step; the formula needs the weights p and the utilities u = −∂L/∂p only. Scores rise
# exactly where the utility is above its mean (`eot.rem5.3`), and a key that is not looked at learns slowly.

# %%
tau, m = 0.7, 5
s, values, target = normal(m).requires_grad_(), normal(m, 2), normal(2)
p = one_sided.plan(s, tau)
c = one_sided.context(p, values)
loss = (c - target).square().sum() / 2
by_autograd, slope = torch.autograd.grad(loss, (s, c), retain_graph=True)
p = p.detach()
u = one_sided.utility(slope, values)
by_formula = one_sided.score_gradient(p, u, tau)
advantage = u - p @ u
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3), layout="constrained")
bars = (("weight p", p), ("advantage u − E[u]", advantage), ("descent direction −∂L/∂s", -by_formula))
for axis, (label, heights) in zip(axes, bars, strict=True):
    axis.bar(range(1, m + 1), heights.tolist(), color=["tab:blue" if height > 0 else "tab:red" for height in heights])
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set(xlabel="key", title=label)
plt.show()
plan_error = tolerances.plan("float64", m, float(s.detach().abs().max()) / tau)
allowed = tolerances.score_gradient("float64", m + 2, float(u.abs().max()), tau, plan_error)
torch.testing.assert_close(by_autograd, by_formula, rtol=0.0, atol=allowed)
print(f"autograd − formula: {float((by_autograd - by_formula).abs().max()):.1e}, rounding explains {allowed:.1e}")

# %% [markdown]
# ## "A baseline to reduce the variance"
#
# Subtracting E[u] looks like the baseline of the REINFORCE algorithm, which is there to make estimates less noisy. The
# document says that it does so here. With two keys it can make the noise larger:

# %%
show("eot.s5.baseline-variance")

# %%
weights, utilities = np.array([0.25, 0.75]), np.array([0.0, 1.0])
score_function = np.array([1.0, 0.0]) - weights[0]  # ∂ log p_i/∂s_1 at τ = 1


def variance(b):
    """Of the one-sample estimate (u_i − b) ∂ log p_i/∂s_1."""
    return weights @ ((utilities - b) * score_function) ** 2 - (weights @ ((utilities - b) * score_function)) ** 2


witness = show("eot.s5.baseline-variance").examination.evidence.witness
for b, proved in ((weights @ utilities, witness.left), (0.0, witness.right)):
    assert abs(variance(b) - float(proved)) <= tolerances.rounding("float64", 2)
b = np.linspace(-0.3, 1.1, 200)
best = weights @ (utilities * score_function**2) / (weights @ score_function**2)
figure, axis = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
axis.plot(b, [variance(x) for x in b])
for x, label in ((0.0, "none"), (best, "best"), (2 * best, "no better than none"), (weights @ utilities, "E[u]")):
    axis.plot(x, variance(x), "o", label=f"{label}: b = {x:.3g}, variance {variance(x):.4f}")
axis.set(xlabel="baseline b", ylabel="variance of the update of score 1")
axis.legend()
plt.show()
assert variance(weights @ utilities) > variance(0.0) > variance(best)

# %% [markdown]
# Backpropagation itself has no variance: it takes the exact mean over all keys. There is nothing to reduce.
#
# ## One matrix, and the power of τ
#
# The Fisher information F is the mean of the squared log-slopes of the weights. The Jacobian of softmax is the same
# matrix up to a power of τ. Which power? By definition, with automatic differentiation for the slopes:

# %%
show("eot.s7.fisher-scaled")

# %%
temperatures = np.geomspace(0.25, 8, 7)
ratios = []
fixed = s.detach()
for tau_ in temperatures:
    slopes = torch.func.jacrev(lambda x, tau_=tau_: one_sided.plan(x, tau_).log())(fixed)
    q = one_sided.plan(fixed, tau_)
    definition = slopes.mT @ (q[:, None] * slopes)
    jacobian = torch.func.jacrev(lambda x, tau_=tau_: one_sided.plan(x, tau_))(fixed)
    allowed = tolerances.rounding("float64", m + 8, 4 / tau_**2)
    torch.testing.assert_close(definition, fisher.fisher(q, tau_), rtol=0.0, atol=allowed)
    torch.testing.assert_close(jacobian, tau_ * definition, rtol=0.0, atol=tau_ * allowed)
    ratios.append(float(jacobian[0, 0] / definition[0, 0]))
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.loglog(temperatures, ratios, "o", label="measured: Jacobian / F")
axis.loglog(temperatures, temperatures, "-", label="corrected: τ")
axis.loglog(temperatures, 1 / temperatures, "--", label="printed: 1/τ")
axis.set_xscale("log", base=2)
axis.set_yscale("log", base=2)
axis.set(xlabel="temperature τ", ylabel="ratio of the two matrices")
axis.legend()
plt.show()

# %% [markdown]
# There is a third place for this matrix: the curvature of the optimal value (`eot.cor7.5`), whose slope is minus the plan
# (`eot.lem6.2`). The conic solver can confirm the slope, since it returns the value alone, with a certified error.

# %%
h = 1e-3
ends = [[primal.solve(fixed.numpy() + side * h * np.eye(m)[j], tau) for side in (1, -1)] for j in range(m)]
slope_of_value = np.array([(up.objective - down.objective) / (2 * h) for up, down in ends])
allowed = max(max(up.gap, down.gap) for up, down in ends) / h  # the values are that exact
allowed += h**2 / 6 * np.sqrt(3) / 18 / tau**2  # |third slope| = |p(1 − p)(1 − 2p)|/τ² ≤ √3/(18τ²)
print(f"solver's slope + weights: {np.abs(slope_of_value + p.numpy()).max():.1e}, allowed {allowed:.1e}")
assert np.abs(slope_of_value + p.numpy()).max() <= allowed

# %% [markdown]
# ## The inverse that does not exist
#
# The natural gradient asks for F⁻¹. But adding one number to all scores changes no weight: in that direction F is zero.

# %%
show("eot.98")

# %%
F = fisher.fisher(p, tau)
print("eigenvalues of F:", [f"{x:.2e}" for x in torch.linalg.eigvalsh(F).tolist()])
assert float((F @ torch.ones(m).double()).abs().max()) <= tolerances.rounding("float64", m, 2 / tau**2)
natural = -torch.linalg.pinv(F, hermitian=True) @ by_autograd
direct = fisher.natural_direction(p, u, tau)
conditioning = float(F.norm()) * tau**2 / float(p.min())  # of F⁺, as the least of D is min p
torch.testing.assert_close(
    natural, direct, rtol=0.0, atol=tolerances.rounding("float64", m**2, conditioning * float(direct.norm()))
)
print("what is left is simple, −F⁺∇L = τ(u − mean of u):", [f"{x:.3f}" for x in direct.tolist()])

# %% [markdown]
# What difference does it make? Fix the utilities, start from plans near each corner, and follow both directions. Dots
# are equal times apart. The plain gradient is F times the natural one: where a key has little weight it hardly moves. The
# natural path is p ∝ p₀ exp(t u), whatever the weights.

# %%
u3, tau = torch.tensor([1.0, 0.5, 0.0]).double(), 1.0
starts = torch.tensor([[0.02, 0.03, 0.95], [0.02, 0.92, 0.06], [0.1, 0.3, 0.6]]).double()
corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
directions = {
    "gradient": lambda q: -one_sided.score_gradient(q, u3.expand_as(q), tau),
    "natural gradient": lambda q: fisher.natural_direction(q, u3.expand_as(q), tau),
}
count, step = 300, 0.02
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, (name, direction) in zip(axes, directions.items(), strict=True):
    x = tau * starts.log()
    path = [starts]
    for _ in range(count):
        x = x + step * direction(one_sided.plan(x, tau))
        path.append(one_sided.plan(x, tau))
    curves = torch.stack(path).numpy() @ corners
    axis.plot(*np.vstack([corners, corners[:1]]).T, "k-", linewidth=1)
    for k in range(len(starts)):
        axis.plot(*curves[:, k].T, "-", color=f"C{k}")
        axis.plot(*curves[::30, k].T, "o", color=f"C{k}", markersize=4)
    for corner, label, side in zip(corners, u3.tolist(), ("right", "left", "left"), strict=True):
        axis.text(*corner, f"  u = {label}  ", ha=side)
    axis.set(title=name, aspect="equal")
    axis.axis("off")
plt.show()
tilted = starts * (count * step * u3).exp()
logit = count * float(x.abs().max()) / tau  # rounding of the sum of all steps
torch.testing.assert_close(path[-1], tilted / tilted.sum(-1, keepdim=True), rtol=0.0, atol=tolerances.plan("float64", 3, logit))

# %% [markdown]
# ## Try yourself
#
# - Make the utilities of two keys equal. Which weights do not change their ratio along the natural path?
# - Find utilities for which E[u] is the best baseline of all. (Hint: look at 2 E[u g²]/E[g²] in the correction.)
# - `show("eot.rem7.4")`: is backpropagation "not Euclidean gradient descent"?
