"""The mistakes that the compiler finds in definitions, options and graphs (FD270 to FD299, FD330 on)."""

from __future__ import annotations

from typing import ClassVar

from flowdsl.diagnostic import Finding, Severity, near, suggest

#: How each option is written.
EXAMPLES = {
    "after": "after=[first], with what the call of that step gave",
    "annotations": 'annotations={"docs": "https://example.com"}',
    "archive_logs": "archive_logs=True",
    "argo": 'argo={"hostNetwork": True}',
    "concurrency": 'concurrency="Forbid"',
    "checkpoints": 'checkpoints=Volume("datasets") / "checkpoints"',
    "cache": 'cache=True, or cache=Cache(max_age="30d")',
    "code": 'code=Git("https://example.com/team/models.git", revision="v1.4.0")',
    "cpu": "cpu=2, or half a core: cpu=0.5",
    "env": 'env={"LOG_LEVEL": "debug"}',
    "gpu": 'gpu=1, or gpu=GPU(2, memory="40Gi")',
    "image": 'image="python:3.12-slim"',
    "image_pull_policy": 'image_pull_policy="Always"',
    "image_pull_secrets": 'image_pull_secrets="registry", or several: image_pull_secrets=["registry", "mirror"]',
    "keep_failed": "keep_failed=1",
    "keep_succeeded": "keep_succeeded=3",
    "init": 'init=[InitContainer("fetch", image="alpine:3.22", command=["sh", "-c", "..."])]',
    "labels": 'labels={"team": "search"}',
    "may_fail": "may_fail=True",
    "max_age": 'Cache(max_age="7d")',
    "max_age of Cache": 'Cache(max_age="7d")',
    "memory": 'memory="512Mi" or memory="8Gi"',
    "memory of GPU": 'gpu=GPU(1, memory="40Gi")',
    "limit of Retry": "retries=Retry(3)",
    "locks": 'locks=[Mutex("gpu-host")]',
    "mig of GPU": 'gpu=GPU(1, mig="1g.5gb")',
    "mounts": 'mounts={"/data": Volume("claim")}',
    "name": 'name="nightly"',
    "placement": 'placement="pack"',
    "pool": 'pool="gpu-new"',
    "queue": 'queue="team-a"',
    "share": 'gpu=GPU(1, share="8Gi")',
    "share of GPU": 'gpu=GPU(1, share="8Gi")',
    "shm": 'shm="8Gi"',
    "spot": "spot=True",
    "name of Volume": 'Volume("datasets")',
    "node": 'node={"disk": "ssd"}',
    "packages": 'packages=["numpy==2.1", "pandas>=2.2,<3"]',
    "parallelism": "parallelism=10",
    "pod_annotations": 'pod_annotations={"example.com/owner": "search"}',
    "pod_gc": 'pod_gc="OnPodSuccess"',
    "pod_labels": 'pod_labels={"team": "search"}',
    "priority": 'priority="high", the name of a PriorityClass',
    "product of GPU": """gpu=GPU(1, product="NVIDIA-A100-SXM4-40GB"), as `kubectl get nodes --show-labels` has it""",
    "queue_timeout": 'queue_timeout="2h"',
    "retries": 'retries=3 or retries=Retry(3, wait="30s", factor=2)',
    "schedule": 'schedule="0 3 * * *", or several: schedule=["0 3 * * *", "@hourly"]',
    "salt of Cache": 'Cache(salt="2024-06")',
    "secrets": 'secrets={"TOKEN": Secret("hub", "token")}',
    "service_account": 'service_account="pipelines"',
    "starting_deadline": 'starting_deadline="10m", or in seconds: starting_deadline=600',
    "suspend": "suspend=True",
    "timezone": 'timezone="Europe/Berlin"',
    "timeout": 'timeout="1h30m", or in seconds: timeout=5400',
    "tolerations": 'tolerations=["spot=true:NoSchedule"]',
    "longest of Retry": 'retries=Retry(3, wait="30s", factor=2, longest="10m")',
    "wait of Retry": 'retries=Retry(3, wait="30s")',
    "within of Retry": 'retries=Retry(3, wait="30s", within="2h")',
    "exit_codes of Retry": "retries=Retry(3, exit_codes=[137, 143])",
    "messages of Retry": 'retries=Retry(3, messages=["node shutdown"])',
    "ttl": 'ttl="48h", in seconds: ttl=172800, or by outcome: ttl={"success": "1h", "failure": "72h"}',
    "user": "user=1000",
    "workdir": 'workdir="/work"',
    "where": 'where="zone in (eu-1, eu-2) and not spot"',
}

