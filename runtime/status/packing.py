"""Compresses the nodes of a run, as the controller does when there are many.

Source: Argo 4.1, workflow/packer/packer.go and util/file/fileutil.go. It reads gzip, zstd and brotli, and recognizes
them by their first bytes.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

Json = dict[str, Any]


def is_packed(workflow: Json) -> bool:
    """Whether the nodes of a workflow are compressed."""
    status: Json = workflow.get("status") or {}
    return bool(status.get("compressedNodes"))


def packed(workflow: Json) -> Json:
    """A workflow with its nodes compressed; everything else is shared with the given one."""
    status: Json = dict(workflow["status"])
    text = json.dumps(status.pop("nodes", {}), ensure_ascii=False, separators=(",", ":"))
    status["compressedNodes"] = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return {**workflow, "status": status}
