"""Runs the pipelines of the tests here and by a whole Argo on this machine, and prints where the two differ.

`python -m tests.argo path/to/argo-workflows [FILE ...]`: of Workflows in YAML instead, where files are given; beside a
Workflow a file may have templates of workflows and ConfigMaps. It needs root, for the mounts of containers.
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
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from flowdsl.runtime.local import prepare
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.runner import Runner, Waits
from flowdsl.runtime.parts import part, several
from tests.apiserver.client import Refused
from tests.argo.cluster import SPACE, Cluster, built
from tests.end_to_end.test_pipelines import CASES
from tests.end_to_end.world import TORCHRUN, compiled, filled, text

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

#: Fields of a node that are compared as they stand.
FIELDS = (
    "displayName",
    "type",
    "phase",
    "message",
    "progress",
    "templateName",
    "nodeFlag",
    "memoizationStatus",
)
#: Fields with the ids of nodes, in an order that is not told.
EDGES = ("children", "outboundNodes")
#: Fields of a run.
OF_RUN = ("phase", "message", "progress")
MOST = 20  # lines about one workflow
SECRET = {"token": "s$$cret"}
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
    wanted = [given(one) for one in asked.files] or list(pipelines())
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
                furnish(cluster, local)
                ends = pool.map(partial(ended, cluster, asked.seconds), wanted)
                for one, end in zip(wanted, ends, strict=True):
                    name = one.workflow["metadata"]["name"]
                    found = compared(one, end, local / name)
                    differ += bool(found)
                    sys.stdout.write("".join(f"{line}\n" for line in [name, *found[:MOST]]))
                    sys.stdout.flush()
        finally:
            subprocess.run(["umount", "--lazy", str(state)], check=True)
    sys.stdout.write(f"{len(wanted)} workflows: {differ} differ\n")
    return 1 if differ else 0


class Given(NamedTuple):
    """A Workflow, and what it needs in the cluster: templates and ConfigMaps."""

    workflow: Json
    needs: list[Json]


def given(file: Path) -> Given:
    """What a file holds."""
    found: list[Json] = [one for one in yaml.safe_load_all(file.read_text()) if one]
    (workflow,) = (one for one in found if one["kind"] == "Workflow")
    return Given(named(workflow, file.stem), [one for one in found if one is not workflow])


def named(manifest: Json, name: str) -> Json:
    """A Workflow under a name of its own."""
    manifest["metadata"] = {**manifest.get("metadata", {}), "name": name}
    manifest["metadata"].pop("generateName", None)
    return manifest


def pipelines() -> Iterator[Given]:
    """The pipelines of the tests, compiled, with the arguments of each case."""
    for number, case in enumerate(CASES):
        if case.pipeline in LARGE:
            continue
        _, document = compiled(case.file, case.name)
        manifest: Json = json.loads(json.dumps(document))
        for one in manifest["spec"].get("arguments", {}).get("parameters", []):
            if one["name"] in case.arguments:
                one["value"] = text(case.arguments[one["name"]])
        yield Given(named(manifest, f"{case.pipeline.replace('_', '-')}-{number}"), [])


def furnish(cluster: Cluster, local: Path) -> None:
    """Put what the pipelines read onto the volumes, and a program and the secret of one into both worlds."""
    cluster.node.claims.rmdir()
    filled(cluster.node.claims)
    for place in (cluster.node.beside / "usr/bin", local):
        (place / "torchrun").write_text(TORCHRUN)
        (place / "torchrun").chmod(0o755)
    secret = {"metadata": {"name": "hub"}, "stringData": SECRET}
    cluster.add(f"/api/v1/namespaces/{SPACE}/secrets", secret)


def ended(cluster: Cluster, seconds: float, one: Given) -> Json | str:
    """The status with which Argo ends a workflow; a text if it does not take or not end it."""
    cluster.needs(one.workflow)
    for each in one.needs:
        cluster.has(each)
    try:
        status: Json = cluster.run(one.workflow, seconds).get("status", {})
    except Refused as answer:
        return f"the API server refuses it: {answer}"
    if "finishedAt" not in status or status["finishedAt"] is None:
        return f"Argo has not ended it after {seconds:g} s"
    return status


def compared(one: Given, argo: Json | str, folder: Path) -> list[str]:
    """How a run here and in Argo differ, a line each."""
    if isinstance(argo, str):
        return [f"  {argo}"]
    try:
        return differences(here(one, folder), argo)
    except (RunError, Waits) as error:
        return [f"  not run here: {error}"]


def here(one: Given, folder: Path) -> Json:
    """The status with which a run on this machine ends, with volumes of its own."""
    folder.mkdir()
    config: dict[str, dict[str, str]] = {
        each["metadata"]["name"]: part(each, "data") for each in one.needs if each["kind"] == "ConfigMap"
    }
    settings = Settings(
        workflow=one.workflow["metadata"]["name"],
        mounts=filled(folder / "volumes"),
        config_maps=config,
        secrets={"hub": SECRET},
        cpu=64,
        memory=1 << 40,
        grace=2,
    )
    templates = [each for each in one.needs if each["kind"] != "ConfigMap"]
    runner = Runner(folder / "run", lambda report: Pods(folder / "run", report, settings))
    runner.begin(Inputs(prepare.workflow(one.workflow, {}), templates, config, {}))
    found: Json = json.loads((folder / "run/workflow.json").read_text())
    return part(found, "status")


def differences(here: Json, argo: Json) -> list[str]:
    """Where a run here has ended in another way than in Argo, a line each."""
    found = [
        f"  {key}: {here.get(key)!r}, in Argo {argo.get(key)!r}"
        for key in OF_RUN
        if (here.get(key) or None) != (argo.get(key) or None)
    ]
    if values(here.get("outputs")) != values(argo.get("outputs")):
        found.append(f"  outputs: {values(here.get('outputs'))}, in Argo {values(argo.get('outputs'))}")
    ours, theirs = _by_name(here), _by_name(argo)
    found += [f"  {name}: only here" for name in sorted(ours.keys() - theirs.keys())]
    found += [f"  {name}: only in Argo" for name in sorted(theirs.keys() - ours.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        found += [
            f"  {name}: {key}: {value!r}, in Argo {theirs[name][key]!r}"
            for key, value in ours[name].items()
            if value != theirs[name][key]
        ]
    return found


def _by_name(status: Json) -> dict[str, Json]:
    """What is compared of the nodes of a run, by their names."""
    nodes: dict[str, Json] = status.get("nodes") or {}
    return {
        str(node["name"]): {
            **{key: node.get(key) or None for key in FIELDS},
            **{
                key: sorted(nodes[one]["name"] if one in nodes else one for one in node.get(key) or ())
                for key in EDGES
            },
            **{key: values(node.get(key)) for key in ("inputs", "outputs")},
        }
        for node in nodes.values()
    }


def values(side: Json | None) -> Json:
    """Inputs or outputs by their names; of artifacts only the key, for the rest says where the store is."""
    found: Json = {
        key: value for key, value in (side or {}).items() if key not in ("parameters", "artifacts")
    }
    for one in several(side or {}, "parameters"):
        found[f"parameters.{one['name']}"] = one.get("value")
    for one in several(side or {}, "artifacts"):
        found[f"artifacts.{one['name']}"] = part(one, "s3").get("key") or None  # Argo leaves out an empty one
    return found


if __name__ == "__main__":
    sys.exit(main())
