def pytest_addoption(parser):
    parser.addoption("--hosts", type=int, default=20, help="how many hosts return from main during a transfer")
