"""Tests of challenges. A challenge is a demand of a server or a proxy for a credential, such as a password."""
