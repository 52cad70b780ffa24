"""What a pod is to the cluster: its account and its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.options.reading import annotation_texts, label_texts, object_name

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


READERS: dict[str, Reader] = {
    "service_account": object_name("ServiceAccount"),
    "labels": label_texts,
    "annotations": annotation_texts,
}
