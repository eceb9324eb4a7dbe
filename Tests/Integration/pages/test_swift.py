"""The Swift code of all documents compiles. One build has all blocks, because a build takes long."""

import textwrap

from .blocks import blocks
from .swift_package import build, manifest

#: What fragments use: parameters of the function that has the fragment.
FRAGMENT = """
private func {name}(_ application: Application, _ session: Session, _ task: TaskID) async throws {{
    var request = Request(url: "https://example.org/1.jpg", destination: "/home/me/1.jpg")
    var configuration = SessionConfiguration(identifier: "gallery")
    #sourceLocation(file: "{file}", line: {line})
{text}    #sourceLocation()
}}
"""
FOUNDATION_FRAGMENT = """
@MainActor
private func {name}(_ delegate: any UIApplicationDelegate, _ configuration: URLSessionConfiguration) throws {{
    #sourceLocation(file: "{file}", line: {line})
{text}    #sourceLocation()
}}
"""
#: The documents about the products with the API of URLSession.
WITH_FOUNDATION = {"docs/swift.md"}


def in_a_function(template, block):
    return template.format(name=block.name, file=block.document, line=block.line + 1,
                           text=textwrap.indent(block.text, "    "))


def is_fragment(block):
    """Programs and manifests are compiled by other tests, and the first block of the package's README is the host of
    the README."""
    return "import " not in block.text and ".executableTarget" not in block.text


def test_each_block_of_swift_compiles(tmp_path):
    fragments = [block for block in blocks("swift") if is_fragment(block)]
    plain, foundation = [], []
    for block in fragments:
        if block.document in WITH_FOUNDATION:
            foundation.append(in_a_function(FOUNDATION_FRAGMENT, block))
        else:
            plain.append(in_a_function(FRAGMENT, block))
    product = '.product(name: "Backhaul", package: "Backhaul")'
    both = f'{product}, .product(name: "BackhaulURLSession", package: "Backhaul")'
    assert product in manifest()
    build(tmp_path, manifest().replace(product, both), {
        "main.swift": "", "Guides.swift": "import Backhaul\n" + "".join(plain),
        "Foundation.swift": "import BackhaulURLSession\nimport Foundation\n" + "".join(foundation)})
