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
# # How to add a claim
#
# You have read a sentence in a paper, and you do not believe it. Or you do, and want to know how generally it is true. Here
# you write it down, let the machine prove it for every size, and watch it refuse three things: a wrong version, a check
# without power, and a wish.
#
# The sentence: **doubling all scores is the same as halving the temperature.** Somebody else says: *doubling all scores
# squares the weights.* Which of the two?

# %%
import matplotlib.pyplot as plt
import sympy as sp
import torch

from derivations.calculus.sums import total
from derivations.documents.eot.notation import j, l, m, s, softmax, tau
from derivations.judge.verdicts import judge
from derivations.records import rendering
from derivations.records.claims import Evidence, Layer, Outcome, Severity
from derivations.register.catalogue import entries
from derivations.register.claiming import claim
from derivations.register.examining import examine
from derivations.relations import Equation, Fails
from derivations.run.notebooks import show
from numerics import one_sided, tolerances

known = len(entries())
print(known, "claims are in the catalogue")

# %% [markdown]
# ## Write it
#
# A claim is one function. Its docstring is the statement in your words; it yields relations, one fact a step, and the last
# one is the statement. `s` is a vector of m scores, and m is a symbol: nothing below is about a particular size. In the
# repository this cell would be a part of `derivations/documents/eot/section3_remarks.py`; the id follows the numbering of
# the document.


# %%
def doubled(key):
    """2 s_j."""
    return 2 * s[key]


def logistic(temperature):
    """1 / Σ_l e^((s_l − s_j)/τ): softmax by differences of scores."""
    return 1 / total(l, sp.exp((s[l] - s[j]) / temperature))


p = softmax(s, tau)


@claim(
    "eot.s3.example-doubled",
    "identity",
    title="Doubled scores, halved temperature",
    latex=r"\mathrm{softmax}(2s;\tau)_j=1/\textstyle\sum_l e^{(s_l-s_j)/(\tau/2)}",
)
def halved_temperature():
    """Doubling all scores has the effect of halving the temperature."""
    yield Equation(total(j, softmax(doubled, tau)(j)), 1, reason="still a plan")
    yield Equation(softmax(doubled, tau)(j), logistic(tau / 2), reason="numerator and denominator times e^(−2s_j/τ)")


halved_temperature.twin("the temperature is doubled", lambda: Equation(softmax(doubled, tau)(j), logistic(2 * tau)))
halved_temperature.twin("nothing happens", lambda: Equation(softmax(doubled, tau)(j), logistic(tau)))
show("eot.s3.example-doubled")

# %% [markdown]
# It holds, for all m ≥ 1 and all τ > 0. The twins are wrong on purpose. Each was refuted at an exact point, with both sides
# enclosed by ball arithmetic. Without them, the ✓ above would only say that nobody looked.

# %%
examined = examine(entries()["eot.s3.example-doubled"])
assert examined.evidence.outcome is Outcome.HOLDS
assert examined.evidence.general
assert set(examined.evidence.refuted_twins) == set(halved_temperature.twins)
assert examined.faults == ()

# %% [markdown]
# Why the logistic form, when softmax(s; τ/2) is what the sentence says? Because 2s/τ and s/(τ/2) are one expression to the
# computer before anything is proved, and a comparison of a thing with itself could not have failed. It is refused:


# %%
@claim(
    "eot.s3.example-empty",
    "identity",
    title="The same thing twice",
    latex=r"\mathrm{softmax}(2s;\tau)=\mathrm{softmax}(s;\tau/2)",
)
def same_thing():
    """Doubling all scores has the effect of halving the temperature."""
    yield Equation(softmax(doubled, tau)(j), softmax(s, tau / 2)(j), reason="2s/τ = s/(τ/2)")


same_thing.twin("the temperature is doubled", lambda: Equation(softmax(doubled, tau)(j), softmax(s, 2 * tau)(j)))
same_thing.twin("nothing happens", lambda: Equation(softmax(doubled, tau)(j), p(j)))
examined = examine(same_thing)
print(examined.evidence.outcome, "—", examined.evidence.detail)
assert examined.evidence.outcome is Outcome.VACUOUS

# %% [markdown]
# ## A wrong version is refused
#
# Now the other sentence. We write it down as if it were true.


# %%
def squares():
    """Doubling all scores is said to square every weight."""
    yield Equation(softmax(doubled, tau)(j), p(j) ** 2, reason="e^{2x} = (e^x)²")


naive = claim(
    "eot.s3.example-squared", "identity", title="Doubled scores, squared weights", latex=r"\mathrm{softmax}(2s;\tau)_j=p_j^2"
)(squares)
for name, factor in (("cubed", 3), ("unchanged", 1)):
    naive.twin(name, lambda factor=factor: Equation(softmax(doubled, tau)(j), p(j) ** factor))
examined = examine(naive)
print("outcome:", examined.evidence.outcome)
print("witness:", rendering.witness(examined.evidence.witness))
print("verdict:", judge(naive.claim, [examined.evidence]).verdict)
assert examined.evidence.outcome is Outcome.REFUTED

# %% [markdown]
# The machine found a counterexample by itself. How wrong is the sentence? For two keys, at all differences of scores:

