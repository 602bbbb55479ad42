"""The deviations of section 8: the quantities that they measure, and others."""

from evidence.models.deviations import layers


def test_the_statistic_is_the_ratio_of_shift_and_residual() -> None:
    """A small deviation can go with a large error of the output: they measure different things."""
    for layer in layers(quick=True):
        assert float(layer.error.mean()) > 2 * float(layer.deviation.mean())
        assert bool((layer.within >= layer.deviation).all())
