"""An application whose launch command is refused is closed, and the open raises the error."""

import asyncio
import gc
import warnings

import pytest

from backhaul import Application, Hosting, InvalidArgument, LaunchCommand

IDENTIFIER = "org.example.opening"


def blocking(store, command):
    Application(IDENTIFIER, store, hosting=Hosting.EMBEDDED, launch=command)


def with_asyncio(store, command):
    asyncio.run(Application.open_async(IDENTIFIER, store, hosting=Hosting.EMBEDDED, launch=command))


@pytest.mark.parametrize("command", [LaunchCommand("relative"), LaunchCommand("/bin/true", "--one")],
                         ids=["library", "package"])
@pytest.mark.parametrize("open_with", [blocking, with_asyncio], ids=lambda form: form.__name__)
def test_an_application_whose_launch_command_is_refused_is_closed(tmp_path, open_with, command):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InvalidArgument):
            open_with(tmp_path / "store", command)
        gc.collect()
    assert [str(one.message) for one in caught if one.category is ResourceWarning] == []
    with Application(IDENTIFIER, tmp_path / "store", hosting=Hosting.EMBEDDED) as application:
        assert application.launches() == []


@pytest.mark.parametrize("open_with", [blocking, with_asyncio], ids=lambda form: form.__name__)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_open_with_a_launch_command_registers_the_command(tmp_path, open_with):
    open_with(tmp_path / "store", LaunchCommand("/usr/bin/true"))
    with Application(IDENTIFIER, tmp_path / "store", hosting=Hosting.EMBEDDED) as application:
        assert [info.program for info in application.launches()] == ["/usr/bin/true"]
