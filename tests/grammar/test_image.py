"""Names of images: those that distribution/reference v0.6.0 reads as meant, as measured, and others."""

from __future__ import annotations

import pytest

from flowdsl.grammar.image import completed, fault

DIGEST = "sha256:" + "0123456789abcdef" * 4
RIGHT = (
    "busybox busybox:1 python:3.12-slim a/b a__b--c.d_e/f:X.y-z_ reg.example.com:5000/team/x:1 reg:5000/x "
    f"localhost/x localhost:5000/x [::1]:5000/x Reg.example.com/x x@{DIGEST} x:1@{DIGEST} 127.0.0.1/x foo:1234567890 "
    f"abc:{'t' * 128}"
)
WRONG = (
    "Busybox:1 Team/x busybox: busybox@latest http://reg/x:1 a//b a/ /a a_/b a..b a___b A/B -a a- a:-1 a:b:c reg:x/y "
    f".reg/x a@{DIGEST}0 a@{DIGEST[:-1]} a@sha256:{'A' * 64} a@md5:{'a' * 64} @{DIGEST} :1 {'a' * 64} "
    f"abc:{'t' * 129} {'a/' * 128}a é ü:1 a:é $image ${{X}}/a"
)


@pytest.mark.parametrize("text", RIGHT.split())
def test_names(text: str) -> None:
    assert fault(text) == ""


@pytest.mark.parametrize("text", [*WRONG.split(), "busy box:1", "busybox:1 ", ""])
def test_no_names(text: str) -> None:
    assert fault(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("python:3.12", "docker.io/library/python:3.12"),
        ("pytorch/pytorch:2.7.1", "docker.io/pytorch/pytorch:2.7.1"),
        ("docker.io/python:3.12", "docker.io/library/python:3.12"),
        ("index.docker.io/team/x", "docker.io/team/x"),
        (f"busybox@{DIGEST}", f"docker.io/library/busybox@{DIGEST}"),
        ("ghcr.io/x:1", "ghcr.io/x:1"),
        ("localhost/x", "localhost/x"),
        ("reg:5000/team/x:1", "reg:5000/team/x:1"),
    ],
)
def test_a_name_is_completed_by_its_registry(text: str, whole: str) -> None:
    """As ParseNormalizedNamed of distribution/reference completes it."""
    assert completed(text) == whole
