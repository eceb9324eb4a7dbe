"""The daemon's services are restricted to what the daemon needs. docs/security.md has the bars, and the reasons for the
settings that are left out."""

import re

from manager.test_documented import PROGRAM, documented


def exposure(manager, *words):
    """Returns systemd's rating of a unit file, from 0 (restricted) to 10."""
    printed = manager("systemd-analyze", *words[:-1], "security", "--offline=true", "--no-pager", words[-1]).stdout
    return float(re.search(r"Overall exposure level for .*: ([0-9.]+)", printed)[1])


def test_the_unit_of_service_install_has_at_most_the_exposure_that_a_service_of_a_user_can_reach(manager, backhaul):
    unit = backhaul("service", "install", BACKHAUL_DAEMON=PROGRAM).stdout.strip()
    try:
        assert exposure(manager, "--user", unit) <= 6.8
    finally:
        backhaul("service", "uninstall")


def test_the_documented_system_service_has_at_most_an_exposure_of_2(manager, tmp_path):
    unit = tmp_path / "photos-transfers.service"
    unit.write_text(documented()[unit.name])
    assert exposure(manager, unit) <= 2.0
