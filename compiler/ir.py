"""The program as it will run: templates, tasks, and what flows between them.

Everything here is frozen and named as Argo will see it. Expressions are those of `flowdsl.values.expr`,
with tasks by name. `compiler/argo/` is the only reader that knows Argo's field names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flowdsl.grammar.digest import digest
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.distributed import Operator
    from flowdsl.options import Near
    from flowdsl.places.place import Place
    from flowdsl.values.expr import Expr, Stored
    from flowdsl.values.signature import Signature
    from flowdsl.values.types import Type
    from flowdsl.volume import Config, Mountable, Secret, Volume

#: parameter: a text. artifact: a file that Argo passes on. key: a text that names an object of the
#: artifact repository, and the file under that key. text: a text that is too long for a variable, as a file.
Kind = Literal["parameter", "artifact", "key", "text"]


#: Where an output of a leaf is read: a file of the pod, the object of a `resource` template by a JSONPath or
#: a filter of jq, or the answer of a person.
Origin = Literal["file", "json path", "jq", "person"]


class Question(NamedTuple):
    """What a person is asked: a text, and the answers to choose from; only shown, where nothing is supplied."""

    about: str = ""
    choices: tuple[str, ...] = ()
    answered: bool = True


class Input(NamedTuple):
    """One input of a template; `path` is where a file appears in the pod, `default` makes it optional.

    `asked`: what is shown to the person who is to supply the output of that name. `about`: its description.
    """

    name: str
    kind: Kind
    path: str | None = None
    optional: bool = False
    default: str | None = None
    asked: Question | None = None
    about: str = ""


class Output(NamedTuple):
    """One output of a template: read at `path` of its `origin`, or passed on from `value`.

    For a key, `value` is the key. `default` is used where the task it comes from did not run, or a person
    supplies nothing. `optional`: a file that may be missing.
    """

    name: str
    kind: Kind
    path: str | None = None
    value: Expr | None = None
    default: str | None = None
    optional: bool = False
    origin: Origin = "file"
    archive: str | int | None = None  # how a file is compressed; a number is a compression level
    kept: bool = False  # not deleted with the run that made it


class Store(NamedTuple):
    """A folder of a volume for files of steps, with a subfolder for each run; empty: the volume itself."""

    volume: str
    folder: str


class Mount(NamedTuple):
    """A volume, or a folder of it, at a path of the pod."""

    volume: str
    path: str
    sub_path: str | Expr | None = None
    read_only: bool = False


class PodVolume(NamedTuple):
    """A volume that pods mount, and its source.

    claim: the existing claim `source`. new: a claim created for the run. scratch: an emptyDir of the pod.
    config, secret: the ConfigMap or Secret `source`. host: the folder `source` of the node. The claims are
    declared for all pods, the others where they are mounted.
    """

    name: str
    kind: Literal["claim", "new", "scratch", "config", "secret", "host"]
    source: str = ""
    size: str | None = None
    mode: str = ""
    storage_class: str | None = None
    memory: bool = False
    place: Place | None = None


class Files(NamedTuple):
    """How the files of outputs are compressed, by output; "" is every other one."""

    archive: tuple[tuple[str, str | int], ...] = ()


class Resources(NamedTuple):
    """What a pod requests of its node, by resource."""

    requests: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}


class Placement(NamedTuple):
    """Which nodes may run a pod, and its priority; `affinity`: any of, all of (key, operator, values).

    `near`: on the same nodes as other pods, or on different ones. `queue`: the queue of Kueue that admits it.
    """

    node: Mapping[str, str] = {}
    affinity: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = ()
    tolerations: tuple[Mapping[str, str], ...] = ()
    priority: str | None = None
    near: Near | None = None
    queue: str | None = None
    spot: bool = False  # may be preempted, so it is retried


class Environment(NamedTuple):
    """What a container gets: its image, variables and volumes."""

    image: str | None = None
    env: tuple[tuple[str, str | Config | Secret], ...] = ()
    mounts: tuple[Mount, ...] = ()
    volumes: tuple[Mountable, ...] = ()  # one for each mount
    workdir: str | None = None
    image_pull_policy: str | None = None
    checkpoints: tuple[Volume, str] | None = None  # folder of a volume for `run.checkpoint_dir`


class Retry(NamedTuple):
    """How a template is retried; times are Argo's durations, `expression` decides whether to."""

    limit: int
    policy: str = "Always"
    wait: str | None = None
    factor: int | None = None
    longest: str | None = None
    within: str | None = None
    expression: str | None = None
    elsewhere: bool = False


class Lock(NamedTuple):
    """A mutex, or with a key the semaphore of that entry of a ConfigMap."""

    name: Expr
    key: str | None = None
    namespace: str | None = None


