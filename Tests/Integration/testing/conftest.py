"""The fixture of the test kit. With an installed package, pytest finds it by itself."""

from pytest_backhaul import backhaul_testbed

__all__ = ["backhaul_testbed"]
