"""The settings of the project, and mistakes in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.files import PIPELINE, write
from tests.commands import Result

if TYPE_CHECKING:
    from collections.abc import Callable


WARNED = PIPELINE.replace("    hello(name)\n", '    said = hello(name)\n    _ = f"lost: {said}"\n')


def warned(flowdsl: Callable[..., Result]) -> list[str]:
    return [
        row["code"] for row in json.loads(flowdsl("check", "deep/er/pipeline.py", "--format", "json").out)
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.flowdsl]\nignore = ["{code}"]\n'),
        ("flowdsl.toml", 'ignore = ["{code}"]\n'),
    ],
)
def test_a_warning_is_silenced_for_the_project(file: str, text: str, flowdsl: Callable[..., Result]) -> None:
    Path("deep/er").mkdir(parents=True)
    write("deep/er/pipeline.py", WARNED)
    (code,) = warned(flowdsl)
    write("deep/pyproject.toml", '[project]\nname = "has no settings"\n')
    write(file, text.format(code=code))
    assert warned(flowdsl) == []
    write("deep/flowdsl.toml", "ignore = []\n")
    assert warned(flowdsl) == [code]


def test_a_misspelt_table_of_clusters_is_one_error(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", WARNED)
    write("flowdsl.toml", 'default-cluster = "lab"\n[cluster.lab]\nargo = "4.1"\n')
    done = flowdsl("check", "pipeline.py")
    assert done.code == 2
    assert "flowdsl.toml:2:2: error[FD675]: there is no `cluster` in the settings" in done.err + done.out
    assert "FD677" not in done.err + done.out


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("flowdsl.toml", "ignore = [\n", "1: error[FD699]: the settings cannot be read: Invalid value"),
        (
            "pyproject.toml",
            "[tool\n",
            "1:6: error[FD699]: the settings cannot be read: Expected ']' at the end of a table declaration",
        ),
        (
            "flowdsl.toml",
            'ignore = "FD310"\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'FD310'",
        ),
        (
            "flowdsl.toml",
            "# mine\nignore = ['FD217', 310]\n",
            "2:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 310",
        ),
        (
            "flowdsl.toml",
            'ignore = ["fd310"]\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'fd310'",
        ),
        (
            "flowdsl.toml",
            'ignore = ["FD217", "FD999"]\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'FD999'",
        ),
        (
            "flowdsl.toml",
            'ignore = ["FD217", "FD203"]\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'FD203'",
        ),
        ("flowdsl.toml", "ignroe = []\n", "1:1: error[FD675]: there is no `ignroe` in the settings"),
        (
            "flowdsl.toml",
            "default-cluster = 3\n",
            "1:1: error[FD676]: `default-cluster` in the settings must be the name of a cluster, not 3",
        ),
        (
            "flowdsl.toml",
            "clusters = 3\ndefault-cluster = 'lab'\n",
            "1:1: error[FD676]: `clusters` in the settings must be a table for each cluster, not 3",
        ),
        (
            "flowdsl.toml",
            "default-cluster = 'lab'\n[clusters.laba]\n",
            "1:1: error[FD677]: there is no cluster `lab` in flowdsl.toml",
        ),
        (
            "flowdsl.toml",
            "default-cluster = 'lab'\nclusters.lab = {argo = '4.1', pools = {new = {cpu = 1, gpu = 8}}}\n",
            "2:56: error[FD675]: there is no `gpu` in [clusters.lab.pools.new]",
        ),
        (
            "pyproject.toml",
            "[tool.flowdsl]\nignroe = []\n",
            "2:1: error[FD675]: there is no `ignroe` in [tool.flowdsl]",
        ),
    ],
)
def test_settings_that_cannot_be_used(
    file: str, text: str, said: str, flowdsl: Callable[..., Result]
) -> None:
    write("pipeline.py", PIPELINE)
    write(file, text)
    write("given.yaml", "a: 1\n")
    for name in "pipeline.py", "given.yaml":
        assert flowdsl("check", name, "--format", "concise") == (2, f"{file}:{said}\n", "")
        assert flowdsl("check", name).out.startswith(f"{file}:{said}\n")
        (row,) = json.loads(flowdsl("check", name, "--format", "json").out)
        assert f"{row['line']}" == said.partition(":")[0]
    for command in ("compile", "graph"):
        code, out, err = flowdsl(command, "pipeline.py")
        assert (code, out) == (2, "")
        assert err.startswith(f"{file}:{said}\n")


def test_a_cluster_without_settings(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    said = "error[FD677]: there is no cluster `zz`: there is no flowdsl.toml in `.`, nor above it\n"
    assert flowdsl("check", "pipeline.py", "--cluster", "zz", "--format", "concise") == (2, said, "")


def test_settings_in_an_odd_shape_are_those_of_others(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("pyproject.toml", "tool = 1\n")
    assert flowdsl("check", "pipeline.py").code == 0


def test_settings_that_an_editor_on_windows_has_written(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    Path("flowdsl.toml").write_bytes(b'\xef\xbb\xbf[clusters.lab]\r\nnamespace = "ml"\r\n')
    done = flowdsl("compile", "pipeline.py", "--cluster", "lab")
    assert (done.code, done.err) == (0, "")
    assert "\n  namespace: ml\n" in done.out


def test_settings_that_are_not_text(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    Path("flowdsl.toml").write_bytes(b"\xff")
    code, out, err = flowdsl("check", "pipeline.py")
    assert (code, err) == (2, "")
    assert out.startswith(
        "flowdsl.toml:1: error[FD699]: the settings cannot be read: byte 0xff is not UTF-8\n"
    )


def test_settings_behind_a_link_that_leads_nowhere(flowdsl: Callable[..., Result]) -> None:
    """Else the pipeline would be compiled for no cluster in particular."""
    write("pipeline.py", PIPELINE)
    Path("flowdsl.toml").symlink_to("elsewhere.toml")
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert err.startswith(
        "flowdsl.toml:1: error[FD699]: the settings cannot be read: No such file or directory\n"
    )