#: The words of Argo, Kubernetes and other tools for what an option says, without `_` and capitals.
_OPTIONS = {
    word: tuple(options.split())
    for words, options in (
        ("activedeadlineseconds deadline", "timeout"),
        ("affinity", "where"),
        ("baseimage containerimage dockerimage", "image"),
        ("concurrencypolicy", "concurrency"),
        ("continueon", "may_fail"),
        ("cron cronexpression schedules", "schedule"),
        ("cpulimit cpurequest", "cpu"),
        ("dependencies depends dependson upstream waitfor", "after"),
        ("enablecaching memoize", "cache"),
        ("envfrom", "env secrets"),
        ("accelerator acceleratorlimit gpulimit gpus numgpus", "gpu"),
        ("generatename", "name"),
        ("initcontainers", "init"),
        ("limits requests resources", "cpu memory gpu"),
        ("maxretries numretries retrystrategy", "retries"),
        ("memorylimit memoryrequest", "memory"),
        ("mutex semaphore synchronization", "locks"),
        ("nodeselector", "node"),
        ("packagestoinstall pippackages requirements", "packages"),
        ("pvc pvolumes volumes volumemounts", "mounts"),
        ("priorityclassname", "priority"),
        ("sharedmemory shmsize", "shm"),
        ("ttlsecondsafterfinished ttlstrategy", "ttl"),
        ("workingdir", "workdir"),
    )
    for word in words.split()
}
#: The same for what no option says.
_WAYS = {
    word: way
    for words, way in (
        ("args command", "a function under `@container` says its command line: `command(...)`"),
        ("condition when", "call the step in a block of `with when(...)`"),
        ("exithandler hooks onexit", "call what is to run at the end in a block of `with on_exit(...)`"),
        (
            "inputs outputs",
            "the parameters and the return annotation of the function are what goes in and out",
        ),
        (
            "foreach items withitems withparam withsequence",
            "`fan_out(step, over={...})` calls it for each item",
        ),
    )
    for word in words.split()
}


class UnknownOption(Finding):
    """An option that a step or pipeline does not have."""

    code = "FD270"
    title = "there is no option `{name}`{where}"
    label = "{meant}"
    help = "{way}"
    name: str
    known: tuple[str, ...]
    where: str = ""

    def words(self) -> dict[str, str]:
        """The fields, the option that was probably meant, and the way out."""
        word = self.name.replace("_", "").lower()
        options = [one for one in _OPTIONS.get(word, ()) if one in self.known]
        meant = suggest(self.name, self.known)
        close = near(self.name, self.known)
        way = "leave it out; what Argo has and no option says is written `argo={...}`, in Argo's own fields"
        if self.where:
            way = "write it there, or leave it out"
        elif options:
            meant = f"that is {', '.join(f'`{one}`' for one in options)}"
            way = f"write {'; '.join(EXAMPLES.get(one, f'{one}=...') for one in options)}"
        elif word in _WAYS:
            meant, way = "no option says that", _WAYS[word]
        elif close is not None:
            way = f"write `{close}=...`, or leave it out"
        return {**super().words(), "meant": meant, "way": way}


class RunTimeOption(Finding):
    """An option that is known only at run time."""

    code = "FD271"
    title = "`{name}` is known only when the pipeline runs"
    label = "options are fixed while compiling"
    help = "pass the value to the step as an argument, or write it here as a constant"
    name: str


