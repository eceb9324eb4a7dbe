"""What docs/contract.md promises beyond the other tests."""
