"""The reference on the site and in section 3 of the manual: complete, without broken links, and without repetitions."""

import posixpath
import re
import subprocess

import pytest
import test_documents as documents

from reference import python_pages, site, swift_pages
from reference.c_man import OVERVIEWS, Man
from reference.prose import DOCUMENTS
from schema.header import KIT, PATH
from tree import PROJECT, header, kit, sources, swift

ANCHOR = re.compile(r'\{#([\w.-]+)\}$|<a id="([\w.-]+)">', re.MULTILINE)
#: Variables of the debug build, with which tests replace what an engine reads from the system.
FOR_TESTS = {"BACKHAUL_BOOT", "BACKHAUL_CLOCK", "BACKHAUL_CRASH_AT", "BACKHAUL_PROC_ROOT", "BACKHAUL_SYS_ROOT",
             "BACKHAUL_TESTBED", "BACKHAUL_VERSION"}
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def pages():
    """All pages but those for Swift, because they need the compiled Swift package."""
    return site.without_swift(header())


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    for name, text in Man(header(), kit()).texts().items():
        (folder / "man3").mkdir(exist_ok=True)
        (folder / "man3" / name).write_text(text)
    return folder


def anchors(text):
    return {name for match in ANCHOR.findall(text) for name in match if name}


def names_of(path):
    """Returns all names that the preprocessor leaves in the header, and all macros that it defines."""
    def clang(*options):
        return subprocess.run(["clang", "-E", "-P", "-x", "c", "-std=c11", *options, path], check=True,
                              capture_output=True, text=True).stdout
    macros = re.findall(r"^#define (BHT?_\w+)", clang("-dM"), re.MULTILINE)
    return {*macros, *re.findall(r"\b(?:bh|BH|bht|BHT)_\w+", clang())}


def below(pages, folder):
    return {name: text for name, text in pages.items() if name.startswith(f"{folder}/")}


@pytest.mark.parametrize("path", [PATH, KIT], ids=["library", "test kit"])
def test_the_reference_describes_each_name_of_the_header(pages, path):
    described = set().union(*map(anchors, below(pages, "c").values()))
    assert names_of(path) - described == set()


def test_the_reference_of_python_describes_the_names_that_programs_can_import():
    source = (python_pages.SOURCES / "backhaul" / "__init__.py").read_text()
    kit_source = (python_pages.SOURCES / "backhaul" / "testing" / "__init__.py").read_text()
    of_kit = re.findall(r'"(\w+)"', kit_source.partition("__all__ = ")[2])
    exported = [*re.findall(r'^    "(\w+)",$', source, re.MULTILINE), *(f"testing.{name}" for name in of_kit)]
    described = [one.path for page in python_pages.load().values() for one in page]
    assert len(exported) > 80 and sorted(described) == sorted(exported)


def test_the_reference_of_python_mentions_no_class_and_no_type_that_programs_cannot_import(pages):
    package = python_pages.package()
    defined = {name for module in package.modules.values() for name, member in module.members.items()
               if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name) and not member.is_alias
               and not str(getattr(member, "value", "")).startswith("TypeVar")}
    internal = defined - {str(name) for name in (*package.exports, *package.modules["testing"].exports)}
    code = re.findall(r"```.*?```|`[^`]*`|\w+\.\w+", "".join(below(pages, "python").values()), re.DOTALL)
    mentioned = {name for text in code for name in re.findall(r"\w+", text)}
    assert len(internal) > 20 and internal & mentioned == set()


def test_each_public_name_of_the_python_package_has_a_documentation():
    described = [one for page in python_pages.load().values() for parent in page
                 for one in (parent, *parent.members)]
    # The fields of these dictionaries are described where they come from: Request, Session.respond…
    dictionaries = ("TransferOptions.", "DownloadOptions.", "ConfigurationOptions.", "ResponseOptions.", "Among.")
    assert [one.path for one in described if not one.text and not one.path.startswith(dictionaries)] == []


def test_each_file_of_the_swift_package_with_a_public_type_has_a_page():
    """`make site-test` reads the compiled package. This test needs only the sources."""
    public = re.compile(r"^public (?:final class|struct|(?:indirect )?enum|actor|protocol|func) ", re.MULTILINE)
    files = {source.path.stem.partition("+")[0] for source in swift("bindings/swift/Sources/Backhaul")
             if public.search(source.text)}
    assert files == {name for names in swift_pages.PAGES.values() for name in names}


