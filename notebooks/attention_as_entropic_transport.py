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
# # Attention as entropic transport
#
# Why softmax? Any positive function would turn scores into weights. Here is a reason: a query has one unit of attention
# to send to its keys. Sending it to key j costs −s_j. It wants to pay little, but not to put everything on one key. The
# cheapest plan, with a price τ on certainty, is softmax, and nothing else is.
#
# We look at the proof, then at the landscape, and then ask an optimization solver that has never heard of softmax.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from derivations.run.notebooks import show
from numerics import one_sided, tolerances
from numerics.primal import one_sided as primal

scores = np.array([1.0, 0.4, -0.3])
s = torch.tensor(scores)


def plan(tau):
    """The closed form at temperature τ."""
    return one_sided.plan(s, tau).numpy()


# %% [markdown]
# ## The theorem
#
# Each step below is checked for every number of keys m and every width d; a step that did not hold would be marked ✗.
# Open a step to see its formula. A check that could not fail would be worth nothing, so the record ends with wrong
# versions of the theorem, each with a point at which it fails.

# %%
show("eot.thm3.3")

# %% [markdown]
# ## The landscape
#
# With three keys, all plans fit into a triangle, and the objective is a bowl over it. Dark is low. The white curve is the
# way of softmax as the temperature rises, from the corner of the best key to the even plan in the middle. The circle is
# where the conic solver ends; it knows the objective, and no formula for its minimum.

# %%
corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
steps = 80
triangle = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
path = np.stack([plan(tau) for tau in np.geomspace(0.03, 50, 200)]) @ corners
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for axis, tau in zip(axes, (0.1, 0.5, 2.0), strict=True):
    entropy = one_sided.entropy(torch.tensor(triangle)).numpy()
    axis.tricontourf(*(triangle @ corners).T, -triangle @ scores - tau * entropy, levels=24, cmap="viridis")
    axis.plot(*path.T, color="white", linewidth=1)
    solution = primal.solve(scores, tau)
    axis.plot(*(plan(tau) @ corners), "o", color="tab:red", markersize=5, label="softmax")
    axis.plot(*(solution.plan @ corners), "o", color="black", fillstyle="none", markersize=11, clip_on=False, label="solver")
    for corner, name, side in zip(corners, ("key 1", "key 2", "key 3"), ("right", "left", "center"), strict=True):
        axis.text(*corner, f" {name} ", ha=side, va="bottom" if side == "center" else "top", fontsize=8)
    axis.set_title(f"τ = {tau}: solver's gap {solution.gap:.0e}", pad=14)
    axis.set_aspect("equal")
    axis.axis("off")
    allowed = tolerances.plan_from_gap(solution.gap, tau) + scores.size * tolerances.plan("float64", scores.size, 10.0)
    distance = np.abs(plan(tau) - solution.plan).sum()
    print(f"τ = {tau}: |softmax − solver| = {distance:.1e}, allowed by the solver's gap {allowed:.1e}")
    assert solution.certified
    assert distance <= allowed
axes[0].legend(loc="upper left", fontsize=8, frameon=False)
plt.show()

# %% [markdown]
# How would we know that the bowl has no second dip? The step that settles it is an identity, not a picture: what any plan
# q costs more than softmax is exactly τ KL(q ‖ softmax). Here it is for random plans.

# %%
tau = 0.5
rivals = torch.tensor(np.random.default_rng(0).dirichlet(np.ones(3), 1000))
best = one_sided.plan(s, tau)
excess = one_sided.objective(rivals, s, tau) - one_sided.objective(best, s, tau)
divergence = tau * (rivals * (rivals / best).log()).sum(-1)
allowed = tolerances.rounding("float64", 16, float(s.abs().max()) + tau * np.log(3))
figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
axis.plot(divergence, excess, ".", markersize=3)
axis.set(xlabel="τ KL(q ‖ softmax)", ylabel="J(q) − J(softmax)", title="1000 random plans q")
plt.show()
print(f"largest difference {float((excess - divergence).abs().max()):.1e}, rounding explains {allowed:.1e}")
torch.testing.assert_close(excess, divergence, rtol=0.0, atol=allowed)

# %% [markdown]
# ## What the temperature trades
#
# Entropy rises with τ at the rate Var(s)/τ³, and the expected similarity falls at the rate Var(s)/τ² (`eot.s3.trade-off`).
# The curves are computed; the black tangents are those rates; automatic differentiation has to agree with them.

# %%
temperatures = torch.logspace(-1.3, 1.3, 200, dtype=torch.float64, requires_grad=True)
plans = one_sided.plan(s.expand(200, 3), temperatures)
similarity, entropy = plans @ s, one_sided.entropy(plans)
rates = [torch.autograd.grad(curve.sum(), temperatures, retain_graph=True)[0] for curve in (similarity, entropy)]
with torch.no_grad():
    variance = (plans * (s - similarity[:, None]).square()).sum(-1)
    expected = [-variance / temperatures**2, variance / temperatures**3]
    scale = float((s.abs().max() / temperatures).max()) ** 3
    for rate, formula in zip(rates, expected, strict=True):
        torch.testing.assert_close(rate, formula, rtol=0.0, atol=tolerances.rounding("float64", 3, scale))
figure, axis = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
tau = temperatures.detach().numpy()
for curve, slope, label in zip((similarity, entropy), expected, ("expected similarity", "entropy"), strict=True):
    axis.semilogx(tau, curve.detach(), label=label)
    for index in (60, 100, 140):
        ends = np.array([tau[index] / 1.25, tau[index] * 1.25])
        axis.plot(ends, curve[index].item() + slope[index].item() * (ends - tau[index]), "k-", linewidth=2)
axis.axhline(np.log(3), linestyle=":", color="gray", label="log 3, the most entropy there is")
axis.set(xlabel="temperature τ", ylabel="nats, or units of the scores")
axis.legend()
plt.show()

# %% [markdown]
# ## A line that is not so
#
# Without entropy the cheapest plan can be taken from a corner of the feasible set, where most entries are zero. So as the
# temperature falls to zero, should the entropic plan not become sparse? The document says that it does. It need not:

# %%
show("eot.s3.eps-to-zero")

# %% [markdown]
# The limit is the optimal plan of *largest entropy*. For attention: two keys with equal scores share the weight for ever.

# %%
tied = torch.tensor([1.0, 1.0, 0.2, -0.3], dtype=torch.float64)
cold = torch.logspace(-2, 0.5, 120, dtype=torch.float64)
weights = one_sided.plan(tied.expand(120, 4), cold)
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for column, (score, style) in enumerate(zip(tied.tolist(), ("-", "--", "-", "-"), strict=True)):
    axis.semilogx(cold, weights[:, column], style, linewidth=3 - column / 2, label=f"key {column + 1}: s = {score}")
axis.set(xlabel="temperature τ", ylabel="attention weight")
axis.legend()
plt.show()
limit = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=torch.float64)
torch.testing.assert_close(weights[0], limit, rtol=0.0, atol=tolerances.plan("float64", 4, 100.0))
print("at the lowest temperature:", [f"{x:.3g}" for x in weights[0].tolist()])

# %% [markdown]
# ## Try yourself
#
# - Move one score until a corner of the triangle is taken at τ = 0.1. How far must it be ahead?
# - Put `1.1 * tau` into `plan` and run again. Which cell notices first?
# - `show("eot.rem6.4")`: what is the *value* of the minimum? Compare `one_sided.log_partition` with the solver's objective.
