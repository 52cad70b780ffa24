"""The versions of Argo that pipelines can be written for: the words of `--argo-version`, and of `argo` in settings."""

from __future__ import annotations

from typing import Literal, get_args

ArgoVersion = Literal["3.6", "3.7", "4.0", "4.1"]
VERSIONS: tuple[str, ...] = get_args(ArgoVersion)
LATEST = VERSIONS[-1]
