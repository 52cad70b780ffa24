"""`podSpecPatch`: a strategic merge of Kubernetes, in the parts that a local run honours."""

from __future__ import annotations

from typing import Any, cast

from flowdsl.compiler.merge import OF_PODS, merged
from flowdsl.runtime.local.pods.refusal import Refusal

Json = dict[str, Any]


def patched(spec: Json, patches: list[str]) -> Json:
    """A pod with patches, which are texts in JSON or YAML, applied one after the other. Raises Refusal."""
    import yaml

    for text in patches:
        try:
            patch = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Refusal(f"Error applying PodSpecPatch: {error}") from None
        if not isinstance(patch, dict):
            raise Refusal("Error applying PodSpecPatch: it is not an object")
        spec = cast(Json, merged(spec, patch, OF_PODS))
    return spec
