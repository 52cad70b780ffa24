"""What of the output of programs would control a terminal."""

from __future__ import annotations

from flowdsl.grammar.regex import regex

SEQUENCES = regex(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
"""Sequences, strings up to their terminator, and escapes of two or three bytes. Source: ECMA-48, 5.4 and 5.6."""
CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 but tab and newline, and what turns the direction of writing round."""
