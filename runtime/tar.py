"""`tarfile`, of a Python that knows the filter `data`: its own, or what PyPI has of it for older ones."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

# 3.11.4 was the first; Debian 12 has 3.11.2.
if not TYPE_CHECKING and not hasattr(tarfile, "data_filter"):
    from backports import tarfile

__all__ = ["tarfile"]
