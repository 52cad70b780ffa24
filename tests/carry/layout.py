#!/usr/bin/env python
# -*- coding: utf-8 -*-
# About this import.
import os
from flowdsl import step

ARGUMENTS = {"n": 1}

# ---------------------------------------------------------------
# Größen: 你好
# ---------------------------------------------------------------
GRÖSSE = 3  # trailing

# Far above.

# Right above.
@step(
    image="python:3.12-slim",  # the image
    cpu=2,
)
# Between.
def train(n   :int,
          more: str = "ü"   # odd
          ) -> str:
    # In the body.
    text = """
        kept   
	as it is
"""
    return (
        text
            + os.sep
        + str(GRÖSSE) )   # end
# Below.
