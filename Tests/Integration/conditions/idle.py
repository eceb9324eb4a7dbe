"""How many seconds a test watches the idle engine. The option --idle-seconds changes it: the long runs use two
minutes."""

SECONDS = 35