class OptionType(Finding):
    """An option of the wrong type."""

    code = "FD272"
    title = "`{name}` must be {want}, not {have}"
    label = "not {want}"
    help = "{way}"
    name: str
    want: str
    have: str

    def words(self) -> dict[str, str]:
        """The fields, and an example of the option."""
        example = EXAMPLES.get(self.name.partition("[")[0])
        if self.name.startswith("env[") and self.have.startswith("Secret("):
            variable = self.name[4:-1].replace("'", '"')
            return {**super().words(), "way": f"write secrets={{{variable}: Secret(...)}}"}
        return {**super().words(), "way": f"for example {example}" if example else f"write {self.want}"}


class BadQuantity(Finding):
    """An amount that Kubernetes does not read."""

    code = "FD273"
    title = "`{name}` cannot be `{have}`"
    label = "expected {expected}"
    help = "for example {example}"
    name: str
    have: str
    expected: str

    def words(self) -> dict[str, str]:
        """The fields, and an example of the option."""
        return {**super().words(), "example": EXAMPLES.get(self.name, f'{self.name}="8Gi"')}


class BadDuration(Finding):
    """A time that Argo does not read."""

    code = "FD274"
    title = "`{name}` cannot be `{have}`"
    label = "expected {expected}"
    help = "for example {example}"
    name: str
    have: str
    expected: str

    def words(self) -> dict[str, str]:
        """The fields, and an example of the option."""
        return {**super().words(), "example": EXAMPLES.get(self.name, f'{self.name}="90s"')}


class BadGpuCount(Finding):
    """A number of GPUs that no node can give."""

    code = "FD275"
    title = "a step cannot ask for {have} GPUs"
    label = "GPUs come in whole numbers"
    help = 'write 0, 1, 2 ...; a part of a card is `GPU(1, mig="1g.5gb")`'
    have: str