class Control(NamedTuple):
    """How often and how long a template may run, and which locks it waits for."""

    retries: Retry | None = None
    timeout: str | None = None
    queue_timeout: str | None = None
    locks: tuple[Lock, ...] = ()


class Companion(NamedTuple):
    """A container in addition to that of a step."""

    name: str
    command: tuple[str, ...] = ()
    environment: Environment = Environment()
    resources: Resources = Resources()
    mirror: bool = False
    place: Place | None = None

    def __repr__(self) -> str:
        # Where it was written makes no difference.
        return f"Companion{tuple(self)[:-1]!r}"


class Companions(NamedTuple):
    """The containers in addition to that of a step: before it, and at the same time."""

    init: tuple[Companion, ...] = ()
    sidecars: tuple[Companion, ...] = ()


class Probe(NamedTuple):
    """How the readiness of a server is probed; times in seconds."""

    port: int | None = None
    path: str | None = None
    command: tuple[str, ...] = ()
    delay: int | None = None
    every: int | None = None


class Daemon(NamedTuple):
    """Whether a pod serves the tasks after it, and when it is ready."""

    on: bool = False
    ready: Probe | None = None


class Distributed(NamedTuple):
    """How many pods run a step at once, and how they find each other; no workers: one pod runs it."""

    framework: Literal["torch", "tensorflow", "mpi", ""] = ""
    workers: int = 0
    processes: int = 1  # per pod
    port: int = 0
    operator: Operator | Literal[""] = ""  # that creates them; else they are those of a Job
    ps: int = 0  # parameter servers in addition, and a chief
    aside: tuple[Resources, Placement] | None = None  # what its other pods request of their nodes: no GPU

    @property
    def pods(self) -> int:
        """How many there are in total."""
        return self.workers + (self.ps + 1 if self.ps else 0)

    @property
    def launched(self) -> bool:
        """Whether something else starts the processes of a pod."""
        return self.framework == "mpi"


class Managed(NamedTuple):
    """An action on an object of the cluster, and what is waited for."""

    action: str = ""
    success: str | None = None
    failure: str | None = None
    merge: str | None = None
    flags: tuple[str, ...] = ()
    owner: bool = False


class Gate(NamedTuple):
    """How long a gate waits for a person."""

    duration: str | None = None


class Library(NamedTuple):
    """Where a template of the cluster is, and its names for the inputs and outputs."""

    library: str = ""
    template: str = ""
    cluster: bool = False
    names: Mapping[str, str] = {}


class Identity(NamedTuple):
    """The identity of a pod in the cluster: its service account, labels and annotations."""

    service_account: str | None = None
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Patch(NamedTuple):
    """What a user patches into the output, in Argo's fields, and where."""

    fields: Mapping[str, object]
    place: Place


class Code(NamedTuple):
    """What Python code a step needs besides its own: packages to install, and modules in a folder.

    `folder` is the location of the modules in the repository, or on the volume.
    """

    packages: tuple[str, ...] = ()
    repository: Stored | None = None
    volume: Volume | None = None
    folder: str = ""


class Caching(NamedTuple):
    """Whether results of an earlier run may be used: their maximum age (None: they may not), and a salt."""

    max_age: str | None = None
    salt: str = ""


class Settings(NamedTuple):
    """The result of evaluating the options of a step, one field for each concern."""

    resources: Resources = Resources()
    placement: Placement = Placement()
    environment: Environment = Environment()
    control: Control = Control()
    companions: Companions = Companions()
    daemon: Daemon = Daemon()
    managed: Managed = Managed()
    gate: Gate = Gate()
    library: Library = Library()
    files: Files = Files()
    identity: Identity = Identity()
    code: Code = Code()
    caching: Caching = Caching()
    distributed: Distributed = Distributed()


class Pod(NamedTuple):
    """A container: a script, or a command line; `typed`: its outputs are known to have the texts of their types."""

    command: tuple[Expr, ...]
    source: str | None
    env: tuple[tuple[str, Expr | Config | Secret], ...]
    mounts: tuple[Mount, ...]
    output_folder: bool = False  # whether the folder of the outputs has to be created for it
    volumes: tuple[PodVolume, ...] = ()  # those of this pod alone
    typed: bool = False


class Resource(NamedTuple):
    """An object of the cluster: as an expression or as text in YAML, or the name of the input that contains it."""

    manifest: Expr | str | None
    origin: str | None = None


