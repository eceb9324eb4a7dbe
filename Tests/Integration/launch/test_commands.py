"""A launch command is a program with its arguments. The engine starts the program when a session needs its host.
When a host registers an invalid launch command, the command is refused. The error message has the reason."""

import pytest

from backhaul import Hosting, InvalidArgument, LaunchCommand


@pytest.fixture
def hosting():
    return Hosting.DAEMON


@pytest.mark.parametrize("command, reason", [
    (LaunchCommand("photos"), "launch.program is not an absolute path"),
    (LaunchCommand(""), "launch.program"),
    (LaunchCommand("/" + "x" * 5_000), "launch.program"),
    (LaunchCommand("/usr/bin/photos", ["x"] * 1_001), "launch.argument_count is 1001; give 0 to 1000"),
    (LaunchCommand("/usr/bin/photos", ["x" * 40_000, "y" * 40_000]), "at most 65536"),
    (LaunchCommand("/usr/bin/photos", environment={"": "x"}), "no name of an environment variable"),
    (LaunchCommand("/usr/bin/photos", environment={"BACKHAUL_LAUNCH": "1-1"}), "is set by the engine; leave it out"),
    (LaunchCommand("/usr/bin/photos", working_directory="here"), "launch.working_directory is not an absolute path"),
    (LaunchCommand("/usr/bin/photos", first_delay_ms=2_000, longest_delay_ms=1_000),
     "launch.first_delay_ms is larger than launch.longest_delay_ms"),
    (LaunchCommand("/usr/bin/photos", attach_timeout_ms=86_400_001), "launch.attach_timeout_ms is 86400001, outside"),
], ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_an_invalid_launch_command_is_refused(hosts, command, reason):
    host = hosts.start()
    with pytest.raises(InvalidArgument) as raised:
        host.set_launch(command)
    assert reason in str(raised.value)
    with pytest.raises(InvalidArgument):
        hosts.start(launch=command)
    assert host.launches() == []


def test_the_launch_commands_of_all_applications_are_listed_as_they_were_registered(hosts):
    commands = {
        "org.example.b": LaunchCommand("/usr/bin/b", ["", "$HOME", "a b", "ü"], {"A": "x=y", "B": ""}),
        "org.example.a": LaunchCommand("/usr/bin/a", working_directory="/srv"),
    }
    for name, command in commands.items():
        hosts.start(name, launch=command)
    infos = hosts.start(observes=True).launches()
    assert [info.application for info in infos] == ["org.example.a", "org.example.b"]
    for info in infos:
        command = commands[info.application]
        assert (info.program, list(info.arguments), dict(info.environment), info.working_directory) == \
            (command.program, list(command.arguments), dict(command.environment), command.working_directory)