class UnknownVendor(Finding):
    """A vendor of GPUs that is not known."""

    code = "FD276"
    title = "the vendor `{have}` is not known"
    label = "{meant}"
    help = 'use a known vendor, or name the resource: GPU(1, resource="example.com/gpu")'
    have: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the vendor that was probably meant."""
        return {**super().words(), "meant": suggest(self.have, self.known)}


class BadGpuResource(Finding):
    """The name of an extended resource without its domain."""

    code = "FD277"
    title = "`{have}` is no extended resource: it has no domain"
    label = "Kubernetes refuses the name"
    help = 'write it in full, as in "nvidia.com/gpu"'
    have: str


class MigVendor(Finding):
    """A MIG profile of something that has none."""

    code = "FD278"
    title = "`mig` is a partition of an NVIDIA GPU"
    label = "cannot be combined with `resource` or another vendor"
    help = 'ask for the partition alone: GPU(1, mig="1g.5gb")'


class ProductPattern(Finding):
    """A product with a pattern."""

    code = "FD279"
    title = "`{have}` is a pattern, and node labels can only be compared as a whole"
    label = "no node has this label"
    help = 'list the products: product=["A100-SXM4-40GB", "A100-SXM4-80GB"], or name them in the profile of a cluster'
    have: str


class BadNode(Finding):
    """A node selector that Kubernetes refuses."""

    code = "FD280"
    title = "`{have}` is not a label of a node"
    label = "expected {expected}"
    help = 'write labels as they stand on the nodes: node={{"disk": "ssd"}}'
    have: str
    expected: str


class BadWhere(Finding):
    """A `where` text that does not parse."""

    code = "FD281"
    title = "`where` cannot be read: expected {expected}, found {found}"
    label = "{found} at character {at}"
    help = 'for example: where="gpu.memory >= 40Gi and zone in (eu-1, eu-2) and not spot"'
    expected: str
    found: str
    at: int


class BadToleration(Finding):
    """A toleration that does not parse."""

    code = "FD282"
    title = "`{have}` cannot stand in a toleration"
    label = "expected {expected}"
    help = 'write it as kubectl writes taints: tolerations=["spot=true:NoSchedule"]'
    have: str
    expected: str


class BadEnvName(Finding):
    """A name that no environment variable can have."""

    code = "FD283"
    title = "`{have}` is no name for an environment variable"
    label = "Kubernetes refuses the name"
    help = "use letters, digits and `_`, not beginning with a digit"
    have: str


class BadMountPath(Finding):
    """A mount path that Kubernetes refuses."""

    code = "FD284"
    title = "`{have}` is no path to mount at"
    label = "{reason}"
    help = 'write a path of its own for each volume: mounts={{"/data": volume}}'
    have: str
    reason: str

    def words(self) -> dict[str, str]:
        """The fields; a text that is empty is shown by its quotes."""
        return {**super().words(), "have": self.have or "''"}


class NoImage(Finding):
    """A step without an image."""

    code = "FD285"
    title = "`{step}` has no image"
    label = "nothing to run it in"
    help = 'say which: image="python:3.12-slim"'
    step: str


class BadAnnotation(Finding):
    """A parameter or result of a type that does not travel."""

    code = "FD286"
    title = "{what} of `{step}` is {annotation}, which does not travel between steps"
    label = "{reason}"
    help = "use str, int, float, bool, Path, Enum, Literal, list, dict[str, ...], a NamedTuple or a dataclass"
    what: str
    step: str
    annotation: str
    reason: str


class NoAnnotation(Finding):
    """A parameter without a type."""

    code = "FD287"
    title = "`{name}` of `{step}` has no annotation"
    label = "its type decides how it travels"
    help = "write its type: `{name}: float`, `{name}: Path` ..."
    name: str
    step: str


class UnreadableAnnotation(Finding):
    """An annotation that cannot be evaluated."""

    code = "FD288"
    title = "an annotation of `{step}` cannot be read"
    label = "{problem}"
    help = "use names that exist in this module when it is loaded (not only under TYPE_CHECKING)"
    step: str
    problem: str


class Variadic(Finding):
    """*args or **kwargs."""

    code = "FD289"
    title = "`{step}` takes `{name}` without a fixed name"
    label = "every input of a task has a name of its own"
    help = "write one parameter for each input, or take a list or dict"
    step: str
    name: str


class BadName(Finding):
    """A name of a parameter or output that Argo refuses."""

    code = "FD290"
    title = "`{name}` cannot be the name of an input or output in Argo"
    label = "Argo takes ASCII letters, digits, `-` and `_`"
    help = "rename it in ASCII"
    name: str


class BranchEscape(Finding):
    """A value used outside of the branch that makes it."""

    code = "FD291"
    title = "`{step}` may not have run: its value is used outside its branch"
    label = "made only under a condition"
    help = "use it inside the same `with` block, or choose: `either(value, other)`"
    step: str


class ForeignValue(Finding):
    """A value of another pipeline's body."""

    code = "FD292"
    title = "this value belongs to the body of another pipeline"
    label = "not an argument of this pipeline"
    help = "give the pipeline a parameter for it, and pass it"


class AlikeCalls(Finding):
    """Two unassigned calls that would get one name."""

    code = "FD293"
    title = "two calls would both be named `{name}`"
    label = "the second one needs a name of its own"
    help = 'assign its result to a variable, or write `{step}.options(name="...")(...)`'
    name: str
    step: str


