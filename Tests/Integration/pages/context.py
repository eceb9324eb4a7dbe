"""What the fragments of Python in the documents use. The test puts each fragment into a function of its own."""

# ruff: noqa: F401

import asyncio
import time
from datetime import datetime
from pathlib import Path

from backhaul import (
    TLS,
    Application,
    Budget,
    ChallengeKind,
    Constraints,
    Dependency,
    Hosting,
    LaunchCommand,
    Part,
    Policy,
    Proxy,
    Request,
    RetryPolicy,
    Session,
    SessionConfiguration,
    TransferRules,
)
from backhaul.testing import Point, Testbed

application: Application
session: Session
url: str
path: str
token: str
valid_until: datetime


def ask(origin: str, realm: str | None) -> tuple[str, str]:
    """Asks the user for a name and a password."""
    raise NotImplementedError


def renew() -> tuple[str, datetime]:
    """Returns a new token, and the time at which it expires."""
    raise NotImplementedError


def photo(url: str, folder: Path) -> None:
    """A host that downloads a picture."""
    raise NotImplementedError


def handle(file: str | None) -> None:
    """Does the program's own work."""
