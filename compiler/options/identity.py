"""What a pod is to the cluster: its account and its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.options.reading import object_name, texts

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


READERS: dict[str, Reader] = {"service_account": object_name, "labels": texts, "annotations": texts}
