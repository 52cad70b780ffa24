from flowdsl import step

ARGUMENTS = {}
ä = "ä"; A = 1; B = A + 1; DROPPED = open
C = """
x"""; D = 4


@step(image="python:3.12-slim")
def train() -> str: return ä + str(B) + C
