"""What can be wrong with steps of one kind."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown, suggest

#: The decorator of each kind of step.
WORDS = {
    "python": "step",
    "container": "container",
    "resource": "resource",
    "approve": "approve",
    "http": "http",
    "template": "call_template",
}

#: What describes a step of the kind, and how.
DESCRIBED = {
    "container": ("command", 'return command("/bin/program", "--flag", value)'),
    "resource": ("manifest", 'return manifest({"apiVersion": ..., "kind": ..., "metadata": {"name": ...}})'),
    "http": ("request", 'return request("POST", "https://example.com/runs", body={"name": name})'),
}

#: The kinds of steps whose function says only what they take and give, and what such a step is.
BODILESS = {
    "approve": "it waits for what a person supplies",
    "template": "it runs the template of the cluster",
}


def result_of(step: str, name: str) -> str:
    """An output of a step in words: the one of a step whose result is no record has no name."""
    return f"what `{step}` returns" if name == "return" else f"`{name}` of `{step}`"


class NotDescribed(Finding):
    """A step that does not describe what it does."""

    code = "FD600"
    title = "`{step}` does not call `{word}`"
    label = "`{word}(...)` is not reached"
    help = "end it with `{way}`"
    step: str
    kind: str

    def words(self) -> dict[str, str]:
        """The fields, and how such a step is described."""
        word, way = DESCRIBED[self.kind]
        return {**super().words(), "word": word, "way": way}


class OtherWord(Finding):
    """A word that describes steps of another kind."""

    code = "FD601"
    title = "`{word}` does not describe a step under `@{decorator}`"
    label = "not what `{step}` is"
    help = "{way}"
    word: str
    kind: str
    step: str

    def words(self) -> dict[str, str]:
        """The fields, and what fits."""
        other = next(WORDS[kind] for kind, (word, _) in DESCRIBED.items() if word == self.word)
        way = f"put `@{other}(...)` above it, or end it with `{DESCRIBED[self.kind][1]}`"
        return {**super().words(), "decorator": WORDS[self.kind], "way": way}


class SaidTwice(Finding):
    """A second description of a step, after the one that ends its function."""

    code = "FD647"
    title = "`{step}` has a second `{word}(...)`, which is never reached"
    label = "the first one is all that runs"
    help = "{way}"
    step: str
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and how several things are done in one step."""
        way = "keep one, and put the other into a step of its own"
        if self.word == "command":
            way = 'keep one; for two programs in one container: command("sh", "-c", "first && second")'
        return {**super().words(), "way": way}


class NeverRun(Finding):
    """Work in the body of a function that is never run."""

    code = "FD385"
    severity = "warning"
    title = "the body of `{step}` is never run: {instead}"
    label = "never called"
    help = "leave only the docstring and `raise NotImplementedError`, and put this into a step of its own under `@step`"
    step: str
    kind: str

    def words(self) -> dict[str, str]:
        """The fields, and what happens instead."""
        return {**super().words(), "instead": BODILESS[self.kind]}


class OptionOfKind(Finding):
    """An option that means nothing on a step of the kind."""

    code = "FD602"
    title = "`{name}` means nothing on {where}"
    label = "not an option of {where}"
    help = "{way}"
    name: str
    where: str
    kinds: tuple[str, ...]
    describing: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what has it instead: the word that describes the step, or other decorators."""
        if self.describing:
            way = f"it is an argument of `{self.describing}`, in the body of the step"
        else:
            *others, last = [f"`@{kind}`" for kind in self.kinds]
            listed = f"{', '.join(others)} and {last}" if others else last
            way = f"leave it out here; it is an option of {listed}"
        return {**super().words(), "way": way}


class UnknownAction(Finding):
    """An action that Argo does not have."""

    code = "FD603"
    title = "`@resource` needs an action, not {have}"
    label = "{meant}"
    help = 'for example @resource("apply")'
    have: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the action that was probably meant."""
        return {**super().words(), "meant": suggest(self.have.strip("'\""), self.known)}


class BadCondition(Finding):
    """A condition that Argo cannot read."""

    code = "FD604"
    title = "`{text}` is not a condition: {reason}"
    label = "Argo reads it as a label selector once the object exists"
    help = "compare paths with words and whole numbers: `status.succeeded == 4, status.phase in (Done, Ok)`"
    text: str
    reason: str


class HoldsOfNothing(Finding):
    """A condition that holds before the object has the value that it tests."""

    code = "FD605"
    severity = "warning"
    title = "`{text}` holds as long as the object has no `{path}`"
    label = "the step {ends} at once"
    help = "test a value that the object will have: `{path} > 0` or `{path} == Done`"
    text: str
    ends: str
    path: str


class OptionOfAction(Finding):
    """An option that means nothing for the action."""

    code = "FD606"
    title = '`{name}` means nothing with "{action}": {reason}'
    label = 'not with "{action}"'
    help = "leave it out, or take another action"
    name: str
    action: str
    reason: str


class FailureAlone(Finding):
    """A condition of failure that is tested only once."""

    code = "FD607"
    severity = "warning"
    title = "`{failure}` without `{success}` is tested once, and then the step has succeeded"
    label = "nothing is waited for"
    help = "add `{way}`, or whatever the object has when it is done"
    failure: str
    success: str
    way: str


