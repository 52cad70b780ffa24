"""What runs as written, and is probably not meant: images without a version, secrets that everybody can read.

For manifests that somebody wrote. What is wrong in this way in Python is told at its options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.body_findings import NoTag, is_secret, untagged
from flowdsl.compiler.lint.bodies import NoCommand
from flowdsl.compiler.lint.tree import entries, string
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import View


class WrittenSecret(Finding):
    """A variable that seems to hold a secret, in a manifest: who may list workflows can read it."""

    code = "FD773"
    severity = "warning"
    title = "the value of `{name}` seems to be a secret"
    label = "everybody who sees the workflow can read it"
    help = "keep it in a Secret, and write `valueFrom: {{secretKeyRef: {{name: ..., key: ...}}}}`"
    name: str


def images(view: View) -> Iterator[Problem]:
    """Images have a tag or a digest."""
    for template in view.templates:
        for place, container in template.containers:
            image = string(container, "image")
            if untagged(image):
                yield Problem((*template.path, *place, "image"), NoTag(image))


def commands(view: View) -> Iterator[Problem]:
    """Containers beside the one of a template, or of a set, have a command, so that Argo need not ask the registry."""
    for template in view.templates:
        for place, container in template.containers:
            if len(place) > 1 and place[0] != "initContainers" and not container.get("command"):
                finding = NoCommand(string(container, "name"), "container")
                yield Problem((*template.path, *place), finding)


def secrets(view: View) -> Iterator[Problem]:
    """Variables do not hold secrets."""
    for template in view.templates:
        for place, container in template.containers:
            for index, variable in enumerate(entries(container, "env")):
                name, value = string(variable, "name"), string(variable, "value")
                if is_secret(name, value):
                    yield Problem((*template.path, *place, "env", index, "value"), WrittenSecret(name))
