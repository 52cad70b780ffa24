"""What a pod is to the cluster: its account and its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.ir import Identity
from flowdsl.compiler.options.reading import object_name, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Identity:
    """The identity that the options of a step result in."""
    return Identity(found.get("service_account"), found.get("labels", {}), found.get("annotations", {}))


READERS: dict[str, Reader] = {"service_account": object_name, "labels": texts, "annotations": texts}
