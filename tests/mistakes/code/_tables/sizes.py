"""What imports flowdsl."""

from flowdsl import step

STEP = step.__name__
