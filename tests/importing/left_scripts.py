"""The pipeline `left_scripts`."""

from flowdsl import command, container, pipeline

S9_SOURCE = """\
import math
print(math.{{inputs.parameters.v}}(4))
"""
S18_ARGS = """\
echo {a,{1..{{inputs.parameters.class_}}}}
echo done
"""


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": "{{inputs.parameters.v}}=1\n",
        },
    },
)
def s0(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": "echo {1..{{inputs.parameters.v}}}\n",
        },
    },
)
def s1(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": "echo \\{{inputs.parameters.v}}\n",
        },
    },
)
def s2(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": 'echo "\\{{inputs.parameters.v}}"\n',
        },
    },
)
def s3(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": "echo $'x\\n{{inputs.parameters.v}}'\n",
        },
    },
)
def s4(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["sh"],
            "source": "echo ${X{{inputs.parameters.v}}}\n",
        },
    },
)
def s5(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": "import {{inputs.parameters.v}}\n",
        },
    },
)
def s6(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": "print(1 {{inputs.parameters.v}} 2)\n",
        },
    },
)
def s7(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": "{{inputs.parameters.v}} = 1\n",
        },
    },
)
def s8(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": S9_SOURCE,
        },
    },
)
def s9(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": "print({{inputs.parameters.v}}(4))\n",
        },
    },
)
def s10(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": "print(1e-{{inputs.parameters.v}})\n",
        },
    },
)
def s11(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": 'print(b"{{inputs.parameters.v}}")\n',
        },
    },
)
def s12(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3"],
            "source": 'print("a" "{{inputs.parameters.v}}")\n',
        },
    },
)
def s13(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["node"],
            "source": "console.log(Math.{{inputs.parameters.v}}(4))\n",
        },
    },
)
def s14(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["node"],
            "source": "let {{inputs.parameters.v}} = 1\n",
        },
    },
)
def s15(v: int) -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["python3", "-m", "runner"],
            "source": "{{inputs.parameters}}\n",
        },
    },
)
def s16() -> None:
    command("true")


@container(
    image="node:22",
    argo={
        "container": None,
        "script": {
            "image": "node:22",
            "command": ["node"],
            "source": 'console.log(`${["a", "{{inputs.parameters.v}}"].length}`)\n',
        },
    },
)
def s17(v: int) -> None:
    command("true")


@container(image="bash:5", argo={"container": {"args": ["-c", S18_ARGS]}})
def s18(class_: int) -> None:
    command("bash")


@container(
    image="python:3.12-slim",
    argo={
        "container": None,
        "script": {
            "image": "python:3.12-slim",
            "command": ["python"],
            "args": ["-m", "hera.workflows.runner", "-e", "training:main"],
            "source": "{{inputs.parameters}}",
        },
    },
)
def s19() -> None:
    command("true")


@pipeline
def left_scripts(v: int = 3) -> None:
    s0(v=v)
    s1(v=v)
    s2(v=v)
    s3(v=v)
    s4(v=v)
    s5(v=v)
    s6(v=v)
    s7(v=v)
    s8(v=v)
    s9(v=v)
    s10(v=v)
    s11(v=v)
    s12(v=v)
    s13(v=v)
    s14(v=v)
    s15(v=v)
    s16()
    s17_ = s17(v=v)
    s18.options(after=[s17_])(class_=v)
    s19()
