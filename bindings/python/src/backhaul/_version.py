"""The version of this package. A release has the same version as the library."""

__version__ = "1.0.0"
