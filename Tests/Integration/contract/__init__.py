"""Tests of promises in docs/contract.md that no other suite covers."""
