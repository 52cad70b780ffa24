"""Texts with characters that YAML, Argo, the kubelet or a shell could take for theirs."""

from pathlib import Path
from typing import Any, NamedTuple

from flowdsl import command, container, fan_out, grid, maximize, output, pipeline, run, step, sweep

PYTHON = "python:3.12-slim"
PROMPTS = ["Dear {{ name }}", "$$ {{a.b}}"]
ENV = {"PRICE": "$(FIRST) $$ $HOME 5$", "FIRST": "1", "SECOND": "$(FIRST)", "BRACES": '{"a": {"b": {}}}'}
HARD = ['say "hi"', "a\\nb\\", "\U0001f600\t\n", "$(PATH) $$", "", "{", "}}", "null", "1e-5", "y"]


class Label(NamedTuple):
    text: str
    more: dict[str, str]


@step(image=PYTHON)
def same(text: str) -> str:
    """The text itself."""
    return text


@step(image=PYTHON)
def count(prompt: str, times: int) -> int:
    """The length of a text, which is printed."""
    print(ascii(prompt))  # noqa: T201
    return len(prompt) * times


@step(image=PYTHON)
def wrap(text: str) -> list[str]:
    """The text in a list, with texts that cannot travel bare."""
    return [text, "{" + "{workflow.name}}", "\x07", "$\x24 $HOME", "\U000e0001"]


@step(image=PYTHON)
def unwrap(texts: list[str]) -> None:
    """Print a list as Python shows it."""
    print(ascii(texts))  # noqa: T201


@step(image=PYTHON)
def label(text: str, more: dict[str, str]) -> Label:
    """A record of texts."""
    return Label(text, {**more, text: "{" + "{=1+1}}"})


@step(image=PYTHON)
def show(label: Label, anything: Any) -> None:
    """Print all that came, as Python shows it."""
    print(ascii((label.text, label.more, anything)))  # noqa: T201


@step(image=PYTHON, env=ENV)
def variables() -> list[str]:
    """The variables that the step was given."""
    import os

    return [os.environ[name] for name in ("PRICE", "FIRST", "SECOND", "BRACES")]


@step(image=PYTHON)
def braces(name: str) -> str:
    """Braces, and what the kubelet might replace, in the source of a step."""
    found = "$\x24" + f"{name}" + "{user} $HOME"
    return f"{{{name}}}" + found


@container(image="busybox:1.37.0", env=ENV)
def echo(text: str, file: Path) -> str:
    """A text and a file as words and variables of a command."""
    script = 'printf "%s|%s|%s|%s|%s" "$0" "$1" "$TEXT" "$(cat "$FILE")" "$PRICE" > "$OUT"'
    variables = {"TEXT": text, "FILE": file, "OUT": output()}
    return command("sh", "-c", script, text, f"--text={text} $$ $(FIRST)$", env=variables)


@step(image=PYTHON)
def write(text: str) -> Path:
    """A file with the text."""
    file = Path("text")
    file.write_text(text)
    return file


@pipeline
def texts(text: str = 'it\'s "$(HOME)" $$ {x}') -> str:
    plain = same(text)
    quoted = same.options(name="quoted")(f'<{plain}> of {run.name} & "{text}" \\ {{x}} }}}}')
    wrapped = wrap(plain)
    unwrap(wrapped)
    unwrap.options(name="nested")([plain, "{{=1+1}} $(A) $$ \x07", f"a {plain}", quoted])
    labelled = label(plain, {"a b": text, "{{x}}": "$$", 'q"': "}}"})
    show(labelled, {"k": [plain, 1, None, {"{{": 2.5}], "e": text})
    fan_out(same, over={"text": HARD})
    first, *others = fan_out(count, over=grid(prompt=PROMPTS, times=[1, 2]))
    tried = sweep(count.options(name="tried"), over={"prompt": PROMPTS}, objective=maximize(), times=3)
    same.options(name="lengths")(f"{first} of {len(others)}, {tried.best}")
    variables()
    braces(plain)
    echo(plain, write(plain))
    return quoted
