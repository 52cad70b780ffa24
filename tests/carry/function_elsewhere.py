from _mylib import helper
from flowdsl import step

train = step(image="python:3.12-slim")(helper)
