"""The program as it will run: templates, tasks, and what flows between them.

Everything here is frozen and named as Argo will see it. Expressions are those of `flowdsl.expr`,
with tasks by name. `compiler/argo/` is the only reader that knows Argo's field names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.expr import Expr
    from flowdsl.place import Place
    from flowdsl.types import Type
    from flowdsl.volume import Secret, Volume

#: parameter: a text. artifact: a file that Argo hands on. key: a text that names an object of the
#: artifact repository, and the file under that key. text: a text that is too long for a variable, as a file.
Kind = Literal["parameter", "artifact", "key", "text"]


class Input(NamedTuple):
    """One input of a template; `path` is where a file appears in the pod, `default` what a task need not say."""

    name: str
    kind: Kind
    path: str | None = None
    optional: bool = False
    default: str | None = None


class Output(NamedTuple):
    """One output of a template: read from `path` in a pod, or handed on from `value`.

    For a key, `value` is the key. `default` stands in where the task it comes from did not run. `optional`: a
    file that may not be there.
    """

    name: str
    kind: Kind
    path: str | None = None
    value: Expr | None = None
    default: str | None = None
    optional: bool = False
    kept: bool = False  # not deleted with the run that made it


class Mount(NamedTuple):
    """A volume, or a folder of it, at a path of the pod."""

    volume: str
    path: str
    sub_path: str | None = None
    read_only: bool = False


class Resources(NamedTuple):
    """What a pod asks of its node, by resource."""

    requests: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}


class Placement(NamedTuple):
    """Which nodes may run a pod, and how urgent it is; `affinity`: any of, all of (key, operator, values)."""

    node: Mapping[str, str] = {}
    affinity: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = ()
    tolerations: tuple[Mapping[str, str], ...] = ()
    priority: str | None = None


class Environment(NamedTuple):
    """What a container finds: its image, variables and volumes."""

    image: str | None = None
    env: tuple[tuple[str, str | Secret], ...] = ()
    mounts: tuple[Mount, ...] = ()
    volumes: tuple[Volume, ...] = ()


class Control(NamedTuple):
    """How often and how long a template may run."""

    retries: int | None = None
    timeout: str | None = None


class Repository(NamedTuple):
    """A repository of Git, at a revision."""

    url: str
    revision: str | None = None
    depth: int | None = None
    ssh_key: Secret | None = None
    username: Secret | None = None
    password: Secret | None = None


class Code(NamedTuple):
    """What Python code a step finds besides its own: packages to install, and modules in a folder.

    `folder` is where in the repository, or on the volume, the modules lie.
    """

    packages: tuple[str, ...] = ()
    repository: Repository | None = None
    volume: Volume | None = None
    folder: str = ""


class Caching(NamedTuple):
    """Whether results may come from an earlier run: how old they may be (None: they may not), and a salt."""

    max_age: str | None = None
    salt: str = ""


class Settings(NamedTuple):
    """What the options of a step come to, one field for each concern."""

    resources: Resources = Resources()
    placement: Placement = Placement()
    environment: Environment = Environment()
    control: Control = Control()
    code: Code = Code()
    caching: Caching = Caching()


class Pod(NamedTuple):
    """A container: a script in Python, or a command line."""

    command: tuple[Expr, ...]
    source: str | None
    env: tuple[tuple[str, Expr | Secret], ...]
    mounts: tuple[Mount, ...]
    output_folder: bool = False  # whether the folder of the outputs has to be made for it


class Argument(NamedTuple):
    """What a task gives to one input of its template: a file, or the text of a value of the type."""

    name: str
    kind: Kind
    value: Expr
    type: Type


class Loop(NamedTuple):
    """How a task is repeated: for items written out, or for the numbers of a list's elements.

    The lists `beside` it are walked together with it.
    """

    items: tuple[object, ...] | None
    over: Expr | None
    keep_going: bool
    beside: tuple[Expr, ...] = ()


class Task(NamedTuple):
    """One node of a graph."""

    name: str
    template: str
    arguments: tuple[Argument, ...]
    after: tuple[str, ...]
    when: Expr | None
    loop: Loop | None
    place: Place


class Graph(NamedTuple):
    """Tasks, each of which runs when those it waits for have ended."""

    tasks: tuple[Task, ...]
    parallelism: int | None = None


class Ingredient(NamedTuple):
    """One part of the key of a result: what it is, its digest (None: known when it runs), where it comes from.

    At run time it is the text of the input `port`; of rows of a loop, those `columns`.
    """

    name: str
    digest: str | None
    origin: str
    port: str = ""
    columns: tuple[str, ...] = ()


class Memo(NamedTuple):
    """Where results of a template are kept, how old they may be, and what makes up their key."""

    cache: str
    max_age: str
    ingredients: tuple[Ingredient, ...]


class Template(NamedTuple):
    """What a task runs: a pod, or a graph; `places` says by option where it was written."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    body: Pod | Graph
    place: Place
    places: Mapping[str, Place] = {}
    settings: Settings = Settings()
    memo: Memo | None = None


class Program(NamedTuple):
    """One pipeline, ready to be written."""

    name: str
    entrypoint: str
    parameters: tuple[tuple[str, str | None], ...]
    templates: tuple[Template, ...]
    volumes: tuple[tuple[str, str], ...]  # name, claim
    options: Mapping[str, object]
    place: Place
    places: Mapping[str, Place]
