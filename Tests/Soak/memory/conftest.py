def pytest_addoption(parser):
    parser.addoption("--bodies", type=int, default=50, help="how many request bodies the store keeps")