# %%
gap = torch.linspace(-4, 4, 201, dtype=torch.float64)
two = torch.stack([gap, torch.zeros_like(gap)], -1)
weight, doubled_weight = one_sided.plan(two)[:, 0], one_sided.plan(2 * two)[:, 0]
square = one_sided.plan(two).square()
figure, axis = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
axis.plot(gap, doubled_weight, linewidth=3, alpha=0.5, label="weight after doubling the scores")
axis.plot(gap, weight**2, "--", label="the weight, squared")
axis.plot(gap, square[:, 0] / square.sum(-1), "k:", label="squared, and normalized")
axis.plot(gap, weight, color="gray", linewidth=1, label="weight before")
axis.set(xlabel="s₁ − s₂ (τ = 1)", ylabel="weight of key 1")
axis.legend(fontsize=8)
plt.show()

# %% [markdown]
# ## Correct it
#
# A refuted sentence with a true one beside it is worth more than either. The derivation ends with `Fails`, at the point
# where the print fails; the repair is proved like any other claim. Its severity says how much the fault matters.


# %%
@claim(
    "eot.s3.example-corrected", "identity", title="Doubled scores, squared weights", latex=r"\mathrm{softmax}(2s;\tau)_j=p_j^2"
)
def squared():
    """Doubling all scores is said to square every weight."""
    yield Fails(
        Equation(softmax(doubled, tau)(j), p(j) ** 2),
        reason="squares of weights do not sum to one",
        at={m: 2, s: (0, 0), tau: 1, j: 1},
    )


@squared.corrected(r"\mathrm{softmax}(2s;\tau)_j=p_j^2/\textstyle\sum_lp_l^2", Severity.SLIP)
def squared_and_normalized():
    """Doubling all scores squares the weights and normalizes them again."""
    yield Equation(softmax(doubled, tau)(j), p(j) ** 2 / total(l, p(l) ** 2), reason="numerator and denominator times Z²")


squared.twin("cubed", lambda: Equation(softmax(doubled, tau)(j), p(j) ** 3 / total(l, p(l) ** 3)))
squared.twin("divided by the root", lambda: Equation(softmax(doubled, tau)(j), p(j) ** 2 / sp.sqrt(total(l, p(l) ** 2))))
show("eot.s3.example-corrected")

# %%
examined = examine(squared)
verdict = judge(squared.claim, [examined.evidence])
print(verdict.verdict, verdict.severity, "—", rendering.cause(verdict.cause))
assert (verdict.verdict, examined.evidence.correction) == ("corrected", Outcome.HOLDS)

# %% [markdown]
# ## A check without power is refused
#
# A twin that is true kills nothing. If we call a mere rewriting "wrong", the examination complains, and the verdict is open:

# %%
blunt = claim("eot.s3.example-blunt", "identity", title="A twin that lives", latex="p_j=p_j")(halved_temperature.derivation)
blunt.twin("the temperature is doubled", lambda: Equation(softmax(doubled, tau)(j), softmax(s, 2 * tau)(j)))
blunt.twin("not wrong at all", lambda: Equation(softmax(doubled, tau)(j), p(j) ** 2 / total(l, p(l) ** 2)))
examined = examine(blunt)
verdict = judge(blunt.claim, [examined.evidence])
print("faults:", *examined.faults)
print("verdict:", verdict.verdict, "—", rendering.cause(verdict.cause))
assert examined.faults
assert verdict.verdict == "open"

# %% [markdown]
# ## A second layer
#
# The proof is about formulas. The code that people run is in `numerics/`, and may be wrong in its own way. So a second
# layer votes: random inputs, and a tolerance that comes from the precision, not from the result. It has to kill the twins.

# %%
generator = torch.Generator().manual_seed(0)
x = 3 * torch.randn(500, 7, generator=generator, dtype=torch.float64)
t = torch.rand(500, generator=generator, dtype=torch.float64) + 0.2
left, right = one_sided.plan(2 * x, t), one_sided.plan(x, t / 2)
allowed = tolerances.plan("float64", 7, float((2 * x / t[:, None]).abs().max()))
twins = {"the temperature is doubled": one_sided.plan(x, 2 * t), "nothing happens": one_sided.plan(x, t)}
dead = tuple(name for name, wrong in twins.items() if float((left - wrong).abs().max()) > allowed)
outcome = Outcome.HOLDS if float((left - right).abs().max()) <= allowed else Outcome.REFUTED
second = Evidence("eot.s3.example-doubled", Layer.TORCH, outcome, "500 random rows, float64", refuted_twins=dead)
first = examine(entries()["eot.s3.example-doubled"]).evidence
print(f"largest difference {float((left - right).abs().max()):.1e}, allowed {allowed:.1e}; twins refuted: {', '.join(dead)}")
verdict = judge(halved_temperature.claim, [first, second])
print("both layers:", verdict.verdict, "—", rendering.cause(verdict.cause))
assert verdict.verdict == "proved"

# %% [markdown]
# And a wish: evidence that one layer did not get to the end of is never a pass.

# %%
tired = Evidence("eot.s3.example-doubled", Layer.SYMBOLIC, Outcome.INCONCLUSIVE, "ran out of ideas")
print("no proof, no refutation:", judge(halved_temperature.claim, [tired]).verdict)
assert judge(halved_temperature.claim, [tired]).verdict == "open"
assert len(entries()) == known + 5  # in this kernel only: nothing was written anywhere

# %% [markdown]
# ## Try yourself
#
# - Claim that adding a number to all scores changes nothing (`eot.s3.example-shift`), with two twins that die.
# - Write a twin of your claim that is true for m = 1 only. Does it die? At which m?
# - When it is right, move the cell into a module, run `pytest -k <id>`, and then `python -m derivations regress --accept`.
