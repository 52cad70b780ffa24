"""What can be wrong with the paths that a program has for its files."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown


class UnknownPathName(Unknown):
    """A name in `paths` that is neither an input nor an output."""

    code = "FD750"
    title = "`{step}` has no input and no output `{name}`"
    help = 'name a parameter that is a file, or an output; the one result of a step is "return"'
    nothing = "nothing has this name"
    step: str


class PathOfValue(Finding):
    """A path for an input that is not a file."""

    code = "FD751"
    title = "`{name}` of `{step}` is not a file, and has no path"
    label = "annotated as `{kind}`"
    help = 'pass it in the command, or as a variable: `env={{"NAME": {name}}}`; or annotate it as a `Path`'
    step: str
    name: str
    kind: str


class BadFixedPath(Finding):
    """A path at which nothing can be put."""

    code = "FD752"
    title = "nothing can be put at `{text}` for `{name}`"
    label = "{reason}"
    help = 'write the path from the root of the container: "/data/{name}"'
    text: str
    name: str
    reason: str


class SamePath(Finding):
    """Two inputs, or an input and a mounted volume, at one path."""

    code = "FD753"
    title = "{one} and {other} are both at {path}"
    label = "taken by {other}"
    help = "give each a path of its own"
    one: str
    other: str
    path: str


class PathNotChosen(Finding):
    """A file on a volume that a program expects at another place."""

    code = "FD754"
    title = "`{name}` is {what}, so it cannot be at {path}"
    label = "`{step}` has {path} for it"
    help = "{way}"
    step: str
    name: str
    what: str
    path: str
    way: str
