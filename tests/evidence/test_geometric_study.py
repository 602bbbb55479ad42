"""The small study on learned weights can come out either way."""

from evidence.models.geometric import results


def test_the_comparison_can_refuse() -> None:
    """A worse arm is recognized as lower, and an arm with better values beats learned weights."""
    study = results()
    assert study.difference("untrained", "softmax").verdict == "lower"
    assert study.difference("uniform-placed", "softmax").verdict == "higher"
