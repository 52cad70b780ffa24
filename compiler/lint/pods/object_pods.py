"""Pods and claims in the objects of `resource` templates: what the API server rejects, and what never starts.

Their manifests are read with types, and tags are words. Source: Kubernetes 1.35, pkg/apis/core/validation.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import BadImage
from flowdsl.compiler.lint.pods.closed import schema_flaws
from flowdsl.compiler.lint.pods.nodes import placed
from flowdsl.compiler.lint.pods.pods import values, whole
from flowdsl.compiler.lint.pods.resources import asked
from flowdsl.compiler.lint.pods.untyped import WORD, containers_of
from flowdsl.compiler.lint.workflow.labels import label_faults
from flowdsl.compiler.lint.workflow.names import (
    BadContainerName,
    BadVariableName,
    BadVolumeName,
)
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.grammar.image import fault as image_fault
from flowdsl.grammar.names import dns_name, is_dns_label, is_relaxed_env_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.pods.closed import Fields
    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object
    from flowdsl.diagnostic import Finding


def pod_flaws(pod: Object, what: str, *, listed: bool = True) -> Iterator[Flaw]:
    """What is refused in the pod of an object, or never starts.

    `listed`: the CRD of the object lists the fields of its pods, so kubectl refuses unknown ones.
    """
    below = chain(whole("PodSpec", pod, ()), _names(pod), _parts(pod))
    more = chain(_twice(pod, what), _images(pod, what))
    yield from _typed("PodSpec", pod, what, below, more, unknown="closed" if listed else "open")


def claim_flaws(spec: Object, what: str) -> Iterator[Flaw]:
    """What is refused in the spec of a claim."""
    name = "PersistentVolumeClaimSpec"
    yield from _typed(name, spec, what, values(name, spec), unknown="open")


def _typed(
    name: str,
    data: Object,
    what: str,
    below: Iterable[Finding],
    more: Iterable[Flaw] = (),
    *,
    unknown: Fields,
) -> Iterator[Flaw]:
    """What the schema refuses in an object of a type; else, as they are only then readable, the other flaws of it."""
    judged = schema_flaws(name, data, what, unknown=unknown)
    yield from judged.flaws
    if not (judged.readable and judged.known):
        return
    for found in below:
        if WORD not in found.message and found.severity == "error":
            yield f"{what} is refused: {found.message}", found.advice
    yield from more


def _names(pod: Object) -> Iterator[Finding]:
    """Invalid names in a pod: of its containers, their variables and images, its volumes, and labels of nodes."""
    form = "at most 63 lower-case letters, digits and `-`"
    for container in containers_of(pod):
        name, image = string(container, "name"), string(container, "image")
        if name and not is_dns_label(name):
            yield BadContainerName(name, form, dns_name(name) or "container")
        if image != image.strip():
            yield BadImage(image, "a name has no blanks")
        for variable in entries(container, "env"):
            if (name := string(variable, "name")) and not is_relaxed_env_name(name):
                yield BadVariableName(name)
    for volume in entries(pod, "volumes"):
        if (name := string(volume, "name")) and not is_dns_label(name):
            yield BadVolumeName(name, dns_name(name) or "volume")
    nodes = inside(pod, "nodeSelector")
    yield from (each.finding for each in label_faults(nodes, (), "a node's label", filled=True))


def _images(pod: Object, what: str) -> Iterator[Flaw]:
    """The images of a pod that no node can pull: the API server takes any. Others fill in `${IMAGE}`, or some words."""
    for container in containers_of(pod):
        image = string(container, "image")
        known = image and not any(each.isspace() or each == "$" for each in image) and WORD not in image
        if known and (reason := image_fault(image)):
            found = BadImage(image, reason)
            yield f"{what} never starts: {found.message}: {reason}", found.advice


def _parts(pod: Object) -> Iterator[Finding]:
    """What is wrong with the resources that the containers of a pod request, and with its scheduling."""
    for container in containers_of(pod):
        yield from (each.finding for each in asked(inside(container, "resources"), ()))
    yield from (each.finding for each in placed(pod, ()))


def _twice(pod: Object, what: str) -> Iterator[Flaw]:
    """Names or paths that occur twice in a pod."""
    containers = containers_of(pod)
    mounts = [
        ("mounts of one container", [string(mount, "mountPath") for mount in entries(each, "volumeMounts")])
        for each in containers
    ]
    for sort, names in (
        ("containers", [string(each, "name") for each in containers]),
        ("volumes", [string(each, "name") for each in entries(pod, "volumes")]),
        *(
            ("ports of one container", [string(port, "name") for port in entries(each, "ports")])
            for each in containers
        ),
        *mounts,
    ):
        for name, count in Counter(names).items():
            if name and count > 1 and WORD not in name:
                yield f"{what} has two {sort} at `{name}`", "give each its own"
