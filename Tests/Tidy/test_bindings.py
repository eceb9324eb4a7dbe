"""The files that are generated from include/backhaul.h are up to date. The generator can also read other headers. A
binding makes the library usable in another language."""

import ctypes

import pytest

from schema import (
    header,
    manifest,
    names,
    outputs,
    python_constants,
    python_declarations,
    python_options,
    swift_options,
)
from tree import PROJECT
from tree import header as read_header


@pytest.fixture(scope="module")
def texts():
    return outputs.texts()


@pytest.mark.parametrize("path", outputs.WRITERS)
def test_each_generated_file_matches_the_header(path, texts):
    assert (PROJECT / path).read_text() == texts[path], "run scripts/generate-bindings"


@pytest.mark.parametrize("path", outputs.WRITERS)
def test_the_first_line_of_a_generated_file_names_its_generator(path, texts):
    assert "Generated from include/backhaul.h by scripts/generate-bindings" in texts[path].splitlines()[0]


def test_each_listed_python_class_belongs_to_an_enumeration_of_the_header():
    assert set(names.PYTHON_CLASSES) <= {enumeration.key for enumeration in read_header().enumerations}


#: A header with all forms of declarations: macros around declarations, types of enumerations, embedded structs, and
#: tables in comments.
FORMS = """
#include <stddef.h>
#include <stdint.h>
#define BH_EXPORT __attribute__((visibility("default")))
#define BH_ENUM(name) typedef int32_t name; enum
#define BH_FLAGS(name) typedef uint32_t name; enum
#define BH_INIT(name) (name){sizeof(name)}
#define BH_TIMEOUT 30 /* seconds */
#define BH_TWICE (2 * BH_TIMEOUT)
#define BH_NOTHING UINT64_MAX
#define BH_NAME "text"

/* What a handle
 * may do. */
BH_ENUM(bh_http_role) {
    BH_HTTP_ROLE_READ = 1, /* reads,
                              and no more */
    /* Writes. */
    BH_HTTP_ROLE_2
};

/* Where it runs, as bits. */
BH_FLAGS(bh_place) { BH_PLACE_HERE = 1, BH_PLACE_THERE = 2 };

typedef struct bh_handle bh_handle;

/* Limits – of a task. */
typedef struct bh_limits {
    uint64_t rate; /* bytes per second; default: BH_NOTHING */
    bh_place place;
} bh_limits;

typedef struct bh_options {
    size_t struct_size;
    bh_http_role role;
    bh_limits limits;
    const bh_limits *others; /* BH_HTTP_ROLE_… and BH_PLACE_HERE */
    const char *const *operator;
    uint8_t digest[4];
} bh_options;
#define BH_OPTIONS_INIT {sizeof(bh_options)}

/* Opens it. The options are:
 *
 *   role    what it may do
 */
BH_EXPORT int32_t bh_open(const bh_options *options, bh_http_role role, bh_handle **handle);
BH_EXPORT
int32_t bh_open_start(const struct bh_options *options, void *context);

BH_EXPORT void bh_close(bh_handle *handle);
"""


@pytest.fixture
def forms(tmp_path):
    path = tmp_path / "forms.h"
    path.write_text(FORMS)
    return header.read(path)


def test_the_generator_reads_constants_that_macros_declare_and_the_comments_of_the_constants(forms):
    role, place = forms.enumerations
    assert (role.name, role.documentation, role.is_bits) == ("bh_http_role", "What a handle may do.", False)
    assert [(item.name, item.value, item.documentation) for item in role.constants] == [
        ("BH_HTTP_ROLE_READ", 1, "reads, and no more"), ("BH_HTTP_ROLE_2", 2, "Writes."),
    ]
    assert (place.name, place.is_bits, place.prefix) == ("bh_place", True, "BH_PLACE_")
    assert [(item.name, item.value, item.documentation) for item in forms.numbers] == [
        ("BH_TIMEOUT", 30, "seconds"), ("BH_TWICE", 60, ""), ("BH_NOTHING", 2**64 - 1, ""),
    ]


def test_the_generator_reads_embedded_structs_and_reads_functions_that_follow_a_macro(forms):
    limits, options = forms.structs
    assert (limits.documentation, limits.is_growing, options.is_growing) == ("Limits – of a task.", False, True)
    assert [field.type for field in options.fields][1:4] == ["bh_http_role", "bh_limits", "const bh_limits *"]
    assert limits.fields[0].documentation == "bytes per second; default: BH_NOTHING"
    assert [(function.name, function.documentation) for function in forms.functions] == [
        ("bh_open", "Opens it. The options are:"), ("bh_open_start", "Opens it. The options are:"), ("bh_close", ""),
    ]
    assert forms.opaque == ("bh_handle",)


