"""The command line with objects of S3, at moto's server of S3."""

import boto3
import pytest
from moto.server import ThreadedMotoServer

CONTENT = bytes(range(256)) * 4_096 * 18


@pytest.fixture(scope="module")
def moto():
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(moto):
    s3 = boto3.resource("s3", endpoint_url=moto, region_name="us-east-1", aws_access_key_id="a",
                        aws_secret_access_key="b")
    made = s3.Bucket("bucket-of-the-test")
    made.create()
    yield made
    made.objects.delete()
    made.delete()


def test_a_file_is_put_to_s3_and_got_from_it(backhaul, moto, bucket):
    (backhaul.here / "large file").write_bytes(CONTENT)
    settings = ("--s3-endpoint", moto, "--s3-region", "us-east-1", "--s3-credential-command",
                """echo '{"AccessKeyId": "a", "SecretAccessKey": "b"}'""")
    backhaul("put", *settings, "large file", "s3://bucket-of-the-test/folder/large%20file")
    [stored] = bucket.objects.all()
    assert stored.key == "folder/large file" and stored.e_tag.endswith('-3"')
    assert not list(bucket.multipart_uploads.all())
    backhaul("get", *settings, "-o", "copy", "s3://bucket-of-the-test/folder/large%20file")
    assert (backhaul.here / "copy").read_bytes() == CONTENT
