"""Doubts about what somebody wrote in YAML: it runs, and is probably not meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.doubts import literal, sharing, unlikely

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

OF_YAML: tuple[Rule, ...] = (
    unlikely.images,
    unlikely.commands,
    unlikely.secrets,
    unlikely.devices,
    unlikely.times,
    unlikely.scripts,
    unlikely.exits,
    unlikely.attempts,
    literal.commands,
    literal.sources,
    literal.bare,
    literal.braces,
    literal.packed,
    literal.containers,
    literal.times,
    literal.methods,
    literal.paths,
    sharing.sharing,
)
