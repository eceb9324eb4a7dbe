def pytest_addoption(parser):
    parser.addoption("--refetch-size", type=int, default=160, help="MiB of the download that is cut off repeatedly")
