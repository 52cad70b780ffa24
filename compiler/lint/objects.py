"""Templates that make objects of the cluster and wait for them: their manifests and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.tree import string
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding, suggest
from flowdsl.grammar.condition import conditions
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.template import ROOTS, TAG

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    import yaml

    from flowdsl.compiler.lint.tree import Object
    from flowdsl.compiler.lint.view import View
    from flowdsl.compiler.problem import Part


class ResourceManifest(Finding):
    """A `resource` template without one readable manifest."""

    code = "FD559"
    title = "{found}"
    help = "{way}"
    found: str
    way: str


class BadObjectCondition(Finding):
    """A condition on an object that Argo cannot read."""

    code = "FD593"
    title = "`{field}` cannot be read: expected {expected}, found {found}"
    label = "expected {expected}"
    help = "compare paths with words and whole numbers: `status.succeeded == 4, status.phase in (Done, Ok)`"
    field: str
    expected: str
    found: str


def resource_manifests(view: View) -> Iterator[Problem]:
    """A `resource` template has one manifest, which YAML can read, or an artifact that exists."""
    for template in view.templates:
        resource: Object | None = template.data.get("resource")
        if resource is None or resource.get("action") in ("get", "delete"):
            continue
        path = (*template.path, "resource")
        manifest: str = resource.get("manifest") or ""
        origin: Object | None = resource.get("manifestFrom")
        if bool(manifest) == (origin is not None):
            found = (
                "both `manifest` and `manifestFrom`" if manifest else "neither `manifest` nor `manifestFrom`"
            )
            finding = ResourceManifest(f"the resource has {found}", "give exactly one of them")
            yield Problem(path, finding)
        artifact = string(resource, "manifestFrom", "artifact", "name")
        if artifact and artifact not in template.artifacts:
            way = suggest(artifact, template.artifacts) or f"declare `{artifact}` in the inputs"
            finding = ResourceManifest(f"there is no input artifact `{artifact}`", way)
            yield Problem((*path, "manifestFrom", "artifact", "name"), finding)
        if manifest and (fault := unreadable(manifest)) is not None:
            reason, part = fault
            finding = ResourceManifest(
                f"the manifest is not YAML: {reason}", "correct the text of the manifest"
            )
            yield Problem((*path, "manifest"), finding, part=part)


def unreadable(text: str) -> tuple[str, Part | None] | None:
    """Why and where YAML cannot read a text whose tags stand for plain words; None when it can."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for node in yaml.compose_all(TAG.sub(_filled, text), Loader=loader):
            if (key := _no_key(node)) is not None:
                start = _before(text, key.start_mark.index)
                return f"a mapping stands where a key has to be, line {key.start_mark.line + 1}", (
                    start,
                    start + 1,
                )
    except yaml.MarkedYAMLError as error:
        if (mark := error.problem_mark) is None:
            return f"{error.problem}", None
        start = _before(text, mark.index)
        return f"{error.problem}, line {mark.line + 1}", (start, min(start + 1, len(text)))
    except (yaml.YAMLError, UnicodeEncodeError):
        return "it holds a character that YAML does not have", None
    return None


def _filled(tag: re.Match[str]) -> str:
    """A word in place of a tag; one that is none of Argo's stays as it is."""
    return "tag" if tag[1].startswith("=") or tag[1].strip().partition(".")[0] in ROOTS else tag[0]


def _no_key(root: yaml.Node | None) -> yaml.Node | None:
    """The first key that is a mapping or list, as braces without quotes make it."""
    import yaml

    left, seen = [root], set[int]()
    for node in left:  # grows while it is walked
        if id(node) in seen:  # which an alias names
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    found: yaml.Node = key
                    return found
                left.append(value)
        elif isinstance(node, yaml.SequenceNode):
            left += node.value
    return None


def _before(text: str, offset: int) -> int:
    """The offset in a text of what has another where tags are filled in."""
    for tag in TAG.finditer(text):
        length = len(_filled(tag))
        if offset < tag.start() + length:
            return offset if length == len(tag[0]) else min(offset, tag.start())
        offset += len(tag[0]) - length
    return offset


def object_conditions(view: View) -> Iterator[Problem]:
    """The conditions of a `resource` template can be read: Argo does so when the object is there."""
    for template in view.templates:
        resource: Object = template.data.get("resource") or {}
        for field in ("successCondition", "failureCondition"):
            text = string(resource, field)
            if not text or "{{" in text:
                continue
            try:
                conditions(text)
            except GrammarError as error:
                found = f"`{error.found}`" if error.found else "the end"
                finding = BadObjectCondition(field, error.expected, found)
                path = (*template.path, "resource", field)
                yield Problem(path, finding, part=(error.start, error.end))
