"""The authentication scheme Negotiate with the Kerberos tickets of the user. A Negotiate token is the proof of identity
that Kerberos makes for one request."""

import pytest

from backhaul import BackhaulError, Scheme, Status, TaskState
from credentials.apache import Apache
from credentials.kerberos import REALM, Kerberos, is_installed
from credentials.test_hostile import serving
from servers.content import Content
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events
from testbed.host import until

TICKET = {"user": "", "password": ""}
_GUARD = """
    AuthType GSSAPI
    AuthName "kerberos"
    GssapiCredStore keytab:{keytab}
"""


@pytest.fixture(scope="module")
def realm():
    if not is_installed():
        pytest.skip("krb5-kdc, krb5-user and libapache2-mod-auth-gssapi are not installed")
    with Kerberos() as running:
        yield running


@pytest.fixture(scope="module")
def apache(realm):
    files = {str(number): Content(2_000, number).data for number in range(10)}
    with Apache(files, guard=_GUARD.replace("{keytab}", str(realm.keytab)), modules=("auth_gssapi",),
                environment=realm.server_environment) as running:
        yield running


def with_tickets(host, realm):
    one = host(environment=realm.environment)
    one.session(**ASK_FOR_CREDENTIALS)
    return one


def test_all_tasks_use_the_users_kerberos_ticket(host, realm, apache, downloads):
    realm.log_in()
    one = with_tickets(host, realm)
    for number in range(10):
        one.download(f"http://localhost:{apache.port}/private/{number}", downloads / str(number))
    asked = challenge(one, 10)
    assert asked.schemes == Scheme.NEGOTIATE
    with pytest.raises(BackhaulError, match="Negotiate"):
        one.respond(asked.id, user="ada", password="secret")
    one.respond(asked.id, **TICKET)
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 10
    # Apache writes its log after the response.
    until(apache.log, lambda log: log.count(("200", f"ada@{REALM}")) == 10)


def test_the_error_names_kinit_if_the_user_has_no_kerberos_ticket(host, realm, apache, downloads):
    realm.log_out()
    one = with_tickets(host, realm)
    one.download(f"http://localhost:{apache.port}/private/1", downloads / "a")
    one.respond(challenge(one).id, **TICKET)
    [event] = task_events(one.wait_for())
    assert event.status is Status.AUTHENTICATION_REQUIRED
    assert "kinit" in event.error_message and "localhost" in event.error_message


def test_the_error_names_kerberos_if_no_negotiate_token_can_be_made(host, downloads, tmp_path):
    one = host(environment={"KRB5_CONFIG": "/dev/null", "KRB5CCNAME": f"FILE:{tmp_path}/none"})
    one.session(**ASK_FOR_CREDENTIALS)
    with serving(lambda *_: (401, {"WWW-Authenticate": "Negotiate"}, b"")) as url:
        one.download(f"{url}/a", downloads / "a")
        one.respond(challenge(one).id, **TICKET)
        [event] = task_events(one.wait_for())
    assert event.status is Status.AUTHENTICATION_REQUIRED and "Kerberos" in event.error_message
