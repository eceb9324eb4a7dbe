"""Which certificates are trusted, and which errors other certificates cause."""

import base64
import ctypes
import datetime
import hashlib
import socket
import ssl
import subprocess

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate

from backhaul import TLS, Reason, Status, TLSVersion, TaskState
from testbed.host import until


def fails(event, *words):
    assert (event.state, event.status) == (TaskState.FAILED, Status.TLS_FAILED), event
    for word in words:
        assert word in event.error_message
    assert event.attempts == 1


def pin(pem):
    key = load_pem_x509_certificate(pem).public_key()
    digest = hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    return "sha256//" + base64.b64encode(digest).decode()


def test_an_expired_certificate_is_refused(fetch, serve, authority, long_ago):
    server = serve(authority.context(not_after=long_ago))
    fails(fetch(server.url + "/a", ca_file=authority.file), f"the certificate of {server.url} has expired")
    assert server.log() == []


def test_a_task_waits_for_the_clock_if_a_certificate_is_not_valid_yet(shared_hosts, fetch, serve, authority, downloads):
    context = authority.context(not_before=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1))
    server = serve(context)
    # adjtimex(2) returns TIME_ERROR, which is 5, if no program synchronises the clock of this machine.
    if ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) != 5:
        return fails(fetch(server.url + "/a", ca_file=authority.file), f"of {server.url} is not valid yet", "clock")
    one = shared_hosts.host()
    one.session(shared_hosts.new_session(), maximum_attempts=1, ca_file=authority.file)
    task = one.download(server.url + "/a", downloads / "a")
    waiting = until(lambda: one.task(task), lambda info: info.reason is Reason.CLOCK)
    assert (waiting.attempts, waiting.status) == (0, Status.TLS_FAILED) and "not valid yet" in waiting.error_message
    authority.ca.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    one.resume()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    one.close_session()


def test_a_certificate_for_another_name_is_refused(fetch, serve, authority):
    server = serve(authority.context("other.example"))
    fails(fetch(server.url + "/a", ca_file=authority.file), f"of {server.url} is for another name", "127.0.0.1")


def test_a_certificate_of_an_unknown_issuer_is_refused(fetch, serve, authority):
    server = serve(authority.context())
    fails(fetch(server.url + "/a"), f"the certificate of {server.url} is ", "trusted", "ca_file")


def test_a_certificate_of_a_configured_authority_is_trusted(fetch, serve, authority):
    server = serve(authority.context())
    assert fetch(server.url + "/a", ca_file=authority.file).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("newest, minimum, works", [
    (ssl.TLSVersion.TLSv1_2, None, True),
    (ssl.TLSVersion.TLSv1_2, TLSVersion.TLS_1_3, False),
    (ssl.TLSVersion.TLSv1_3, TLSVersion.TLS_1_3, True),
])
def test_the_minimum_tls_version_is_enforced(fetch, serve, authority, newest, minimum, works):
    context = authority.context()
    context.maximum_version = newest
    server = serve(context)
    event = fetch(server.url + "/a", ca_file=authority.file, tls=TLS(minimum_version=minimum))
    if works:
        assert event.state is TaskState.SUCCEEDED
    else:
        fails(event, "does not speak TLS 1.3", "tls.minimum_version")


def limit_to_tls_1_1(context):
    # OpenSSL uses the hash algorithms of TLS 1.1 only at this security level.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_server_that_speaks_only_tls_1_1_is_refused(fetch, serve, authority):
    server = serve(limit_to_tls_1_1(authority.context()))
    client = limit_to_tls_1_1(ssl.create_default_context(cafile=authority.file))
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        try:
            with client.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                assert connection.version() == "TLSv1.1"
        except ssl.SSLError as error:
            pytest.skip(f"this OpenSSL has no TLS 1.1: {error}")
    fails(fetch(server.url + "/a", ca_file=authority.file), "does not speak TLS 1.2", "tls.minimum_version")
    assert server.log() == []


