"""Runs the pipelines of the tests here and by a whole Argo on this machine, and prints where the two differ.

`python -m tests.argo path/to/argo-workflows [FILE ...]`: of Workflows in YAML instead, where files are given. It needs
root, for the mounts of containers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from flowdsl.runtime.parts import part
from tests.apiserver.client import Refused
from tests.argo.cluster import SPACE, Cluster, built
from tests.end_to_end.test_pipelines import CASES
from tests.end_to_end.world import TORCHRUN, World, compiled, filled, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.end_to_end.run import Run

Json = dict[str, Any]

FIELDS = ("displayName", "type", "phase", "message")
MOST = 12  # lines about one workflow
#: Set in a process that has mounts of its own.
OWN = "FLOWDSL_TESTS_OWN_MOUNTS"
#: Pipelines of more than a hundred pods.
LARGE = ("large",)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.argo", description=__doc__)
    parser.add_argument("checkout", type=Path, help="argo-workflows at the tag v4.1.2")
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=300)
    asked = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("this needs root: it mounts the files of containers")
    if OWN not in os.environ:
        os.environ[OWN] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, "-m", "tests.argo", *sys.argv[1:]])
    wanted = [named(yaml.safe_load(one.read_text()), one.stem) for one in asked.files] or list(pipelines())
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        programs, state, local = (Path(folder, name) for name in ("programs", "state", "local"))
        for place in (programs, state, local):
            place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(state)], check=True)
        try:
            built(asked.checkout.resolve(), programs)
            os.environ["PATH"] = f"{Path(sys.executable).parent}:{local}:/usr/local/bin:/usr/bin:/bin"
            with (
                Cluster(asked.checkout.resolve(), programs, state) as cluster,
                ThreadPoolExecutor(asked.at_once) as pool,
            ):
                prepare(cluster, local)
                ends = pool.map(partial(ended, cluster, asked.seconds), wanted)
                for manifest, end in zip(wanted, ends, strict=True):
                    name = manifest["metadata"]["name"]
                    found = compared(manifest, end, local / name)
                    differ += bool(found)
                    sys.stdout.write("".join(f"{line}\n" for line in [name, *found[:MOST]]))
                    sys.stdout.flush()
        finally:
            subprocess.run(["umount", "--lazy", str(state)], check=True)
    sys.stdout.write(f"{len(wanted)} workflows: {differ} differ\n")
    return 1 if differ else 0


def named(manifest: Json, name: str) -> Json:
    """A Workflow under a name of its own."""
    manifest["metadata"] = {**manifest.get("metadata", {}), "name": name}
    manifest["metadata"].pop("generateName", None)
    return manifest


def pipelines() -> Iterator[Json]:
    """The pipelines of the tests, compiled, with the arguments of each case."""
    for number, case in enumerate(CASES):
        if case.pipeline in LARGE:
            continue
        _, document = compiled(case.file, case.name)
        manifest: Json = json.loads(json.dumps(document))
        for one in manifest["spec"].get("arguments", {}).get("parameters", []):
            if one["name"] in case.arguments:
                one["value"] = text(case.arguments[one["name"]])
        yield named(manifest, f"{case.pipeline.replace('_', '-')}-{number}")


def prepare(cluster: Cluster, local: Path) -> None:
    """Put what the pipelines read onto the volumes, and a program and the secret of one into both worlds."""
    cluster.node.claims.rmdir()
    filled(cluster.node.claims)
    for place in (cluster.node.beside / "usr/bin", local):
        (place / "torchrun").write_text(TORCHRUN)
        (place / "torchrun").chmod(0o755)
    secret = {"metadata": {"name": "hub"}, "stringData": {"token": "s$$cret"}}
    cluster.add(f"/api/v1/namespaces/{SPACE}/secrets", secret)


def ended(cluster: Cluster, seconds: float, manifest: Json) -> Json | str:
    """The status with which Argo ends a workflow; a text if it does not take or not end it."""
    cluster.needs(manifest)
    try:
        status: Json = cluster.run(manifest, seconds).get("status", {})
    except Refused as answer:
        return f"the API server refuses it: {answer}"
    if "finishedAt" not in status or status["finishedAt"] is None:
        return f"Argo has not ended it after {seconds:g} s"
    return status


def compared(manifest: Json, argo: Json | str, folder: Path) -> list[str]:
    """How a run here and in Argo differ, a line each."""
    return [f"  {argo}"] if isinstance(argo, str) else differences(argo, here(manifest, folder))


def here(manifest: Json, folder: Path) -> Run:
    """A run on this machine, with volumes of its own."""
    folder.mkdir()
    return World(folder, Path(sys.executable)).run(manifest, name=manifest["metadata"]["name"])


def differences(argo: Json, run: Run) -> list[str]:
    """Where a run here has ended in another way than in Argo, a line each."""
    ours = {node.name: node.status() for node in run.machine.nodes.values()}
    nodes: dict[str, Json] = argo.get("nodes") or {}
    theirs = {str(node["name"]): node for node in nodes.values()}
    found = [f"  {name}: only here" for name in sorted(ours.keys() - theirs.keys())]
    found += [f"  {name}: only in Argo" for name in sorted(theirs.keys() - ours.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        sides = [{key: node.get(key) or None for key in FIELDS} for node in (ours[name], theirs[name])]
        for side, node in zip(sides, (ours[name], theirs[name]), strict=True):
            side |= {kind: values(node.get(kind)) for kind in ("inputs", "outputs")}
        found += [
            f"  {name}: {key}: {sides[0][key]!r}, in Argo {sides[1][key]!r}"
            for key in sides[0]
            if sides[0][key] != sides[1][key]
        ]
    if run.phase != argo["phase"]:
        found.insert(0, f"  {run.phase}, in Argo {argo['phase']}")
    return found


def values(side: Json | None) -> Json:
    """Inputs or outputs by their names; of artifacts only the key, for the rest says where the store is."""
    found: Json = {}
    for kind, value in (side or {}).items():
        if kind == "parameters":
            found |= {f"{kind}.{one['name']}": one.get("value") for one in value}
        elif kind == "artifacts":
            found |= {f"{kind}.{one['name']}": part(one, "s3").get("key") for one in value}
        else:
            found[kind] = value
    return found


if __name__ == "__main__":
    sys.exit(main())
