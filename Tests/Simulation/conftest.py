def pytest_addoption(parser):
    parser.addoption("--seeds", type=int, default=60, help="how many seeded histories are run")
