"""Generates the calls of the C API that the fuzzer makes (Tests/Fuzz/Calls): one function for each function of the
header, and one for each struct that is an argument."""

from __future__ import annotations

import re

from .model import Field, Header, Struct
from .swift_source import NOTE

#: The values of fields for which no other value is safe: the fuzzer must not start a daemon or use another store.
_FIXED = {"hosting": "BH_HOSTING_EMBEDDED", "store": "choices->store", "daemon": "NULL"}
#: Functions that the fuzzer calls only by itself: the memory to clear must exist.
_LEFT_OUT = {"bh_init"}
#: Functions that also set their output if they fail: an enqueue that is refused has results of the applied requests.
_OUTPUT_WITH_FAILURE = {"bh_session_enqueue", "bh_ticket_batch"}


def calls(header: Header) -> str:
    functions = [function for function in header.functions if function.name not in _LEFT_OUT]
    return (NOTE + '#include "runtime.h"\n\n' + "".join(_fill(struct, header) for struct in _arguments(header))
            + "".join(_call(function, header) for function in functions)
            + "static const struct call CALLS[] = {\n"
            + "".join(f'    {{"{function.name}", make_{function.name}}},\n' for function in functions) + "};\n")


def _arguments(header: Header) -> list[Struct]:
    """The structs to which arguments point, and the structs in them, each after those that it needs."""
    structs = {struct.name: struct for struct in header.structs}
    ordered: dict[str, Struct] = {}

    def add(type_: str) -> None:
        struct = structs.get(_base(type_))
        if struct and struct.name not in ordered:
            for field in struct.fields:
                add(field.type)
            ordered[struct.name] = struct

    for function in header.functions:
        for parameter in function.parameters:
            if parameter.type.startswith("const bh_"):
                add(parameter.type)
    return list(ordered.values())


def _base(type_: str) -> str:
    return re.sub(r"\bconst\b|[ *]|\[\d+\]", "", type_)


def _fill(struct: Struct, header: Header) -> str:
    lines = [f"static void fill_{struct.name}(struct choices *choices, {struct.name} *value) {{",
             "    memset(value, 0, sizeof *value);"]
    fields = iter(zip(struct.fields, (*struct.fields[1:], None)))
    for field, next_field in fields:
        place = f"value->{field.name}"
        if field.name == "struct_size":
            # The options of an application must have the fixed fields.
            size = "sizeof *value"
            if struct.name != "bh_application_options":
                size = f"choose(choices, 8) != 1 ? {size} : choose(choices, {size})"
            lines.append(f"    {place} = {size};")
        elif field.name in _FIXED:
            lines.append(f"    {place} = {_FIXED[field.name]};")
        elif (struct.name, field.name) == ("bh_request", "url"):
            # A request with values in many fields is nearly always refused, so half of them have no other.
            lines += [f"    {place} = choose(choices, 8) != 1 ? \"http://127.0.0.1:9/a\" : choose_text(choices);",
                      "    if (!choose(choices, 2)) return;"]
        elif field.name.startswith("reserved") or "[" in field.type:
            lines.append(f"    if (choose(choices, 64) == 1) memset(&{place}, 1, sizeof {place});")
        elif next_field and next_field.type == "size_t" and field.type.endswith("*") and "char *" != field.type[-6:]:
            lines += _list(field, "choose(choices, 3) == 1", place, f"value->{next_field.name}", header)
            next(fields)
        else:
            most = 16 if struct.name == "bh_request" else 4
            lines.append(f"    if (choose(choices, {most}) == 1) {_assign(field, place, header)}")
    return "\n".join([*lines, "}", "", ""])


