"""What keeps a step's function from becoming a script of its own.

Imported when the first one is reported.
"""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class Closure(Finding):
    """The step reads a variable of the function that it was defined in."""

    code = "FD301"
    title = "`{step}` reads `{name}`, a local variable of `{outer}`"
    label = "it exists only while `{outer}` runs here"
    help = "make `{name}` a parameter of the step, or a constant at the top of the file"
    step: str
    name: str
    outer: str


class LambdaStep(Finding):
    """The step is a lambda."""

    code = "FD302"
    title = "a lambda cannot be a step"
    label = "it has no name and no types"
    help = "write a function with `def` and annotations"


class MethodStep(Finding):
    """The step or pipeline is a method."""

    code = "FD303"
    title = "`{name}` is a method, and a method cannot be a {what}"
    label = "its object exists only here"
    help = "write a function at the top of the file, and pass what it needs as arguments"
    name: str
    what: str = "step"


class AsyncStep(Finding):
    """The step is a coroutine function."""

    code = "FD304"
    title = "`{step}` is async, and an async function cannot be a step"
    label = "calling it does not run it"
    help = "write `def {step}`, and in its body `asyncio.run(...)` of an async helper"
    step: str


class GeneratorStep(Finding):
    """The step is a generator function."""

    code = "FD305"
    title = "`{step}` yields, and a generator cannot be a step"
    label = "calling it does not run it"
    help = "return a list"
    step: str


class UndefinedName(Finding):
    """A name that is defined nowhere."""

    code = "FD306"
    title = "`{name}` is not defined"
    label = "{meant}"
    help = "{way}"
    name: str
    close: str
    for_types: bool  # whether it is imported below `if TYPE_CHECKING:`

    def words(self) -> dict[str, str]:
        """The fields, and the name that was probably meant."""
        if self.for_types:
            meant, way = "it is imported for type checkers only", "import it above `if TYPE_CHECKING:`"
        else:
            meant = (
                f"did you mean `{self.close}`?" if self.close else f"there is no `{self.name}` in the file"
            )
            way = "define it at the top of the file, or import it"
        return {**super().words(), "meant": meant, "way": way}


class Unbound(Finding):
    """A variable that a function reads before it has a value."""

    code = "FD399"
    title = "`{name}` has no value here yet"
    label = "{when}"
    help = "{way}"
    name: str
    line: int | None
    of_module: bool  # whether the file has a variable of that name, too

    def words(self) -> dict[str, str]:
        """The fields, when it gets a value, and what to do."""
        when = "it is only added to" if self.line is None else f"it gets its first value in line {self.line}"
        way = f"give `{self.name}` a value above this line"
        if self.of_module:
            way = f"give it another name: a function that assigns `{self.name}` does not see the one of the file"
        return {**super().words(), "when": when, "way": way}


class NoStatement(Finding):
    """A name that the module has, but that no statement of the file defines."""

    code = "FD307"
    title = "no statement of the file defines `{name}`"
    label = "there is nothing to copy into the script of the step"
    help = "write `{name} = ...` or `def {name}` at the top of the file"
    name: str


class GlobalStatement(Finding):
    """Code of a step assigns a global variable."""

    code = "FD308"
    title = "`{function}` changes the global variable `{name}`"
    label = "every step has its own process: no other step sees the change"
    help = "return the value, or keep it in a local variable; to compute it once use `functools.cache`"
    function: str
    name: str


class LanguageWord(Finding):
    """Code of a step uses something of flowdsl, which is not there when the step runs."""

    code = "FD309"
    title = "`{name}` is {what}: a step cannot use it"
    label = "this means something only in a pipeline"
    help = "{hint}"
    name: str
    what: str
    hint: str


class OwnModule(Finding):
    """Code of a step needs a module of the user's project."""

    code = "FD310"
    title = "`{module}` is a module of this project, and nothing says that the run has it"
    label = "found at {path}"
    help = (
        'write `code="image"` if the image has it; else bring it with `code=Git(...)` or `packages=`, or '
        "move what is needed into this file"
    )
    module: str
    path: str
    full: str  # its name in full, where the file that imports it is in a package


class DecoratorAbove(Finding):
    """A decorator above ours."""

    code = "FD311"
    title = "`@{decorator}` is above the decorator that makes `{step}` a step"
    label = "it gets the step, not the function, and would have no effect in the run"
    help = "put it below"
    decorator: str
    step: str


