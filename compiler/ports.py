"""How an argument of a Python step reaches it in the pod, and how its results leave.

A reader is a small tree that says how a parameter's value is rebuilt; `flowdsl.compiler.steps.script`
turns the trees into the code of the script's last lines. Paths are those of the pod.
"""

from __future__ import annotations

from typing import Literal

from flowdsl.values import types as t
from flowdsl.values.node import Node
from flowdsl.values.types import Type

IN = "/tmp/flowdsl/in"
OUT = "/tmp/flowdsl-out"
"""Not in a mounted folder: those are owned by root, who may not be the user of the container."""
STORE = "/tmp/flowdsl/store"
CHECKPOINTS = "/tmp/flowdsl/checkpoints"
OWN = ("/tmp/flowdsl", OUT)
"""The folders that flowdsl uses in every container."""
WORKERS = "flowdsl-workers"
"""The input of the pods of a distributed step with the name by which they find each other."""
SCRIPT = "FLOWDSL_SCRIPT"
"""The variable that passes the script of a step to the pods of a Job: see compiler/argo/distributed.py."""


class FromEnv(Node):
    """The text of an environment variable, decoded by type; the type contains no file."""

    variable: str
    type: Type


class FromFile(Node):
    """A file or folder that Argo puts at `path`; `optional`: None if it is missing.

    `keyed`: it is given by its key, so only in the pod Argo learns that it is missing, and the kubelet has created
    an empty folder there by then.
    """

    path: str
    optional: bool = False
    keyed: bool = False


class FromEnvPath(Node):
    """An environment variable that holds a path on a mounted volume.

    `optional`: None if it is empty, or nothing is at the path.
    """

    variable: str
    optional: bool = False


class FromFolder(Node):
    """A folder at `path` whose entries are the items.

    A list: entries are named `<index>` or `<index>-<file name>` and are sorted by the number.
    A dict (`named`): entries are named by their keys, in alphabetical order. A missing folder
    is an empty one: object stores do not keep empty folders.
    """

    path: str | FromEnvPath
    named: bool = False


class FromBundle(Node):
    """A folder that contains one value of a type with files somewhere inside, as a step writes it.

    `value.json` is the whole value as JSON, in which each file is the name of an entry of the folder.
    """

    path: str | FromEnvPath
    type: Type


Below = tuple[tuple[str, str], ...]
"""Folders, each by its path and the variable that holds its key: a file is found in them by its own key."""


class FromRows(Node):
    """The results of a loop: a JSON list of objects whose values are all text, in a variable or in a file.

    Failed items are missing. Each object has `flowdsl-index` ("/3", nested "/3/1"), by whose numbers
    the rows are sorted, and the outputs of the item by name. `item` is the return type of the
    body. A file among the outputs is found as the entry named by the last number of the index in the
    folder `folders[output name]`, or, where the output has no entry there, the row's own text is its path.
    An output that a pipeline returns in another form than a step does has its own reader in `others`. A text that
    is a key in one of the folders of `below` is the path of that file.
    """

    source: str | FromFile | FromRow
    item: Type
    folders: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, Reader], ...] = ()
    below: Below = ()


class FromRow(Node):
    """A text of the current row, by its name: a value of the type, or the path or key of its files."""

    name: str
    type: Type
    below: Below = ()


class FromParts(Node):
    """A value in parts, each with its own reader: of a list, tuple, dict or record, as `type` says.

    `names` are the keys of a dict or the fields of a record; without a type they distinguish dict and list.
    """

    parts: tuple[Reader, ...]
    names: tuple[str, ...] = ()
    type: Type | None = None


class FromFirst(Node):
    """The first of several files that exists."""

    parts: tuple[Reader, ...]


Reader = (
    FromEnv | FromFile | FromEnvPath | FromFolder | FromBundle | FromRows | FromRow | FromParts | FromFirst
)


class Writer(Node):
    """One output of a step: written to `path` with the `layout` of its type.

    `keys` lead to it in the result, none when the result is the value.
    `kept`: what an earlier attempt of the step wrote may still exist. `digest` is where the digest of a file
    goes, if it is needed; `rows` where the rows of a list with files go, if a loop runs over it. `taken`: the
    restrictions on the value because Argo extracts parts of it. `zipped`: Argo zips it, which works for folders only.
    """

    name: str
    keys: t.Keys
    type: Type
    path: str | FromEnvPath
    kept: bool = False
    digest: str = ""
    rows: str = ""
    taken: tuple[Taken, ...] = ()
    zipped: bool = False


Taken = Literal["exact", "finite"]
"""Values that Argo can extract parts of: without integers of more than 53 bits, and without NaN and infinities."""

Layout = Literal["text", "json", "file", "list", "dict", "bundle"]


def layout(kind: Type) -> Layout:
    """How a value of a type is passed from one step to the next.

    text, json: a parameter. file: a file or folder as it is; an optional one that is None is missing.
    list, dict: a folder with one entry for each file (`FromFolder`). bundle: a folder with the value as JSON
    and the files that it names (`FromBundle`), for every other type that contains files.
    """
    if not t.holds_file(kind):
        return "text" if t.is_text(kind) else "json"
    match kind:
        case t.File() | t.Maybe(t.File()):
            return "file"
        case t.Sequence(t.File()):
            return "list"
        case t.Mapping(t.File()):
            return "dict"
        case _:
            return "bundle"


def file_reader(place: str | FromEnvPath, kind: Type) -> Reader:
    """The reader of what a writer of a type with files wrote: at a path, or at the path in a variable."""
    match layout(kind):
        case "list" | "dict" as folder:
            return FromFolder(place, folder == "dict")
        case "bundle":
            return FromBundle(place, kind)
        case _:
            optional = isinstance(kind, t.Maybe)
            return FromFile(place, optional) if isinstance(place, str) else place.changed(optional=optional)
