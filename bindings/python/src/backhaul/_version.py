"""The version of this package. A release has the same version as the library."""

#: The version of this package, such as "1.0.0".
__version__ = "1.0.0"