def test_generated_python_structs_have_the_layout_of_the_c_structs(forms):
    declared = {}
    exec(compile(python_declarations.structs(forms), "_ctypes", "exec"), declared)
    options = declared["bh_options"]
    assert (ctypes.sizeof(declared["bh_limits"]), ctypes.sizeof(options)) == (16, 56)
    assert (options.limits.offset, options.others.offset, options.digest.offset) == (16, 32, 48)
    functions = python_declarations.functions(forms)
    assert '"bh_open": (c_int32, [POINTER(bh_options), c_int32, POINTER(bh_handle)]),' in functions
    assert '"bh_open_start": (c_int32, [POINTER(bh_options), c_void_p]),' in functions
    constants = python_constants.constants(forms)
    assert "class HTTPRole(OpenEnum):" in constants and "class Place(OpenFlag):" in constants
    assert "    #: Reads, and no more.\n    READ = 1\n    #: Writes.\n    ROLE_2 = 2\n" in constants


def test_the_layout_manifest_has_embedded_structs_arrays_and_large_numbers(forms):
    layouts, constants = manifest.layouts(forms), manifest.constants(forms)
    assert "BHT_FIELD(bh_options, limits)\n" in layouts and "BHT_FIELD(bh_options, digest)\n" in layouts
    assert '("BH_NOTHING", "18446744073709551615"),' in constants


def test_the_tables_of_the_generator_contain_only_names_of_the_header():
    structs = {struct.name for struct in read_header().structs}
    fields = {field.name for struct in read_header().structs for field in struct.fields}
    types = {enumeration.name for enumeration in read_header().enumerations}
    assert {*names.VALUES, *names.PYTHON_PARTS} <= structs
    assert {*names.SWIFT_PROPERTIES, *names.SECRETS} <= fields
    assert {*names.SWIFT_TYPES, *names.PYTHON_ZEROS} <= types


#: A header with one struct of settings.
OPTIONS = """
#include <stddef.h>
#include <stdint.h>
#define BH_ENUM(name) typedef int32_t name; enum
BH_ENUM(bh_choice) { BH_DEFAULT = 0, BH_YES = 1, BH_NO = 2 };
/* Which redirects are followed. Others are not. */
BH_ENUM(bh_redirects) { BH_REDIRECTS_DEFAULT = 0, /* BH_REDIRECTS_SAME_ORIGIN */
                        BH_REDIRECTS_SAME_ORIGIN = 1, BH_REDIRECTS_NONE = 2 };
/* When. */
typedef struct bh_part {
    uint32_t first_delay_ms; /* default 1,000: before the next */
    bh_choice is_new;        /* BH_YES: it is new; NULL and first_delay_ms are not */
    bh_redirects redirects;
    const char *password;
    uint64_t reserved[2];
} bh_part;
"""


@pytest.fixture
def part(tmp_path):
    path = tmp_path / "options.h"
    path.write_text(OPTIONS)
    return header.read(path)


def test_a_generated_python_class_has_types_documentation_and_defaults(part):
    text = python_options.Options(part).dataclass(part.struct("bh_part"), "@dataclass")
    assert ('class Part:\n    """When."""\n\n    #: Default 1,000: before the next.\n'
            "    first_delay_ms: int = 0\n") in text
    assert "    #: True: it is new; None and ``first_delay_ms`` are not.\n    is_new: bool | None = None\n" in text
    assert ("    #: Which redirects are followed. Default: Redirects.SAME_ORIGIN. \"same_origin\" or \"none\".\n"
            "    redirects: Redirects | RedirectsWord | None = None\n") in text
    assert "    password: str | None = field(default=None, repr=False)\n" in text and "reserved" not in text


def test_a_generated_swift_struct_can_be_converted_to_c_and_back(part):
    text = swift_options.Options(part).struct(part.struct("bh_part"))
    assert "/// When. Nil stands for the default.\npublic struct Part: Hashable, Sendable {\n" in text
    assert "    /// Default 1,000 ms: before the next.\n    public var firstDelay: Duration?\n" in text
    assert "    /// `true`: it is new; nil and `firstDelay` are not.\n    public var isNew: Bool?\n" in text
    assert "Default: `RedirectPolicy.sameOrigin`.\n    public var redirects: RedirectPolicy?\n" in text
    assert "        redirects = RedirectPolicy(rawValue: value.redirects)\n" in text
    assert '        value.first_delay_ms = try positive(firstDelay, "firstDelay")\n' in text