class SameName(Finding):
    """Two tasks that ask for one name."""

    code = "FD294"
    title = "two tasks are named `{name}`"
    label = "the name is taken"
    help = "{way}"
    name: str
    repeated: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits one statement or two."""
        way = "give one of them another name"
        if self.repeated:
            way = 'make it from what differs, as in name=f"load-{table}"'
        return {**super().words(), "way": way}


class BadTaskName(Finding):
    """A name that no task can have."""

    code = "FD295"
    title = "`{name}` cannot be the name of {what}"
    label = "{reason}"
    help = "use letters, digits and `-`, beginning with a letter"
    name: str
    what: str
    reason: str


class FileDefault(Finding):
    """A pipeline's file without a source."""

    code = "FD296"
    title = "the parameter `{name}: {type}` of `{pipeline}` has no file to begin with"
    label = "a run could not be given one"
    help = "give it a default on a volume or from elsewhere: {way}"
    name: str
    type: str
    pipeline: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the type."""
        way = f'`{self.name}: Path = Volume("claim") / "folder"`, or `= S3("key")`'
        if self.type not in ("Path", "Path | None"):
            way = 'one with `Volume("claim") / "folder"` or `S3("key")` for each file'
        return {**super().words(), "way": way}


class MixedFiles(Finding):
    """A choice between a file of the repository and one on a volume."""

    code = "FD297"
    title = "the files to choose from are kept in different places"
    label = "one is on a volume, the other in the artifact repository"
    help = "keep both in one place: `store` puts the files of a step on a volume, and a step can return a copy of one"


class IsNone(Finding):
    """A run-time value compared with None by identity."""

    code = "FD298"
    title = "`{text}` is decided while compiling, and a run-time value is never None then"
    label = "always the same answer"
    help = "give the value a default with `either(value, default)`, or use `when(value != None)`"
    text: str


class NoCommand(Finding):
    """A container step that does not say its command."""

    code = "FD330"
    title = "`{step}` does not say its command"
    label = "`command(...)` is not reached"
    help = 'end it with `return command("/bin/program", "--flag", value)`'
    step: str


class CommandFailed(Finding):
    """A container step whose function raised."""

    code = "FD331"
    title = "`{step}` raised {error}"
    label = "while its {word} was made"
    help = "build the {word} from its inputs{outputs} alone"
    step: str
    error: str
    word: str = "command"

    def words(self) -> dict[str, str]:
        """The fields, and what a description may be made from."""
        return {**super().words(), "outputs": " and `output(...)`" if self.word == "command" else ""}


class CommandPart(Finding):
    """A part of a command line that is no text."""

    code = "FD332"
    title = "{where} of `{step}` is {have}"
    label = "{label}"
    help = "{way}"
    step: str
    have: str
    where: str
    files: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the type."""
        have = "None" if self.have == "NoneType" else self.have
        several = have in ("list", "tuple") and self.where == "a part of the command"
        way = "put `*` in front of it, so that each item is a word" if several else "write it as text"
        if have in ("Secret", "Config"):
            option = "secrets" if have == "Secret" else "env"
            way = (
                f'make it a variable of the step: @container({option}={{"NAME": {have}("name", "key")}}, ...)'
            )
        label = "not a text, a number or an input"
        if self.files:
            label = "each of its files has a path of its own"
            way = "take one `Path` for each file, or one that is a folder"
        return {**super().words(), "have": have, "way": way, "label": label}


class ShellText(Finding):
    """An input inside the text of a shell command."""

    code = "FD333"
    title = "an input stands inside the text of a shell command"
    label = "its value would be run as code"
    help = 'pass it as a variable: command("sh", "-c", \'echo "$NAME"\', env={{"NAME": name}})'


class UnknownOutputPath(Finding):
    """`output(name)` for an output that the annotation does not have."""

    code = "FD334"
    title = "`{step}` has no output `{name}`"
    label = "{meant}"
    help = "name an output of its return annotation"
    step: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known) or "it returns nothing"}


class NotWritten(Finding):
    """An output of a container step that no part of the command names."""

    code = "FD335"
    title = "the command of `{step}` does not say where to write {what}"
    label = "{missing} is missing here"
    help = 'give the program that path: command("/bin/program", ..., "--out", {missing})'
    step: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the call of `output` that is missing."""
        single = self.name == "return"
        missing = "output()" if single else f'output("{self.name}")'
        what = "its result" if single else f"`{self.name}`"
        return {**super().words(), "what": what, "missing": missing}


class ReturnsComputed(Finding):
    """A sub-pipeline's result that is computed in a way that may fail."""

    code = "FD299"
    title = "`{pipeline}` returns a value that Argo would have to compute"
    label = "a computation that fails here would leave the run waiting for ever"
    help = "return the output of a step as it is, and compute where the result is used"
    pipeline: str


