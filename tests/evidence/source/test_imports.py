"""Registering what source code says imports none of the packages that are slow to import."""

import subprocess
import sys


def test_observations_are_registered_without_the_packages_that_they_run() -> None:
    modules = ", ".join(f"evidence.source.{name}" for name in ("alibi", "dot_product", "transformations", "heads", "t5_parts",
                                                             "networks"))
    found = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; print({{'transformers', 'entmax'}} & set(sys.modules))"],
        check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
