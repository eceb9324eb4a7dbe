"""The header as values: structs, enumerations, numbers and functions, each with its documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """An enumerator, or a macro that is a number."""

    name: str
    value: int
    documentation: str


@dataclass(frozen=True)
class Enumeration:
    """Constants that belong together."""

    #: The name of the type, or None if it has none.
    name: str | None
    documentation: str
    constants: tuple[Constant, ...]
    #: Whether the constants can be combined, because the type is a set of bits.
    is_bits: bool

    @property
    def key(self) -> str:
        """The name of the enumeration in other tables: its type's name, or its first constant if the type has no
        name."""
        return self.name or self.constants[0].name

    @property
    def prefix(self) -> str:
        """The common prefix of all names: `BH_TLS_` for BH_TLS_1_2 and BH_TLS_1_3."""
        names = [constant.name.split("_") for constant in self.constants]
        common = []
        for words in zip(*names):
            if len(set(words)) > 1 or words[0].isdigit():
                break
            common.append(words[0])
        return "_".join(common[: min(map(len, names)) - 1]) + "_"


@dataclass(frozen=True)
class Field:
    """A field of a struct, or a parameter of a function."""

    name: str
    #: The type in C's notation, with one blank between words: `const char *const *`, `char[512]`.
    type: str
    documentation: str = ""


@dataclass(frozen=True)
class Struct:
    name: str
    documentation: str
    fields: tuple[Field, ...]

    @property
    def is_growing(self) -> bool:
        """Whether the struct begins with its size, so that a newer library may have more fields at its end."""
        return self.fields[0].name == "struct_size"


@dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple[Field, ...]
    #: Declarations without a blank line between them share the comment of the first declaration.
    documentation: str


@dataclass(frozen=True)
class Macro:
    """A macro that is not a number."""

    name: str
    #: The parameters with their brackets, or an empty text.
    parameters: str


@dataclass(frozen=True)
class Item:
    """A kind of items in a batch: a row of BH_ITEM_TABLE."""

    constant: str
    struct: str
    #: The function that returns an item of this kind.
    accessor: str


@dataclass(frozen=True)
class Chapter:
    """A part of the header. It begins with a comment between two rules."""

    title: str
    #: What follows the title in the comment: sentences, or an empty text.
    summary: str
    #: The offset in the header at which the chapter begins, in bytes.
    begin: int


@dataclass(frozen=True)
class Topic:
    """A part of the comment at the beginning of the header."""

    title: str
    #: The text with its lines and indentation.
    text: str


@dataclass(frozen=True)
class Header:
    #: The name of the file.
    name: str
    structs: tuple[Struct, ...]
    enumerations: tuple[Enumeration, ...]
    #: The macros that are numbers.
    numbers: tuple[Constant, ...]
    functions: tuple[Function, ...]
    #: Structs without a definition. A handle of the C API is a pointer to such a struct.
    opaque: tuple[str, ...]
    #: Maps the name of a type of the header to the type that it stands for: `bh_status` -> `int32_t`.
    types: dict[str, str]
    #: The functions that the header defines itself. The library has no symbols for them.
    inline_functions: tuple[Function, ...]
    #: The macros that are not numbers.
    macros: tuple[Macro, ...]
    items: tuple[Item, ...]
    chapters: tuple[Chapter, ...]
    introduction: tuple[Topic, ...]
    #: Maps the name of each declaration and macro to its offset in the header, in bytes.
    places: dict[str, int]
    #: Maps the name of a declaration or macro to the whole comment above it, with its lines and indentation.
    texts: dict[str, str]

    def struct(self, name: str) -> Struct:
        return next(struct for struct in self.structs if struct.name == name)
