#!/usr/bin/env python
# coding: utf-8
# About the constant.
SIZE = 3

from flowdsl import step

ARGUMENTS = {}


@step(image="python:3.12-slim")
def train() -> int:
    return SIZE
