"""What can be wrong with the function of a step or pipeline, and with what it takes and gives."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class BadAnnotation(Finding):
    """A parameter or result of a type that cannot be passed between steps."""

    code = "FD286"
    title = "{what} of `{step}` is {annotation}, which cannot be passed between steps"
    label = "{reason}"
    help = "use str, int, float, bool, Path, date, Enum, Literal, list, dict[str, ...], a NamedTuple or a dataclass"
    what: str
    step: str
    annotation: str
    reason: str


class NoAnnotation(Finding):
    """A parameter without a type."""

    code = "FD287"
    title = "`{name}` of `{step}` has no annotation"
    label = "its type decides how it is passed"
    help = "annotate it: `{name}: float`, `{name}: Path` ..."
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


class UnusedParameter(Finding):
    """A parameter of a pipeline that nothing uses."""

    code = "FD890"
    severity = "warning"
    title = "`{pipeline}` does not use its parameter `{name}`"
    label = "{effect}"
    help = (
        "pass it to the step that needs it, or remove it; a name like `_{name}` says that it is unused on "
        "purpose"
    )
    name: str
    pipeline: str
    effect: str


class FileDefault(Finding):
    """A file parameter of a pipeline that has no default."""

    code = "FD296"
    title = "the parameter `{name}: {type}` of `{pipeline}` needs a default"
    label = "a run cannot be given a file"
    help = "give it one, on a volume or from outside the run: {way}"
    name: str
    type: str
    pipeline: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the type."""
        way = f'`{self.name}: Path = Volume("claim") / "folder"`, or `= S3("key")`'
        if self.type not in ("Path", "Path | None"):
            way = 'one with `Volume("claim") / "folder"` or `S3("key")` for each file'
        return {**super().words(), "way": way}


class NoSource(Finding):
    """A step whose source cannot be found."""

    code = "FD345"
    title = "the source of `{step}` cannot be found"
    label = "made by code without a file"
    help = "define the step in a file: its source becomes the script"
    step: str


class NotAFunction(Finding):
    """A step or pipeline of something that is not a Python function."""

    code = "FD346"
    title = "`{what}` takes a function, not {have}"
    label = "{effect}"
    help = "{way}"
    what: str
    have: str
    inner: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        effect = "only a function says in Python what is to run"
        way = f"write a function with `def` that calls it, and put `@{self.what}` above that"
        if self.inner == "pipeline":
            way = "remove one of the two: a pipeline says which steps run, and a step is what runs"
        elif self.inner:
            effect = "the options of that step would be lost"
            way = f"write all options in one decorator; for some calls, `{self.name}.options(...)`"
        return {**super().words(), "effect": effect, "way": way}


class EmptyPipeline(Finding):
    """A pipeline that calls nothing."""

    code = "FD347"
    title = "the pipeline `{name}` calls no step{before}"
    label = "{would}"
    help = "call a step in its body{outside}, or leave the pipeline out"
    name: str
    ends: bool = False  # steps are called for the end of its runs

    def words(self) -> dict[str, str]:
        """The fields, and what the steps for the end of a run do not count for."""
        before, outside = (" before its end", ", outside of its end") if self.ends else ("", "")
        label = "only what is for the end would run" if self.ends else "nothing would run"
        return {**super().words(), "before": before, "outside": outside, "would": label}
