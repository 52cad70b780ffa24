"""What is larger than the memory that a fetch may have arrives whole."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.artifacts.objects import Objects, endless, whole
from tests.artifacts.runs import plain, told, workflow

ROOT = Path(__file__).resolve().parents[2]
MOST = 120 << 20
"""Bytes of memory that the process may have at its peak; a third of it is Python with its libraries."""

COMMAND = """
import json, pathlib, re, sys
from tests.artifacts.runs import Known, command, reached
reached(Known(json.loads(sys.argv[1])))
code = command([])
peak = re.search(r"VmHWM:\\s*(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
sys.stdout.write(f"peak {peak[1]}")
sys.exit(code)
"""


def arrives(objects: Objects, folder: Path, size: int) -> None:
    """Have an object of a size fetched, and look at all of it."""
    large = endless(size)
    objects.things["large"] = large
    run: dict[str, Any] = workflow(objects.endpoint, {"make": {"artifacts": [plain("large", "large")]}})
    made = subprocess.run(
        [sys.executable, "-c", COMMAND, json.dumps(run)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    sha = hashlib.sha256()
    for block in whole(large):
        sha.update(block)
    path = folder / "demo/make/large"
    assert path.stat().st_size == size
    assert told(folder / "demo")["outputs"][0]["files"] == [{"size": size, "sha256": sha.hexdigest()}]
    # Not that of getrusage, which begins with the memory of the process that started this one.
    assert int(made.stdout.rpartition("peak ")[2]) * 1024 < MOST
    path.unlink()


def test_a_large_object_arrives_in_little_memory(objects: Objects, tmp_path: Path) -> None:
    arrives(objects, tmp_path, 256 << 20)
