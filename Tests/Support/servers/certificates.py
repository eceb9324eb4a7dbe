"""A certificate authority for tests, and a server certificate for loopback."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Certificates:
    """PEM files: the authority for clients, and the chain and key of servers."""

    authority: Path
    chain: Path
    key: Path

    def server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain, self.key)
        return context


def make_certificates(folder):
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    made = Certificates(folder / "authority.pem", folder / "server.pem", folder / "server.key")
    authority.cert_pem.write_to_path(made.authority)
    made.key.write_bytes(certificate.private_key_pem.bytes())
    made.chain.write_bytes(b"".join(pem.bytes() for pem in certificate.cert_chain_pems))
    return made
