"""kill -9 while a training writes its checkpoints, and what the next process finds."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("trained.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_what_was_killed_goes_on_to_the_very_same_weights(kills, tmp_path):
    command = [sys.executable, PROGRAM, tmp_path, str(kills), "3"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout)
    told = Counter(found["letters"])
    assert told.total() == kills, "each process was killed before it came to its end"
    assert told["w"] > kills / 3, "many were killed while they wrote"
    assert found["halves"] >= told["w"], "and left a file that is not whole"
    assert found["steps"] == sorted(found["steps"]), "a checkpoint is never an older one than before"
    assert found["steps"][-1] > 0
    assert found["equal"], "weights, moments, random states and the loader's place are those without a kill"
    assert found["left"] == ["run.1.safetensors", "run.safetensors", "whole.1.safetensors", "whole.safetensors"]
