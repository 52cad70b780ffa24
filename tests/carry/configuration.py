import logging
import os
import random

from flowdsl import step

logging.basicConfig(level=logging.INFO)
logger = logging.getLogger(__name__)
random.seed(3)
os.environ["UNUSED"] = "1"
print("not carried")
ARGUMENTS = {}


@step(image="python:3.12-slim")
def train() -> bool:
    logger.debug("here")
    return random.random() < 2