def test_pinned_public_keys_are_enforced(fetch, serve, authority):
    issued = authority.ca.issue_cert("localhost", "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    server = serve(context)
    right, wrong = pin(issued.cert_chain_pems[0].bytes()), "sha256//" + "A" * 43 + "="
    trusted = {"ca_file": authority.file}
    assert fetch(server.url + "/a", pinned_public_keys=right, **trusted).state is TaskState.SUCCEEDED
    assert fetch(server.url + "/a", pinned_public_keys=f"{wrong};{right}", **trusted).state is TaskState.SUCCEEDED
    fails(fetch(server.url + "/a", pinned_public_keys=wrong, **trusted), server.url, "pinned_public_keys")
    # A pinned key does not replace trust in the issuer.
    fails(fetch(server.url + "/a", pinned_public_keys=right), "ca_file")


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["TLS 1.2", "TLS 1.3"])
def choosy(request, serve, authority):
    """A server that requires a client certificate of the authority."""
    context = authority.context()
    context.minimum_version = context.maximum_version = request.param
    context.verify_mode = ssl.CERT_REQUIRED
    authority.ca.configure_trust(context)
    return serve(context)


def test_a_client_certificate_is_sent_to_a_server_that_requires_one(fetch, choosy, authority):
    certificate = authority.client("owner")
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=certificate)
    assert event.state is TaskState.SUCCEEDED


def test_the_client_key_may_be_in_a_separate_file(fetch, choosy, authority, tmp_path):
    whole = authority.client("divided").read_text()
    cut = whole.index("-----BEGIN CERTIFICATE")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(whole[:cut])
    certificate.write_text(whole[cut:])
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=certificate, client_key=key)
    assert event.state is TaskState.SUCCEEDED


def test_the_error_names_the_option_if_the_client_certificate_is_missing(request, fetch, choosy, authority):
    event = fetch(choosy.url + "/a", ca_file=authority.file)
    # With TLS 1.3, the client's handshake ends before the server refuses the client. The server then sends the reason
    # (a TLS alert) and closes the connection. The client may receive a TCP reset before it has read the alert.
    if event.status is not Status.CONNECTION_LOST or "1.2" in request.node.name:
        fails(event, choosy.url, "client_certificate")
    assert choosy.log() == []


def test_a_connection_with_a_client_certificate_is_not_shared_between_sessions(host, choosy, authority, downloads):
    """All sessions share one engine and run one after the other, so that each later session could reuse an open
    connection."""
    one = host()
    states = []
    for number, certificate in enumerate([authority.client("owner"), None, authority.client("other"), None]):
        one.session(f"session {number}", ca_file=authority.file, client_certificate=certificate, maximum_attempts=1)
        one.download(choosy.url + "/a", downloads / str(number))
        states += [event.state for event in one.wait_for() if event.task_id]
    assert states == [TaskState.SUCCEEDED, TaskState.FAILED] * 2


def test_a_session_with_other_authorities_does_not_reuse_a_connection_of_another_session(
        host, serve, authority, downloads):
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
def test_the_error_names_an_unusable_certificate_file(fetch, choosy, authority, tmp_path, option, damage):
    bad = tmp_path / "bad.pem"
    if damage == "no PEM":
        bad.write_text("this is no certificate\n")
    options = {"ca_file": authority.file, "client_certificate": authority.client("owner"), option: bad}
    fails(fetch(choosy.url + "/a", **options), option, str(bad))


def test_the_passphrase_of_an_encrypted_key_is_not_requested_at_a_terminal(fetch, choosy, authority, tmp_path):
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "pkey", "-in", authority.client("owner"), "-aes128", "-passout", "pass:secret",
                    "-out", key], check=True, capture_output=True)
    event = fetch(choosy.url + "/a", ca_file=authority.file, client_certificate=authority.client("owner"),
                  client_key=key)
    fails(event, "client_key", str(key))


def test_the_error_reports_that_the_server_does_not_use_tls(fetch, nginx, authority):
    url = nginx.url.replace("http", "https")
    fails(fetch(url + "/a", ca_file=authority.file), f"{url} does not respond with TLS")
