"""Findings about the body of a pipeline as a whole."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, near
from flowdsl.mistakes.arguments import plain


class PipelineThread(Finding):
    """A step was called from a thread of the pipeline's body."""

    code = "FD227"
    title = "a step was called from another thread than the pipeline's body"
    label = "{caller}"
    help = "call steps in the body itself: tasks run in parallel without threads"
    pipeline: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what is known of the caller."""
        body = f"the body of `{self.pipeline}` gives a step to threads"
        return {**super().words(), "caller": body if self.pipeline else "called from another thread"}


class NotATask(Finding):
    """`after=` with something that is not the result of a step."""

    code = "FD228"
    title = "`after` takes results of steps, not {have}"
    label = "not the result of a step in this pipeline"
    help = "pass what the calls returned: `after=[first, second]`"
    have: str


class BodyStopped(Finding):
    """An exception in a pipeline's body, after other mistakes."""

    code = "FD229"
    title = "the body of `{name}` stopped here: {error}"
    label = "what follows was not looked at"
    help = "correct the other mistakes first: this may come from them"
    name: str
    error: str


class Recursion(Finding):
    """A pipeline that calls itself."""

    code = "FD235"
    title = "the pipeline `{name}` calls itself"
    label = "the body is run once while compiling, so it cannot end"
    help = "use fan_out or sweep for repetition, or Python's own loop over known values"
    name: str


class TooNested(Finding):
    """Pipelines nested so deeply that Argo would end the run."""

    code = "FD366"
    title = "`{name}` is called {most} pipelines deep, and Argo ends a run at {most}"
    label = "called in a pipeline that is called in another, and so on"
    help = "call the steps of some of these pipelines in one, or write functions that call them: these are inlined"
    name: str
    most: int


class WrongReturn(Finding):
    """A pipeline or step that returns something other than its annotation says."""

    code = "FD236"
    title = "`{name}` returns {have}, but its annotation says {want}"
    label = "{which}"
    help = "{way}"
    name: str
    want: str
    have: str
    part: str = ""  # the problem with a part of what is returned
    fields: tuple[str, ...] = ()  # fields of the returned value that would fit
    maker: str = ""  # the step that returns nothing

    def words(self) -> dict[str, str]:
        """The fields, with types as the user knows them."""
        types = plain(self.want, self.have)
        fields = " or ".join(f"`.{name}`" for name in self.fields[:6])
        part = f"a field of it, {fields}" if fields else types["want"]
        if self.want == "Path" and self.have.startswith("str '"):
            part = f"`Path({self.have.removeprefix('str ')})`"
        way = f"return {part}, or change the annotation"
        if self.part:
            way = f"make this part what {types['want']} says, or change the annotation"
        if self.maker:
            way = f"let `{self.maker}` return it, annotated `-> {types['want']}`; or change the annotation"
        elif self.have == f"{self.want} | None":
            way = f"give it a default: `either(value, default)`; or annotate `-> {self.have}`"
        return {**super().words(), **types, "which": self.part or f"says {types['want']}", "way": way}


class MissingReturnType(Finding):
    """A pipeline returns a value without saying so."""

    code = "FD237"
    title = "`{name}` returns a value, but has no return annotation"
    label = "without `-> ...` the value is lost"
    help = "annotate what it returns, `-> {have}`, or return nothing"
    name: str
    have: str


class NotABodyOfCalls(Finding):
    """A pipeline whose function does not run when it is called."""

    code = "FD239"
    title = "the pipeline `{name}` is {kind}"
    label = "its body would not run while compiling"
    help = "write a plain function, without `async` and `yield`: its tasks run in parallel as it is"
    name: str
    kind: str


class OutOfPlace(Finding):
    """A word used where it means nothing: inside the body of a pipeline, or outside of one."""

    code = "FD269"
    title = "{problem}"
    label = "{where}"
    help = "{way}"
    problem: str
    where: str
    way: str


class UndefinedInBody(Finding):
    """A name that is not defined, in the body of a pipeline or at the top of the file."""

    code = "FD761"
    title = "`{name}` is not defined"
    label = "{meant}"
    help = "assign it above this line, import it, or make it a parameter"
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the name that was probably meant."""
        close = near(self.name, self.known)
        return {**super().words(), "meant": f"did you mean `{close}`?" if close else "there is no such name"}


class UsedBefore(Finding):
    """A value is used above the line that makes it: two tasks cannot wait for each other."""

    code = "FD762"
    title = "`{name}` is used before it has a value"
    label = "not made yet"
    help = "{way}"
    name: str
    hides: str = ""  # a step or pipeline of the file

    def words(self) -> dict[str, str]:
        """The fields, and the way out: also of a variable that hides a function in all of the body."""
        way = f"call first what makes `{self.name}`; tasks that wait for each other would wait forever"
        if self.hides:
            way = f"give the variable another name: in all of this body `{self.name}` is no longer the {self.hides}"
        return {**super().words(), "way": way}
