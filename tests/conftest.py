"""Settings for all tests."""

import os

import hypothesis

# Compilation makes the first example of a property slow: no deadlines. The same examples on every run in CI.
hypothesis.settings.register_profile("default", deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("default"), derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")
