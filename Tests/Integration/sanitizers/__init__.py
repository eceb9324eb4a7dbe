"""The C host under the sanitizers."""
