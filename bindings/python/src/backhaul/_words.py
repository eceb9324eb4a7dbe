# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""Words for members of enumerations."""

from __future__ import annotations

from typing import Literal

#: The words of members that are not the members' names in lower case. These words are options of curl.
WORDS = {
    "HTTP_1_1": "http1.1",
    "HTTP_2": "http2",
    "HTTP_2_PRIOR_KNOWLEDGE": "http2-prior-knowledge",
    "TLS_1_2": "tlsv1.2",
    "TLS_1_3": "tlsv1.3",
}

#: What a program can give in place of a member of Redirects.
RedirectsWord = Literal["follow", "same_origin", "none"]

#: What a program can give in place of a member of ResumableUploads.
ResumableUploadsWord = Literal["never", "automatic", "ietf", "tus", "apple"]

#: What a program can give in place of a member of Preset.
PresetWord = Literal["discretionary", "overnight"]

#: What a program can give in place of a member of ThermalState.
ThermalStateWord = Literal["nominal", "fair", "serious", "critical"]

#: What a program can give in place of a member of Cookies.
CookiesWord = Literal["none", "memory", "persistent"]

#: What a program can give in place of a member of IfExists.
IfExistsWord = Literal["fail", "replace", "skip"]

#: What a program can give in place of a member of BodySource.
BodySourceWord = Literal["reference", "snapshot", "consume"]

#: What a program can give in place of a member of Refresh.
RefreshWord = Literal["none", "headers", "url"]

#: What a program can give in place of a member of DependencyFailure.
DependencyFailureWord = Literal["fail", "cancel", "ignore"]

#: What a program can give in place of a member of QualityOfService.
QualityOfServiceWord = Literal["background", "utility", "user_initiated"]