class Beside(NamedTuple):
    """An object in addition to the one that defines the pods of a distributed step, by its role.

    It gives them names, "service"; or starts them, "job", in a `queue` of Kueue; or is created from that object,
    "jobset", and tells when they have ended, "workers".
    """

    role: Literal["service", "job", "jobset", "workers"]
    queue: str | None = None


class Suspend(NamedTuple):
    """A gate."""


class Http(NamedTuple):
    """A request; `json`: its body is sent as JSON."""

    method: str
    url: Expr
    headers: tuple[tuple[str, Expr | Secret], ...] = ()
    body: Expr | None = None
    json: bool = False
    success: str | None = None
    timeout: int | None = None
    insecure: bool = False


class Reference(NamedTuple):
    """A template of a WorkflowTemplate of the cluster: the task refers to it, and no template is written."""


class Argument(NamedTuple):
    """What a task passes to one input of its template: a file, or the text of a value of the type."""

    name: str
    kind: Kind
    value: Expr
    type: Type


class Loop(NamedTuple):
    """How a task is repeated: for items written out, or for the indices of a list's elements.

    The lists `beside` it are iterated in parallel, or with `product` in every combination. `elements`: for the
    elements of the list themselves.
    """

    items: tuple[object, ...] | None
    over: Expr | None
    keep_going: bool
    beside: tuple[Expr, ...] = ()
    elements: bool = False
    product: bool = False


class Task(NamedTuple):
    """One node of a graph.

    It waits until the tasks in `after` have succeeded, and those in `ended` have ended in one of the given ways.
    If one that `may_fail` fails, its graph does not; no task of that graph waits for another.
    One that runs `NOTHING` only exists for its dependencies: the graph has not succeeded before they have.
    """

    name: str
    template: str
    arguments: tuple[Argument, ...]
    place: Place
    after: tuple[str, ...] = ()
    when: Expr | None = None
    loop: Loop | None = None
    ended: tuple[tuple[str, tuple[str, ...]], ...] = ()
    may_fail: bool = False
    patches: tuple[Patch, ...] = ()

    @property
    def before(self) -> tuple[str, ...]:
        """The tasks that it waits for."""
        return (*self.after, *(name for name, _ in self.ended))


NOTHING = ""
"""The template of a task that runs nothing."""


class Graph(NamedTuple):
    """Tasks, each of which runs when those it waits for have ended.

    `around`: it wraps one step, and only passes on its outputs. `whole`: it fails only when all its
    tasks have ended.
    """

    tasks: tuple[Task, ...]
    parallelism: int | None = None
    around: bool = False
    whole: bool = False


Leaf = Pod | Resource | Beside | Suspend | Http | Reference


class Ingredient(NamedTuple):
    """One part of a cache key: what it is, its digest (None: known at run time), and its source.

    At run time it is the text of the input `port`; of rows of a loop, only those `columns`.
    """

    name: str
    digest: str | None
    origin: str
    port: str = ""
    columns: tuple[str, ...] = ()


class Memo(NamedTuple):
    """Where results of a template are cached, their maximum age, and the parts of the key."""

    cache: str
    max_age: str
    ingredients: tuple[Ingredient, ...]

    @property
    def digest(self) -> str:
        """The digest of all that is known before the run, and of the names of what is added at run time.

        The name of a statement is for people only: its digest identifies it.
        """
        parts = self.ingredients
        return digest(
            *(f"{one.name.partition(' ')[0]}={one.digest}" if one.digest else one.name for one in parts)
        )


class Template(NamedTuple):
    """What a task runs: a leaf, or a graph; `places` has the source location of each option."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    body: Leaf | Graph
    place: Place
    places: Mapping[str, Place] = {}
    settings: Settings = Settings()
    patches: tuple[Patch, ...] = ()
    memo: Memo | None = None


class Parameter(NamedTuple):
    """A parameter of a run: its default and description, if it has them, and its texts, if these are few."""

    name: str
    value: str | None
    about: str
    choices: tuple[str, ...] = ()


class Program(NamedTuple):
    """One pipeline, ready to be written."""

    name: str
    entrypoint: str
    parameters: tuple[Parameter, ...]
    templates: tuple[Template, ...]
    volumes: tuple[PodVolume, ...]
    options: Mapping[str, Any]
    place: Place
    places: Mapping[str, Place]
    artifacts: tuple[tuple[str, Expr], ...] = ()  # files that the run takes as inputs
    exit: str | None = None  # the template that runs when the entrypoint has ended
    signature: Signature | None = None  # of the pipeline: its parameters and its result
    objectives: tuple[tuple[str, str, str], ...] = ()  # template, metric and goal of each sweep
    signatures: Mapping[str, Signature] = {}  # of the step or pipeline of a template
    source: str = ""  # the digest of its source files