class ScatteredFiles(Finding):
    """Files of a loop that are not kept in one folder."""

    code = "FD336"
    title = "the files {shown}that `{pipeline}` returns are not made by one step"
    label = "a list of them cannot be read as one folder"
    help = "let one step at the end of `{pipeline}` return the file, or keep the files on a volume: `store`"
    pipeline: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the name of the output where there are several."""
        return {**super().words(), "shown": "" if self.name == "return" else f"`{self.name}` "}


class UnlistedFiles(Finding):
    """A loop over a list of files of which nobody says what is in it."""

    code = "FD350"
    title = "a loop cannot take apart this `{type}`"
    label = "{reason}"
    help = "{way}"
    type: str
    why: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        reason = "what is in it is known only to the step that made it"
        way = "give `over` what a step of Python returned, in the pipeline that calls it"
        if self.why == "item":
            reason = "the files of each item are handed on together"
            way = "let an item be a `Path`, or a record or tuple of `Path`s and values"
        return {**super().words(), "reason": reason, "way": way}


class RoundedInteger(Finding):
    """A whole number inside the items of a loop that Argo would round."""

    code = "FD351"
    title = "Argo would round {number} when it takes it out of this list"
    label = "beyond 2**53 whole numbers are exact only in a `list[int]`"
    help = "write it as a `str`, and convert it in the step"
    number: str


class FailureUnseen(Finding):
    """`try` around the call of a step, as if it could fail there."""

    code = "FD352"
    severity: ClassVar[Severity] = "warning"
    title = "`{word}` does not see how `{step}` ends"
    label = "this body is over before `{step}` begins"
    help = "{way}"
    word: str
    step: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = f"call what is to run at the end of `{self.step}` in `with on_exit(...)`"
        if self.word == "except":
            way = (
                f"call what is to run when `{self.step}` has failed in `with on_failure(...)`; "
                "`.options(may_fail=True)` lets the run succeed without it"
            )
        return {**super().words(), "way": way}


class LeftBlock(Finding):
    """`return`, `break` or `continue` in a block of `when` and its like: Python obeys it while it compiles."""

    code = "FD353"
    title = "this `{verb}` is obeyed while compiling, not when the block of `{word}` runs"
    label = "leaves out what follows, in every run"
    help = "{way}"
    verb: str
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = "call what is to run otherwise in a block of `unless(...)` or `otherwise()`"
        if self.verb == "return":
            way += ", and return once at the end: `either(value, other)` is the value of the branch that ran"
        if self.word.startswith("on_"):
            way = f"let the body go on after the block: what is called there does not wait for `{self.word}`"
        return {**super().words(), "way": way}


class EmptyBlock(Finding):
    """A block of `when`, `unless`, `otherwise`, `on_exit` or `on_failure` in which no step is called."""

    code = "FD354"
    severity: ClassVar[Severity] = "warning"
    title = "no step is called in this block of `{word}`"
    label = "what else stands in it happens while compiling, in every run"
    help = "{way}"
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = "call a step in it that returns the value, and take `either(value, other)` behind it; or take it out"
        if self.word.startswith("on_"):
            way = "call a step in it, which does what is to be done then; or take it out"
        return {**super().words(), "way": way}


class EitherAlways(Finding):
    """A first choice that is made without any task, such as an `either` with a default inside a branch."""

    code = "FD355"
    title = "`either` never takes what is behind a value that is always there"
    label = "its first value is made without any task, so it is there whichever branch runs"
    help = (
        "give the default last, as in `either(either(a, b), -1)`, or let a step in the branch make the value"
    )


class TakenOnce(Finding):
    """A time or a random value is taken by a pipeline: once, when it is compiled."""

    code = "FD356"
    severity: ClassVar[Severity] = "warning"
    title = "`{call}` is called once, when the pipeline is compiled"
    label = "every run gets the same value, and each compilation writes another YAML"
    help = "make it a parameter of the pipeline, or let a step return it; what names the run is `run.name`"
    call: str


class RowsInside(Finding):
    """The results of a loop inside another value."""

    code = "FD337"
    title = "the results of a loop stand inside another value"
    label = "only known together, when the loop has ended"
    help = "pass them to a step as an argument of their own, `parameter: list[...]`, and go on with what it returns"


class Waiting(Finding):
    """A graph that can only be split by letting tasks wait for others."""

    code = "FD338"
    severity: ClassVar[Severity] = "warning"
    title = "`{name}` has more than 200 tasks, and no place to part them"
    label = "some tasks will wait for others that they do not need"
    help = "use fan_out for what is alike, or put parts of it into pipelines of their own"
    name: str


class InputComputed(Finding):
    """A step that computes with its inputs while it says what it does."""

    code = "FD339"
    title = "`{step}` computes with an input, which has no value yet"
    label = "{problem}"
    help = "pass the input to the program whole, and leave what depends on it to the program"
    step: str
    problem: str


class BadObjectName(Finding):
    """The name of an object of the cluster that Kubernetes refuses."""

    code = "FD340"
    title = "{have} cannot be the name of {what}"
    label = "Kubernetes refuses the name"
    help = "{way}"
    have: str
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and what such a name is made of."""
        way = "write the name as `kubectl get` shows it: lower-case letters, digits, `-` and `.`"
        if self.what.startswith("a key"):
            way = "write the key as it stands in the object: letters, digits, `-`, `_` and `.`"
        return {**super().words(), "way": way}


