def pytest_addoption(parser):
    parser.addoption("--cuts", type=int, default=1, help="how many random power cuts, on each file system")
    parser.addoption("--points", type=int, default=2, help="how many moments of recorded runs, on each file system")
    parser.addoption("--kinds", default="ext4", help="the file systems, such as ext4,xfs,btrfs")


def pytest_generate_tests(metafunc):
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", metafunc.config.getoption("--kinds").split(","))
