"""Short forms for the configuration of a session or of a task."""

from dataclasses import fields, replace

from backhaul import TLS, Budget, Constraints, Policy, Proxy, RetryPolicy, TransferRules

_PARTS = {"retry": RetryPolicy, "rules": TransferRules, "constraints": Constraints, "tls": TLS, "proxy": Proxy,
          "budget": Budget}
_PART_OF = {field.name: name for name, part in _PARTS.items() for field in fields(part)}


def nested(*, parts=None, **given):
    """Puts each field into the part of the configuration to which it belongs: ``nested(maximum_attempts=3,
    history_limit=9)`` returns ``{"retry": RetryPolicy(maximum_attempts=3), "history_limit": 9}``.

    The other fields of a part have their defaults. But if the caller gives the part itself, directly or in ``parts``,
    the other fields come from this part. So the tests of a suite can share a part, such as ``retry``, and one test can
    change a single field of this part.
    """
    found = {name: value for name, value in given.items() if name not in _PART_OF}
    for name, value in given.items():
        if name in _PART_OF:
            part = _PART_OF[name]
            found[part] = replace(found.get(part) or (parts or {}).get(part) or _PARTS[part](), **{name: value})
    return found


def policy(**given):
    """Makes a task's policy: ``policy(maximum_attempts=3)`` is ``Policy(retry=RetryPolicy(maximum_attempts=3))``."""
    return Policy(**nested(**given))