class UnusualResource(Finding):
    """The name of a device that is nearly a usual one."""

    code = "FD341"
    severity: ClassVar[Severity] = "warning"
    title = "`{have}` is nearly the name of a usual device"
    label = "did you mean `{close}`?"
    help = "a pod that asks for a device that no node has waits for ever: correct the name"
    have: str
    close: str


class SecretInText(Finding):
    """What seems to be a secret, written out."""

    code = "FD342"
    severity: ClassVar[Severity] = "warning"
    title = "the value of `{name}` seems to be a secret, and would stand in the YAML"
    label = "everybody who sees the workflow can read it"
    help = 'keep it in a Secret of the cluster: secrets={{"{name}": Secret("name", "key")}}'
    name: str


class BadLabelText(Finding):
    """A label or annotation of a form that Kubernetes refuses."""

    code = "FD343"
    title = "`{have}` cannot be {what}"
    label = "Kubernetes refuses it"
    help = "{form}"
    have: str
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and the form that Kubernetes asks for."""
        form = "write at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
        if self.what.startswith("the key"):
            form = "write `name` or `domain/name`, the name of at most 63 letters, digits, `-`, `_` and `.`"
        return {**super().words(), "form": form}


class OutsideVolume(Finding):
    """A path that leads out of its volume."""

    code = "FD344"
    title = "`{have}` leads out of the volume `{volume}`"
    label = "`..` is refused"
    help = "name a folder or file on the volume"
    have: str
    volume: str


class NoSource(Finding):
    """A step whose text cannot be found."""

    code = "FD345"
    title = "the source of `{step}` cannot be found"
    label = "made by code without a file"
    help = "define the step in a file: its source becomes the script"
    step: str


class NotAFunction(Finding):
    """A step or pipeline of something that is no Python function."""

    code = "FD346"
    title = "`{what}` takes a function, not {have}"
    label = "only a function says in Python what is to run"
    help = "write a function with `def` that calls it, and put `@{what}` above that"
    what: str
    have: str


class UnnamedOption(Finding):
    """An option of a decorator that is written without its name."""

    code = "FD349"
    title = "`@{word}` takes its options by name"
    label = "{meant}"
    help = "{way}"
    word: str
    text: bool

    def words(self) -> dict[str, str]:
        """The fields, and the option that was probably meant."""
        name = _MEANT.get(self.word, "") if self.text else ""
        meant = f"did you mean `{name}=...`?" if name else "which option is this?"
        way = f"write its name in front of it: @{self.word}({name or 'NAME'}=...)"
        return {**super().words(), "meant": meant, "way": way}


#: The option of a decorator that a text is most likely for.
_MEANT = {"step": "image", "container": "image", "pipeline": "name"}


class EmptyPipeline(Finding):
    """A pipeline that calls nothing."""

    code = "FD347"
    title = "the pipeline `{name}` calls no step"
    label = "nothing would run"
    help = "call a step in its body, or leave the pipeline out"
    name: str


class UnknownMode(Finding):
    """An access mode that Kubernetes does not have."""

    code = "FD348"
    title = "the access mode `{have}` is not known"
    label = "{meant}"
    help = "write ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod, as the claim has it"
    have: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the mode that was probably meant."""
        return {**super().words(), "meant": suggest(self.have, self.known)}
