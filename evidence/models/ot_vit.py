"""ViT and OT-ViT: the recorded accuracies of both, and the widths at which both have the document's number of parameters."""

from pathlib import Path

from evidence import Finding, Outcome, Run


def accuracies(claim: str, run: Run) -> Finding:
    """The recorded results on scikit-learn's digits."""
    from numerics.experiments.datasets import load
    from numerics.experiments.ot_vit import report

    results = report.recorded(load("digits", Path()))
    contrast = next(c for c in results.contrasts() if (c.plus, c.minus) == (("ot-vit",), ("vit",)))
    gain, vit, transport = results.difference(contrast), results.accuracy("vit"), results.accuracy("ot-vit")
    theirs = ", ".join(f"{name} {row['vit'][0]} and {row['ot-vit'][0]}" for name, row in report.PRINTED.items())
    return Finding(
        Outcome.HOLDS if gain.verdict == "higher" else Outcome.REFUTED,
        f"scikit-learn's digits, {results.tested} test images, {len(results.runs['vit'])} seeds an arm, six layers, "
        f"hidden {results.configuration['architecture']['hidden']}, trained once and recorded; the document's three datasets "
        "were not trained on: they do not ship with any package, and need a GPU's time",
        f"the document: ViT and OT-ViT reach {theirs}; here, on digits, {vit.mean:.4f} ± {vit.half_width:.4f} and "
        f"{transport.mean:.4f} ± {transport.half_width:.4f}, a paired difference of {100 * gain.mean:+.2f} ± "
        f"{100 * (gain.half_width or 0):.2f} points: {gain.verdict}",
    )


def parameters(claim: str, run: Run) -> Finding:
    """The widths at which both have as many parameters as the document says."""
    from numerics.experiments.ot_vit import sizes

    fitting = {dataset: sizes.fitting(dataset, ratios=(1, 2, 4)) for dataset in sizes.IMAGES}
    assert all(fitting.values())  # some width gives a model the printed number of parameters
    both = {dataset: [each for each in fits if each.both] for dataset, fits in fitting.items()}
    listed = "; ".join(
        f"{dataset}: "
        + (
            ", ".join(
                f"hidden {x.architecture.hidden}, perceptron {x.architecture.mlp}: {x.vit:,} and {x.transport:,}" for x in fits
            )
            or "no width gives both"
        )
        for dataset, fits in both.items()
    )
    return Finding(
        Outcome.HOLDS if any(both.values()) else Outcome.REFUTED,
        "six layers, 4 × 4 patches, widths in steps of 8, perceptrons 1, 2 and 4 times as wide, counted on the models; "
        "the document prints no width",
        f"the document: 3.2 M each; where templates serve as keys and values OT-ViT is the smaller: {listed}; where it "
        "keeps ViT's keys and values the two agree for every width",
    )
