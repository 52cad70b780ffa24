"""What can be wrong with an option, whichever it is."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, near, suggest

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
    "distributed": "distributed=Torch(workers=4)",
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
    "max_age of Cache": 'cache=Cache(max_age="7d")',
    "memory": 'memory="512Mi" or memory="8Gi"',
    "memory of GPU": 'gpu=GPU(1, memory="40Gi")',
    "factor of Retry": 'retries=Retry(3, wait="30s", factor=2)',
    "limit of Retry": "retries=Retry(3)",
    "locks": 'locks=[Mutex("gpu-host")]',
    "mig of GPU": 'gpu=GPU(1, mig="1g.5gb")',
    "mounts": 'mounts={"/data": Volume("claim")}',
    "name": 'name="nightly"',
    "placement": 'placement="pack"',
    "policy of Retry": 'retries=Retry(3, policy="OnError")',
    "pool": 'pool="gpu-new"',
    "queue": 'queue="team-a"',
    "share": 'gpu=GPU(1, share="8Gi")',
    "share of GPU": 'gpu=GPU(1, share="8Gi")',
    "shm": 'shm="8Gi"',
    "spot": "spot=True",
    "stdout": "stdout=True, without output(): what the program prints is the result",
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
    "salt of Cache": 'cache=Cache(salt="2024-06")',
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
    word: tuple(options.split(", "))
    for words, options in (
        (
            "activedeadlineseconds deadline executiontimeout dagruntimeout maxruntime timelimit timeoutseconds",
            "timeout",
        ),
        ("affinity", "where"),
        ("backoff backoffduration delay minutesbetweenretries retrybackoff", "wait of Retry"),
        ("retrydelay retrydelayseconds retryinterval retrywait", "wait of Retry"),
        ("backofffactor exponentialbackoff retryexponentialbackoff", "factor of Retry"),
        ("backoffmaxduration maxbackoff maxdelay maxretrydelay", "longest of Retry"),
        ("baseimage containerimage dockerimage", "image"),
        ("concurrencypolicy", "concurrency"),
        ("continueon ignoreerrors", "may_fail"),
        ("cron cronexpression scheduleinterval schedules", "schedule"),
        ("cpulimit cpurequest cpus numcpus", "cpu"),
        ("dagid generatename", "name"),
        ("dependencies depends dependson upstream waitfor", "after"),
        ("description", "annotations"),
        ("cachekey cacheversion", "salt of Cache"),
        ("cacheexpiration cacheexpires cachettl", "max_age of Cache"),
        ("enablecache enablecaching memoize", "cache"),
        ("environment environ envvars", "env"),
        ("envfrom", "env, secrets"),
        ("accelerator acceleratorlimit gpulimit gpus numgpus", "gpu"),
        ("gpumem gpumemory vram", "memory of GPU"),
        ("acceleratortype gpumodel gpuname gpuproduct gputype", "product of GPU"),
        ("completions nnodes nprocpernode numnodes numworkers replicas replicaspecs workers", "distributed"),
        ("initcontainers", "init"),
        ("limits requests resources", "cpu, memory, gpu"),
        ("attempts maxattempts maxretries numretries retry retrycount retrystrategy times", "retries"),
        ("maxactiveruns", "locks"),
        ("maxactivetasks maxparallel maxparallelism", "parallelism"),
        ("memorylimit memoryrequest", "memory"),
        ("mutex semaphore synchronization", "locks"),
        ("nodeselector", "node"),
        ("nodegroup nodepool", "pool"),
        ("packagestoinstall pip pipinstall pippackages requirements", "packages"),
        ("mount pvc pvolumes volume volumes volumemounts", "mounts"),
        ("interruptible preemptible spotinstances", "spot"),
        ("priorityclassname", "priority"),
        ("localqueue queuename", "queue"),
        ("retryon retrypolicy", "policy of Retry"),
        ("runasuser securitycontext", "user"),
        ("sharedmemory shmsize", "shm"),
        ("tags", "labels"),
        ("ttlsecondsafterfinished ttlstrategy", "ttl"),
        ("workingdir", "workdir"),
    )
    for word in words.split()
}


#: The same for what no option says.
_WAYS = {
    word: way
    for words, way in (
        ("arguments defaultargs params", "the parameters of the function are those of the workflow"),
        ("args cmd command", "a function under `@container` says its command line: `command(...)`"),
        ("catchup startdate", "runs begin when their time comes, and none is made up for: leave it out"),
        ("logprints", "what a step prints is in its log: leave it out"),
        ("namespace", "`flowdsl submit -n` says it, or the profile of a cluster in flowdsl.toml"),
        (
            "configmap configmaps",
            'write env={"LEVEL": Config("settings", "level")}; as a folder: mounts={"/settings": Config("settings")}',
        ),
        ("condition when", "call the step in a block of `with when(...)`"),
        (
            "dependencies depends dependson upstream waitfor",
            "a call waits for what it is given, and for `.options(after=[...])`",
        ),
        (
            "disk disksize ephemeralstorage scratch storage",
            'write mounts={"/scratch": Scratch("20Gi")}: a folder of this size on the disk of the node',
        ),
        (
            "exithandler hooks onexit onsuccess onsuccesscallback",
            "call what is to run at the end in a block of `with on_exit(...)`",
        ),
        (
            "onfailure onfailurecallback",
            "call what is to run after a failure in a block of `with on_failure(...)`",
        ),
        (
            "inputs outputs",
            "the parameters and the return annotation of the function are what goes in and out",
        ),
        (
            "foreach items withitems withparam withsequence",
            "`fan_out(step, over={...})` calls it for each item",
        ),
        (
            "instancetype nodetype region zone",
            'write where="zone in (eu-1, eu-2)", where="region == eu" or where="instance == g5.xlarge"',
        ),
        (
            "triggerrule",
            "write `.options(may_fail=True)` at the call that may fail, or call this in `with on_failure(...)`",
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
    step: str = ""  # what has a parameter of that name

    def words(self) -> dict[str, str]:
        """The fields, the option that was probably meant, and the way out."""
        word = self.name.replace("_", "").lower()
        options = [one for one in _OPTIONS.get(word, ()) if self._has(one)]
        meant = suggest(self.name, self.known)
        close = near(self.name, self.known)
        way = "leave it out; what Argo has and no option says is written `argo={...}`, in Argo's own fields"
        if self.step:
            meant = f"that is a parameter of `{self.step}`"
            way = f"pass it to the call, not to `.options`: `{self.step}(..., {self.name}=...)`"
        elif self.where:
            way = "write it there, or leave it out"
        elif options:
            meant = f"that is {', '.join(map(_quoted, options))}"
            way = f"write {'; '.join(EXAMPLES.get(one, f'{one}=...') for one in options)}"
        elif word in _WAYS:
            meant, way = "no option says that", _WAYS[word]
        elif close is not None:
            way = f"write `{close}=...`, or leave it out"
        return {**super().words(), "meant": meant, "way": way}

    def _has(self, option: str) -> bool:
        """Whether an option, or that of which something is an argument, can be chosen here."""
        _, _, of = option.partition(" of ")
        return {"Cache": "cache", "GPU": "gpu", "Retry": "retries"}.get(of, option) in self.known


def _quoted(option: str) -> str:
    name, of, word = option.partition(" of ")
    return f"`{name}`{of}{word}"


class RunTimeOption(Finding):
    """An option that is known only at run time."""

    code = "FD271"
    title = "`{name}` is known only when the pipeline runs"
    label = "options are fixed while compiling"
    help = "pass the value to the step as an argument, {way}"
    name: str

    def words(self) -> dict[str, str]:
        """The name, and what else to do: Argo fills an argument into the field of the image."""
        way = "or write it here as a constant"
        if self.name == "image":
            field = '"image": "repository:{{inputs.parameters.tag}}"'
            way = f'and write at its definition argo={{"script": {{{field}}}}}; of a container, "container"'
        return {**super().words(), "way": way}


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
        way = f"for example {example}" if example else f"write {self.want}"
        if self.have.startswith(MEMBER):
            way = f"write what it stands for: `{self.have.removeprefix(MEMBER)}.value`"
        if self.name == "gpu" and self.have.startswith("'") and (text := self.have.strip("'")):
            way = (
                f"write gpu={text}"
                if text.isdecimal()
                else f'for example gpu=1; by product: gpu=GPU(1, product="{text}")'
            )
        return {**super().words(), "way": way}


MEMBER = "the member "
"""How a message names the member of an Enum."""


class NoImage(Finding):
    """A step without an image."""

    code = "FD285"
    title = "`{step}` has no image"
    label = "nothing to run it in"
    help = 'name one: image="python:3.12-slim"'
    step: str
