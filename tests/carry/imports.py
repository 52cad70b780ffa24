import json, os
import os.path
import xml.etree.ElementTree as tree
from collections import (
    Counter,
    OrderedDict,
)
from math import *
from pathlib import Path
from typing import Any, NamedTuple, cast

import csv  # not used
from flowdsl import GPU, step

ARGUMENTS = {"text": "a b a"}


@step(image="python:3.12-slim", gpu=GPU(1))
def train(text: str) -> Any:
    counts = Counter(text.split())
    root = tree.Element("root")
    return json.dumps([sorted(counts), os.path.join("a", "b"), root.tag, floor(pi), cast(int, 3)])
