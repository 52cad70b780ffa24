"""Messages about operations that a value does not support: what is wrong, and what to write instead."""

from __future__ import annotations

import ast
from pathlib import PosixPath
from typing import Any

CLASSES: dict[str, type[Any]] = {
    **{cls.__name__: cls for cls in (str, bytes, int, float, bool, list, tuple, dict, set)},
    "Path": PosixPath,
    "NoneType": type(None),
}
"""The classes that are known, by name."""


_OTHERWISE = {
    ("dict", "has_key"): '"key" in {}',
    ("list", "add"): "{}.append",
    ("list", "push"): "{}.append",
    ("set", "append"): "{}.add",
    ("list", "join"): '"".join({})',
    ("list", "length"): "len({})",
    ("list", "shape"): "len({})",
    ("list", "size"): "len({})",
}
"""Names of methods in other versions or libraries, and what to use instead."""


def closest(word: str, names: list[str], least: float = 0.6) -> str | None:
    """The name most similar to a word, at least by `least` of 1, or None: `near`, with any first letter."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, names, 1, least)), None)


def word(made: str | None) -> str:
    """The name of a class in messages."""
    return "None" if made == "NoneType" else str(made)


def article(made: str | None) -> str:
    """The name of a class with its article: `an int`."""
    called = word(made)
    if called in ("None", "bytes"):
        return called
    return f"{'an' if called[:1].lower() in 'aeiou' else 'a'} {called}"


def kind_way(text: str) -> str:
    """The remedy for a value of another type."""
    if text.isidentifier():
        return f"annotate `{text}` as what it is, or use what such a value has"
    return "use what such a value has"


def walk_way(made: str | None, text: str) -> str:
    """The remedy for a value without items."""
    if made == "int":
        return f"write `range({text})` to count to it, or annotate it as a list"
    return f"write `{text}.iterdir()` for what a folder holds" if made == "Path" else kind_way(text)


def write_way(made: str | None, one: ast.expr, verb: str) -> str:
    """The remedy for a value that `write_text` or `write_bytes` does not accept."""
    text = ast.unparse(one)
    if made in ("str", "bytes"):
        return f"write `{'write_text' if verb == 'write_bytes' else 'write_bytes'}`"
    if made in ("list", "dict", "tuple"):
        return f"write it as JSON: `json.dumps({text})`"
    return f"write `str({text})`"


def attribute_way(made: str, attr: str, text: str) -> str:
    """The remedy for an attribute that values of a class lack."""
    if (made, attr) in _OTHERWISE:
        return f"write `{_OTHERWISE[made, attr].format(text)}`"
    close = closest(attr, [one for one in dir(CLASSES[made]) if one[:1] != "_"], 0.75)
    if close is not None:
        return f"did you mean `{close}`?"
    if made == "dict":
        return f'write `{text}["{attr}"]`'
    if made == "Path" and hasattr(str, attr):
        return f"write `str({text}).{attr}`"
    if made == "str" and hasattr(PosixPath, attr):
        return f"write `Path({text}).{attr}`, or annotate `{text}` as Path"
    return kind_way(text)


def shown(place: ast.expr) -> str:
    """An expression as text, shortened to fit into a message."""
    text = ast.unparse(place)
    return text if len(text) <= 60 else f"{text[:57]}..."
