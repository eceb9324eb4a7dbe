def pytest_addoption(parser):
    parser.addoption("--damages", type=int, default=12, help="how many times a database is damaged at random places")
    parser.addoption("--refetch-size", type=int, default=160, help="MiB of the download that is cut off repeatedly")
