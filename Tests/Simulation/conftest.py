def pytest_addoption(parser):
    parser.addoption("--seeds", type=int, default=25, help="how many seeded histories are run")
    parser.addoption("--stride", type=int, default=11, help="a crash comes after each of this number of steps")
