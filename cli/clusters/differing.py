"""`diff`: what applying a pipeline would change in a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.texts import line
from flowdsl.cli.files import changes
from flowdsl.cli.pipelines.compiling import MANIFESTS, Target, parted
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, NO, STDIN, WRONG, Refused, err, out
from flowdsl.compiler.yaml.emit import emit_one
from flowdsl.runtime.drift import KINDS, as_stored, comparable, live, of_run

if TYPE_CHECKING:
    from flowdsl.cli.clusters.reach import Reach
    from flowdsl.compiler.compile import Supply
    from flowdsl.compiler.written_as import Kind
    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]


def differ(reach: Reach, target: str, kind: Kind | None, supply: Supply | None) -> int:
    """Show how the objects of a file differ from those of the cluster; returns the exit code.

    `supply` sets values in the document that a pipeline compiles to.
    """
    if supply is not None and (target == STDIN or parted(Path(target))[0].suffix in MANIFESTS):
        raise Refused("-p is for a pipeline, which is compiled with it: what YAML says is in it")
    right = right_documents([target], Target(reach.cluster), kind, supply=supply)
    if right is None:
        return WRONG
    reach = reach.of(target)
    known = [one for one in right.meant if one.get("kind") in KINDS]
    if not known:
        raise Refused(f"{target} has nothing to compare: no {', '.join(KINDS)}")
    for one in known:
        reach.within(one["metadata"].get("namespace"))
    cluster = reach.connect()
    found = [difference(cluster, one) for one in known]
    out("".join(found))
    return NO if any(found) else DONE


def difference(cluster: Cluster, document: Json) -> str:
    """How one document differs from the object in the cluster, as a unified diff; empty if it does not."""
    metadata: Json = document["metadata"]
    name = str(metadata.get("name") or metadata.get("generateName"))
    title = f"{document['kind']}/{name}"
    found = live(cluster, document)
    wanted = comparable(as_stored(cluster, document), document)
    if found is None:
        if not metadata.get("name"):
            err(f"{line(title)}: there is no run to compare with in {cluster.called}: all of it is new\n")
        return changes("", emit_one(wanted), os.devnull, line(title))
    if not metadata.get("name"):
        err(f"{line(title)}: compared with the run {line(str(found['metadata']['name']))}\n")
        found = of_run(found, document)
    before = emit_one(comparable(found, document))
    return changes(before, emit_one(wanted), line(title), line(title), "cluster", "compiled")