def _list(field: Field, condition: str, place: str, count: str, header: Header) -> list[str]:
    """Chooses a list and the number of its elements if the condition, an expression of C, is true."""
    element = field.type.removeprefix("const ").removesuffix("*").removesuffix(" ").removesuffix("const").strip()
    kind = "char" if element == "void" else "const char *" if element == "const char *" else element
    if field.type == "const char *const *":
        kind = "const char *"
    struct = any(struct.name == element for struct in header.structs)
    fill = (f"fill_{element}(choices, &list[i])" if struct
            else "list[i] = choose_text(choices)" if kind == "const char *"
            else f"list[i] = ({kind})choose_number(choices)")
    # The struct_size of the first element is the distance between the elements.
    length = "1" if struct else "choose(choices, 4)"
    return [f"    if ({condition}) {{ size_t length = {length};",
            f"        {kind}{'' if kind.endswith('*') else ' '}*list = take_memory(choices, length * sizeof *list);",
            f"        for (size_t i = 0; list && i < length; i++) {fill};",
            f"        {place} = ({_cast(field)})list; {count} = list ? length : 0; }}"]


def _cast(field: Field) -> str:
    return field.type


def _assign(field: Field, place: str, header: Header) -> str:
    base = _base(field.type)
    if field.type == "const char *":
        return f"{place} = choose_text(choices);"
    if any(struct.name == base for struct in header.structs):
        if "*" not in field.type:
            return f"fill_{base}(choices, &{place});"
        return (f"{{\n        {base} *part = take_memory(choices, sizeof *part);\n"
                f"        if (part) fill_{base}(choices, part);\n        {place} = part;\n    }}")
    if "*" in field.type:
        return f"{place} = NULL;"
    return f"{place} = ({field.type})choose_number(choices);"


def _call(function, header: Header) -> str:
    lines = [f"static bh_status make_{function.name}(struct choices *choices) {{", "    (void)choices;"]
    arguments, after = [], []
    parameters = list(function.parameters)
    has_status = function.result == "bh_status"
    for index, parameter in enumerate(parameters):
        name, type_, base = parameter.name, parameter.type, _base(parameter.type)
        following = parameters[index + 1] if index + 1 < len(parameters) else None
        arguments.append(name)
        if type_ == "bh_error *":
            lines += ["    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;",
                      "    begin_error(choices, &error_value);"]
        elif base in header.opaque and type_.endswith("**"):
            lines += [f"    {base} *{name}_value = UNTOUCHED, **{name} = &{name}_value;"]
            if function.name not in _OUTPUT_WITH_FAILURE:
                after.append(f'    check_untouched("{function.name}", status, {name}_value);')
            if function.name == "bh_session_enqueue":
                after.append("    count_enqueued(status, count);")
            if function.name != "bh_application_next_ticket":
                after.append(f"    if ({name}_value != UNTOUCHED) "
                             f"keep_handle(choices, {base.removeprefix('bh_').upper()}, {name}_value);")
        elif base in header.opaque:
            lines.append(f"    {base} *{name} = choose_handle(choices, {base.removeprefix('bh_').upper()});")
        elif name == "timeout_ms":
            lines.append("    int32_t timeout_ms = choose_timeout(choices);")
        elif type_ == "const char *":
            lines.append(f"    const char *{name} = choose_text(choices);")
        elif following and following.name == "count" and type_.startswith("const "):
            lines.append(f"    {type_}{name} = NULL; size_t count = 0;")
            lines += _list(parameter, "choose(choices, 8) != 1", name, "count", header)
        elif name == "count" and index and parameters[index - 1].type.startswith("const "):
            pass
        elif type_.startswith("const "):
            lines += [f"    {base} {name}_value;",
                      f"    {base} *{name} = choose(choices, 16) != 1 ? &{name}_value : NULL;",
                      f"    fill_{base}(choices, &{name}_value);"]
        elif type_ == "void *":
            lines.append(f"    void *{name} = choices;")
        elif type_.endswith("*"):
            lines.append(f"    {base} {name}_value = 7, *{name} = choose(choices, 8) != 1 ? &{name}_value : NULL;")
        else:
            lines.append(f"    {type_} {name} = ({type_})choose_number(choices);")
    call = f"{function.name}({', '.join(arguments)})"
    if not has_status:
        return "\n".join([*lines, f"    {call};", "    return BH_FORKED;", "}", "", ""])
    check = f'    check_status(choices, "{function.name}", status, error);'
    lines += [f"    bh_status status =\n        {call};", *after, check, "    return status;"]
    return "\n".join([*lines, "}", "", ""])