@pytest.mark.parametrize("folder", ["c", "python"])
def test_the_reference_describes_no_name_twice(pages, folder):
    described = [name for text in below(pages, folder).values() for match in ANCHOR.findall(text)
                 for name in match if name]
    assert sorted(set(described)) == sorted(described)


def test_each_link_of_the_reference_leads_to_a_page_and_an_anchor(pages):
    broken = []
    for page, text in pages.items():
        for link in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            name, _, anchor = link.partition("#")
            if name.startswith(DOCUMENTS):
                is_there = documents.is_there(PROJECT / "docs" / "index.md", link.removeprefix(DOCUMENTS))
            else:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
                is_there = target in pages and (not anchor or anchor in anchors(pages[target]))
            broken += [] if is_there else [f"{page}: {link}"]
    assert broken == []


def test_the_reference_describes_each_variable_that_the_programs_read(pages):
    folders = ("Sources/", "bindings/swift/Sources/", "bindings/python/src/")
    literals = "\n".join(source.text for source in sources() if source.name.startswith(folders))
    read = set(re.findall(r'"(BACKHAUL_[A-Z_]*[A-Z])"', literals))
    assert read - FOR_TESTS == {name for name in read if f"`{name}`" in pages["tables/environment.md"]}


def test_no_page_of_the_reference_repeats_a_paragraph(pages):
    for page, text in pages.items():
        paragraphs = [paragraph for paragraph in text.split("\n\n") if len(paragraph) > 60]
        assert [one for one in set(paragraphs) if paragraphs.count(one) > 1] == [], page


def test_each_declaration_of_the_header_has_a_comment(pages):
    empty = [title for text in below(pages, "c").values()
             for title, body in re.findall(r"^## .*\{#(\w+)\}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
             if not re.sub(r"```c\n.*?```|^- .*$|<a .*?</a>", "", body, flags=re.MULTILINE | re.DOTALL).strip()]
    assert empty == []


def test_the_manual_has_a_page_for_each_function_type_and_macro_with_parameters(manual):
    pages = {path.name.removesuffix(".3").lower() for path in (manual / "man3").iterdir()}
    for read in (header(), kit()):
        types = {*read.types, *read.opaque, *(struct.name for struct in read.structs)}
        functions = {function.name for function in (*read.functions, *read.inline_functions)}
        macros = {macro.name.lower() for macro in read.macros}
        assert types | functions | macros <= pages
        assert len(functions) > 30


def test_the_pages_of_the_manual_depend_only_on_the_header_and_the_given_date(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    first, second = Man(header(), kit()).texts(), Man(header(), kit()).texts()
    assert first == second
    assert all(" 1970-01-02 " in text for text in first.values() if not text.startswith(".so "))


def test_man_prints_the_pages_without_a_warning(manual):
    pages = sorted(path for path in (manual / "man3").iterdir() if path.name.startswith(("backhaul.h", "backhaul_")))
    printed = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", *pages], check=False,
                             capture_output=True, text=True)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert len(pages) == len(header().chapters) + len(kit().chapters) + len(OVERVIEWS)


@pytest.mark.parametrize(("name", "page"), [
    ("bh_batch_event_at", "BACKHAUL_BATCHES(3)"),
    ("bht_fail_power", "BACKHAUL_TESTING_DAEMON(3)"),
    ("backhaul", "BACKHAUL.H(3)"),
    ("backhaul_testing.h", "BACKHAUL_TESTING.H(3)"),
    ("BH_START", "BACKHAUL_STATUS_AND_ERRORS(3)"),
])
def test_man_finds_a_page_by_the_name_of_a_function_of_a_header_and_of_a_number(manual, name, page):
    printed = subprocess.run(["man", "-M", manual, "3", name], check=True, capture_output=True, text=True)
    assert page in printed.stdout


def test_the_pages_of_the_manual_name_no_file_that_their_readers_do_not_have():
    assert [name for name, text in Man(header(), kit()).texts().items() if ".md" in text] == []


def test_mandoc_finds_no_fault_in_the_pages(manual):
    pages = sorted({*(manual / "man3").glob("backhaul_*.3"), *(manual / "man3" / f"{name}.3" for name in OVERVIEWS)})
    checked = subprocess.run(["mandoc", "-T", "lint", *pages], check=False, capture_output=True, text=True)
    assert checked.stdout == ""
