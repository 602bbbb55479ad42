"""The small study that speaks for learned weights could have spoken against them."""

from evidence.models.geometric import results


def test_the_comparison_can_refuse() -> None:
    """What is worse is found to be lower, and an arm with better values beats learned weights."""
    found = results()
    assert found.difference("untrained", "softmax").verdict == "lower"
    assert found.difference("uniform-placed", "softmax").verdict == "higher"
