"""The number of seconds for which a test watches the idle engine, whose transfers all wait. The option --idle-seconds
changes the number. Long test runs use two minutes."""

SECONDS = 45