class BadManifest(Finding):
    """An object that the cluster will not take."""

    code = "FD608"
    title = "the object of `{step}` {problem}"
    help = "{way}"
    step: str
    problem: str
    way: str


class RetriedCreate(Finding):
    """A retry that creates a second object."""

    code = "FD609"
    severity = "warning"
    title = "a retry creates a second object, or fails because of the first one"
    label = 'retried after "create"'
    help = 'use @resource("apply") and a fixed name, such as f"{{run.name}}-train"'


class ResultPath(Finding):
    """A result that cannot be read from the object as its annotation says."""

    code = "FD610"
    title = "{problem}"
    label = "{label_}"
    help = "{way}"
    problem: str
    label_: str
    way: str


class CannotTake(Finding):
    """A value that steps of this kind cannot take or give."""

    code = "FD611"
    title = "a step under `@{decorator}` cannot {verb} {what}"
    label = "{shown} is {what}"
    help = "{way}"
    decorator: str
    verb: str
    name: str
    what: str
    way: str

    def words(self) -> dict[str, str]:
        """The fields, and the name as a name if it is one."""
        return {**super().words(), "shown": f"`{self.name}`" if self.name.isidentifier() else self.name}


class OneResult(Finding):
    """Several results where there is one text."""

    code = "FD612"
    title = "`{step}` returns {have}, but {source} is one value"
    label = "what is returned is {source}"
    help = "{way}"
    step: str
    have: str
    source: str
    way: str


class BadRequest(Finding):
    """A part of a request that cannot be sent."""

    code = "FD613"
    title = "{part} of the request {problem}"
    help = "{way}"
    part: str
    problem: str
    way: str


class NoAnswer(Finding):
    """A gate that opens by itself without the values that it has to give."""

    code = "FD614"
    title = "`{step}` opens by itself, when nobody may have supplied {what}"
    label = "then it has no value"
    help = "{way}"
    step: str
    name: str
    type: str  # that of the one result; empty for one of several

    def words(self) -> dict[str, str]:
        """The fields, and how a default is given."""
        way = f"give the field `{self.name}` a default"
        if self.type:
            way = f"return a NamedTuple whose field has a default: `answer: {self.type} = ...`"
        what = "what it returns" if self.name == "return" else f"`{self.name}`"
        return {**super().words(), "what": what, "way": f"{way}; or leave `duration` out"}


class UnnamedOutput(Finding):
    """A result of an existing template, without the name of its output."""

    code = "FD615"
    title = "which output of the template `{step}` returns is not known"
    label = "outputs of a template have names"
    help = (
        'add `names={{"return": "..."}}` with its name, or return a NamedTuple whose fields have their names'
    )
    step: str


class UnknownRenamed(Unknown):
    """A name in `names` that is neither a parameter nor a result."""

    code = "FD616"
    title = "`{step}` has nothing called `{name}`"
    help = "name a parameter or a result of the function, by its name in Python"
    step: str


class ForeignFile(Finding):
    """A file of an existing template that would have to be found by a key."""

    code = "FD617"
    title = "{what} leaves a loop, a branch or a pipeline"
    label = "the template does not store it where it could be found"
    help = "use the file in the same pipeline as the call, outside of loops and branches"
    step: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the file in words."""
        return {**super().words(), "what": result_of(self.step, self.name)}


class SourceInput(Finding):
    """An input inside the text of a script."""

    code = "FD618"
    title = "an input is part of the text of a script"
    label = "its value would be run as code"
    help = 'pass it as a variable: command("bash", source=\'echo "$NAME"\', env={{"NAME": name}})'


class SourceText(Finding):
    """Text of a script that would not arrive as it is written."""

    code = "FD619"
    title = "{what} in the script of `{step}` would not arrive as written"
    label = "{reason}"
    help = "{way}"
    step: str
    what: str
    reason: str
    way: str


class DaemonPlace(Finding):
    """A daemon that would be stopped before it is used."""

    code = "FD620"
    title = "the daemon `{step}` {where}"
    label = "it is stopped when what surrounds it ends"
    help = "{way}"
    step: str
    where: str
    way: str


class DaemonRetries(Finding):
    """Retries of a daemon."""

    code = "FD621"
    title = "a daemon cannot be retried: the new pod would have another address"
    label = "not possible on a daemon"
    help = "leave it out; the steps that use the daemon may be retried"


class BadCompanion(Finding):
    """A container beside a step that Kubernetes or Argo refuses."""

    code = "FD622"
    title = "`{name}` {problem}"
    label = "{cause}"
    help = "{way}"
    name: str
    problem: str
    cause: str
    way: str


class CompanionCommand(Finding):
    """A sidecar whose command Argo has to look up."""

    code = "FD623"
    severity = "warning"
    title = "`{name}` has no command, so Argo asks the image's registry for it"
    label = "fails on clusters that cannot reach the registry"
    help = 'add what the image would run: Sidecar("{name}", image=..., command=["redis-server"])'
    name: str


class BadReady(Finding):
    """A readiness check that cannot be made."""

    code = "FD624"
    title = "`ready` {problem}"
    label = "{cause}"
    help = "{way}"
    problem: str
    cause: str
    way: str
