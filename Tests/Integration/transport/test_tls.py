"""Who is trusted, and what a task is told when nobody can be."""

import base64
import hashlib
import ssl
import subprocess

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate

from backhaul import TLS, Status, TLSVersion, TaskState


def fails(event, *words):
    assert (event.state, event.status) == (TaskState.FAILED, Status.TLS_FAILED), event
    for word in words:
        assert word in event.error_message
    assert event.attempts == 1


def pin(pem):
    key = load_pem_x509_certificate(pem).public_key()
    digest = hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    return "sha256//" + base64.b64encode(digest).decode()


def test_a_certificate_that_has_expired(fetch, serve, authority, long_ago):
    server = serve(authority.context(not_after=long_ago))
    fails(fetch(server.url + "/a", ca_file=authority.file), f"the certificate of {server.url} has expired")
    assert server.log() == []


def test_a_certificate_for_another_name(fetch, serve, authority):
    server = serve(authority.context("other.example"))
    fails(fetch(server.url + "/a", ca_file=authority.file), f"of {server.url} is for another name", "127.0.0.1")


def test_an_unknown_issuer(fetch, serve, authority):
    server = serve(authority.context())
    fails(fetch(server.url + "/a"), f"the certificate of {server.url} is ", "trusted", "ca_file")


def test_a_certificate_of_an_authority_that_is_named(fetch, serve, authority):
    server = serve(authority.context())
    assert fetch(server.url + "/a", ca_file=authority.file).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("newest, minimum, works", [
    (ssl.TLSVersion.TLSv1_2, None, True),
    (ssl.TLSVersion.TLSv1_2, TLSVersion.TLS_1_3, False),
    (ssl.TLSVersion.TLSv1_3, TLSVersion.TLS_1_3, True),
])
def test_the_minimum_tls_version(fetch, serve, authority, newest, minimum, works):
    context = authority.context()
    context.maximum_version = newest
    server = serve(context)
    event = fetch(server.url + "/a", ca_file=authority.file, tls=TLS(minimum_version=minimum))
    if works:
        assert event.state is TaskState.SUCCEEDED
    else:
        fails(event, "does not speak TLS 1.3", "tls.minimum_version")


def test_pinned_public_keys(fetch, serve, authority):
    issued = authority.ca.issue_cert("localhost", "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    server = serve(context)
    right, wrong = pin(issued.cert_chain_pems[0].bytes()), "sha256//" + "A" * 43 + "="
    trusted = {"ca_file": authority.file}
    assert fetch(server.url + "/a", pinned_public_keys=right, **trusted).state is TaskState.SUCCEEDED
    assert fetch(server.url + "/a", pinned_public_keys=f"{wrong};{right}", **trusted).state is TaskState.SUCCEEDED
    fails(fetch(server.url + "/a", pinned_public_keys=wrong, **trusted), server.url, "pinned_public_keys")
    # A pin is no trust.
    fails(fetch(server.url + "/a", pinned_public_keys=right), "ca_file")


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["TLS 1.2", "TLS 1.3"])
def choosy(request, serve, authority):
    """A server for those who have a certificate of the authority."""
    context = authority.context()
    context.minimum_version = context.maximum_version = request.param
    context.verify_mode = ssl.CERT_REQUIRED
    authority.ca.configure_trust(context)
    return serve(context)


def test_a_client_certificate_is_shown_to_whoever_asks_for_it(fetch, choosy, authority):
    certificate = authority.client("owner")
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=certificate)
    assert event.state is TaskState.SUCCEEDED


def test_the_key_may_be_in_a_file_of_its_own(fetch, choosy, authority, tmp_path):
    whole = authority.client("divided").read_text()
    cut = whole.index("-----BEGIN CERTIFICATE")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(whole[:cut])
    certificate.write_text(whole[cut:])
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=certificate, client_key=key)
    assert event.state is TaskState.SUCCEEDED


def test_without_a_client_certificate_the_task_is_told_what_is_missing(request, fetch, choosy, authority):
    event = fetch(choosy.url + "/a", ca_file=authority.file)
    # With TLS 1.3 the handshake is over for us before the server ends it, and the reset may overtake its reason.
    if event.status is not Status.CONNECTION_LOST or "1.2" in request.node.name:
        fails(event, choosy.url, "client_certificate")
    assert choosy.log() == []


def test_a_connection_with_a_client_certificate_is_not_shared_between_sessions(host, choosy, authority, downloads):
    """All in one engine, one after the other, so that there is an open connection to be lent."""
    one = host()
    states = []
    for number, certificate in enumerate([authority.client("owner"), None, authority.client("other"), None]):
        one.session(f"session {number}", ca_file=authority.file, client_certificate=certificate, maximum_attempts=1)
        one.download(choosy.url + "/a", downloads / str(number))
        states += [event.state for event in one.wait_for() if event.task_id]
    assert states == [TaskState.SUCCEEDED, TaskState.FAILED] * 2


def test_a_session_that_trusts_less_does_not_use_the_connection_of_another(host, serve, authority, downloads):
    server = serve(authority.context())
    one = host()
    found = []
    for number, file in enumerate([authority.file, None, authority.file]):
        one.session(f"session {number}", ca_file=file, maximum_attempts=1)
        one.download(server.url + "/a", downloads / str(number))
        found += [event.status for event in one.wait_for() if event.task_id]
    assert found == [Status.OK, Status.TLS_FAILED, Status.OK]


@pytest.mark.parametrize("option", ["ca_file", "client_certificate", "client_key"])
@pytest.mark.parametrize("damage", ["missing", "no PEM"])
def test_a_file_that_cannot_be_used_is_named(fetch, choosy, authority, tmp_path, option, damage):
    bad = tmp_path / "bad.pem"
    if damage == "no PEM":
        bad.write_text("this is no certificate\n")
    options = {"ca_file": authority.file, "client_certificate": authority.client("owner"), option: bad}
    fails(fetch(choosy.url + "/a", **options), option, str(bad))


def test_an_encrypted_key_is_not_asked_for_at_a_terminal(fetch, choosy, authority, tmp_path):
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "pkey", "-in", authority.client("owner"), "-aes128", "-passout", "pass:secret",
                    "-out", key], check=True, capture_output=True)
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=authority.client("owner"),
                  client_key=key)
    fails(event, "client_key", str(key))


def test_a_server_that_does_not_speak_tls(fetch, nginx, authority):
    url = nginx.url.replace("http", "https")
    fails(fetch(url + "/a", ca_file=authority.file), f"{url} does not answer with TLS")
