"""What is imported, compiled again and run here, against a run of the manifest itself.

`python -m tests.corpus.imports` says of each what comes of it, and counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.importing.importing import imported
from flowdsl.compiler.load import LoadError, load
from flowdsl.compiler.yaml.documents import read
from tests.corpus import corpus
from tests.corpus.recordings import recordings
from tests.importing_runs import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

#: What waits for somebody, or needs more of a cluster than one document.
_UNRUN = ("suspend", "templateRef", "workflowTemplateRef", "semaphore")


def manifests() -> Iterator[tuple[str, str]]:
    """The names and texts of all manifests."""
    examples = corpus("argo", "examples")
    for path in sorted(examples.rglob("*.yaml")):
        yield str(path.relative_to(examples).with_suffix("")), path.read_text("utf-8")
    for recording in recordings():
        yield f"recordings/{recording.name}", yaml.safe_dump(recording.manifest, sort_keys=False)


def verdict(text: str, folder: Path) -> str:
    """What comes of a manifest: `same`, or why not."""
    documents, _ = read(text, "workflow.yaml")
    parts = [part for one in documents for part in one.listed]
    found = imported(parts)
    refused = [one.finding.message for one in found.diagnostics if one.finding.severity == "error"]
    if refused or not found.text:
        return f"refused: {refused[0] if refused else 'nothing to import'}"
    folder.mkdir(parents=True)
    file = folder / "pipeline.py"
    file.write_text(found.text, "utf-8")
    try:
        compiled = compile_loaded(load(file))
    except LoadError as error:
        return f"does not load: {error.message}"
    wrong = [one.finding.message for one in compiled.diagnostics if one.finding.severity == "error"]
    if wrong:
        return f"does not compile: {wrong[0]}"
    bodies = [part.body for part in parts]
    if any(word in text for word in _UNRUN):
        return "not run"
    for index, (theirs, ours) in enumerate(zip(bodies, compiled.documents, strict=True)):
        told = list(differences(theirs, ours, folder / str(index)))
        if told:
            return f"differs: {told[0]}"
    return "same"


def main() -> int:
    """Say what comes of each manifest, and count."""
    counts: Counter[str] = Counter()
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in manifests():
            if wanted and not any(one in name for one in wanted):
                continue
            said = verdict(text, Path(folder) / name)
            counts[said.partition(":")[0]] += 1
            if said != "same":
                sys.stdout.write(f"{name}: {said}\n")
    sys.stdout.write(f"{json.dumps(counts)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
