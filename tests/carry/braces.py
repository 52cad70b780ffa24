from flowdsl import step

ARGUMENTS = {"name": "x"}
TEMPLATE = "Hi {{ user }} and {{user.name}}, {{item}} {{workflowx}} {{ =x }}"


@step(image="python:3.12-slim")
def train(name: str) -> str:
    # {{ x }} is no tag of Argo, nor is {{{inputs.parameters.x}}}.
    inputs = {"parameters": {1: {2: name}}}
    return TEMPLATE + f"{{{name}}}" + f"{inputs['parameters'][1]}" + "}}" + "{{"
