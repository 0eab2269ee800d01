# SPDX-License-Identifier: Apache-2.0
"""tests/documents/schema.py: the part of JSON Schema (draft 2020-12) that kanon's schemas use. A keyword that it does not know
is an error, so that nothing is passed over."""

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "properties", "required", "additionalProperties",
         "items", "anyOf", "enum", "x-unit", "x-audience"}


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return {float: "number", str: "string", list: "array", dict: "object"}[type(value)]


def problems(value, schema, root=None, where="$"):
    """What is wrong with a value: a list of sentences."""
    root = schema if root is None else root
    found = [f"{where}: the schema says {key}, which is not known here" for key in schema.keys() - KNOWN]
    if "$ref" in schema:
        found += problems(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    if "anyOf" in schema and all(problems(value, one, root, where) for one in schema["anyOf"]):
        found.append(f"{where}: fits none of {schema['anyOf']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: none of {schema['enum']}")
    if "type" in schema:
        allowed = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        kind = type_of(value)
        if kind not in allowed and not (kind == "integer" and "number" in allowed):
            found.append(f"{where}: {kind}, not {' or '.join(allowed)}")
    if isinstance(value, dict):
        found += members(value, schema, root, where)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += problems(item, schema["items"], root, f"{where}[{index}]")
    return found


def members(value, schema, root, where):
    found = [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, member in value.items():
        if key in properties:
            found += problems(member, properties[key], root, f"{where}.{key}")
        elif others is False:
            found.append(f"{where}: {key} is not in the schema")
        elif others is not True:
            found += problems(member, others, root, f"{where}.{key}")
    return found


def fields(schema, root=None):
    """Every (name, schema) of a schema's fields, nested ones too."""
    root = schema if root is None else root
    for table in [schema, *root.get("$defs", {}).values()]:
        yield from table.get("properties", {}).items()