class HiddenFunction(Finding):
    """A decorator without `functools.wraps` below ours."""

    code = "FD312"
    title = "`@{decorator}` hides the function that it decorates"
    label = "it returns another function, without `functools.wraps`"
    help = "write `@functools.wraps(function)` above the inner function of `{decorator}`"
    decorator: str


class LostWrapper(Finding):
    """A wrapper around the function that the script would not contain."""

    code = "FD313"
    title = "the function around `{step}` would be lost in the run"
    label = "this wraps `{step}` and makes it a step in one go"
    help = "decorate `{step}` with the wrapper alone, and put `@step(...)` above it"
    step: str


class ChangedConstant(Finding):
    """A constant whose value differs from the one that is written."""

    code = "FD314"
    title = "`{name}` is changed after its definition on line {line}"
    label = "it is {value} now, but the step would get what is written"
    help = "write the final value where `{name}` is defined, or pass it to the step as an argument"
    name: str
    line: int
    value: str


class FunctionElsewhere(Finding):
    """The function of the step is not in the file."""

    code = "FD315"
    title = "the function `{name}` is not defined in this file"
    label = "only its own file knows what it needs"
    help = "define the step in the file of its function, or write a function here that calls `{name}`"
    name: str


class UnknownClass(Finding):
    """The class of an input that the file cannot name."""

    code = "FD316"
    title = "the class `{name}` has no name at the top of this file"
    label = "an input of the step is rebuilt as `{name}`"
    help = "define `{name}` at the top of the file, or import it there from an installed package"
    name: str


class ArgoTag(Finding):
    """Text in the source that Argo would evaluate."""

    code = "FD317"
    title = "Argo would evaluate `{tag}` in the source of the step"
    label = "it would not arrive as written"
    help = 'split the braces: in a string write `"{{" + "{{..."`, in a comment leave one out'
    tag: str


class DollarText(Finding):
    """A `$$` or `$(NAME)` that the kubelet would replace and that cannot be written otherwise."""

    code = "FD318"
    title = "Kubernetes would replace `$$` or `$(NAME)` in this string"
    label = "it cannot be written differently here"
    help = "assign the part with `$` to a variable before this string"


class ControlCharacter(Finding):
    """A character that is neither text, tab nor line break."""

    code = "FD319"
    title = "the source of the step has the control character {character}"
    label = "here"
    help = "write it as an escape in a string (`\\x1b`), or delete it"
    character: str


class FileRead(Finding):
    """A file is read when the module is loaded: in a run, that is when the script of the step starts."""

    code = "FD320"
    severity = "warning"
    title = "`{call}` at the top of the file also runs in the pod of the step"
    label = "the pod has no such file, unless the image has it"
    help = "read the file in a step that gets it as a `Path`"
    call: str


class EnvironmentRead(Finding):
    """An environment variable is read when the module is loaded: in a run, in the pod of the step."""

    code = "FD328"
    severity = "warning"
    title = "`{call}` at the top of the file is also read in the pod of the step, where nothing sets it"
    label = "what is set on this machine does not travel"
    help = (
        'set it on the step: `env={{"{variable}": os.environ["{variable}"]}}` is the value of now;'
        " or make it a parameter of the pipeline; what the image sets is read in the function of the step"
    )
    call: str
    variable: str


class ComputedAnew(Finding):
    """A time or a random value is taken when the module is loaded: in a run, by each step for itself."""

    code = "FD323"
    severity = "warning"
    title = "`{call}` at the top of the file runs again in the pod of each step that uses it"
    label = "no two steps, and no two attempts of one, get the same value"
    help = "make it a parameter of the pipeline, or let a step return it; to name the run, use `run.name`"
    call: str


class OwnFile(Finding):
    """`__file__` in code of a step."""

    code = "FD321"
    severity = "warning"
    title = "`__file__` in a step is a script that Argo wrote, not this file"
    label = "no other file is beside it"
    help = "give the step the files that it needs as `Path` parameters"


class NameTaken(Finding):
    """The name of the step's function is given to something else later in the file."""

    code = "FD322"
    title = "`{name}` is defined again after the step"
    label = "the script of the step would call this one"
    help = "rename one of the two"
    name: str
