"""Warnings about what somebody wrote by hand: it runs, but probably not as it is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.doubts import commands, literal, memoized, sharing, unlikely, unwritten

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    unlikely.times,
    unlikely.attempts,
    unlikely.podless,
    unlikely.stopped,
    commands.commands,
)

OF_YAML: tuple[Rule, ...] = (
    unlikely.commands,
    unlikely.secrets,
    unlikely.devices,
    unlikely.scripts,
    unlikely.exits,
    commands.sources,
    literal.bare,
    literal.chosen,
    literal.braces,
    literal.packed,
    literal.containers,
    literal.early,
    literal.times,
    literal.methods,
    literal.paths,
    literal.places,
    sharing.sharing,
    memoized.memoized,
    unwritten.unwritten,
)
