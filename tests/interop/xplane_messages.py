# SPDX-License-Identifier: Apache-2.0
"""The messages of XProf's profiles, for Python. No package that is cheap to install has them.

Source: xplane.proto of XProf and TensorFlow (tsl/profiler/protobuf), as far as profiles have its fields.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "steptape.test"

# Message -> fields, each with its number, type and whether it is repeated; maps have an integer as key.
_MESSAGES = {
    "XSpace": {"planes": (1, "XPlane", True), "errors": (2, "string", True), "warnings": (3, "string", True),
               "hostnames": (4, "string", True)},
    "XPlane": {"id": (1, "int64", False), "name": (2, "string", False), "lines": (3, "XLine", True),
               "event_metadata": (4, "map XEventMetadata", True), "stat_metadata": (5, "map XStatMetadata", True),
               "stats": (6, "XStat", True)},
    "XLine": {"id": (1, "int64", False), "display_id": (10, "int64", False), "name": (2, "string", False),
              "display_name": (11, "string", False), "timestamp_ns": (3, "int64", False),
              "duration_ps": (9, "int64", False), "events": (4, "XEvent", True)},
    "XEvent": {"metadata_id": (1, "int64", False), "offset_ps": (2, "int64", False),
               "duration_ps": (3, "int64", False), "stats": (4, "XStat", True),
               "num_occurrences": (5, "int64", False)},
    "XStat": {"metadata_id": (1, "int64", False), "double_value": (2, "double", False),
              "uint64_value": (3, "uint64", False), "int64_value": (4, "int64", False),
              "str_value": (5, "string", False), "bytes_value": (6, "bytes", False),
              "ref_value": (7, "uint64", False)},
    "XEventMetadata": {"id": (1, "int64", False), "name": (2, "string", False), "metadata": (3, "bytes", False),
                       "display_name": (4, "string", False), "stats": (5, "XStat", True),
                       "child_id": (6, "int64", True)},
    "XStatMetadata": {"id": (1, "int64", False), "name": (2, "string", False), "description": (3, "string", False)},
}


def _schema():
    file = descriptor_pb2.FileDescriptorProto(name="steptape_test_xplane.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, is_repeated) in fields.items():
            label = _FIELD.LABEL_REPEATED if is_repeated else _FIELD.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, label=label)
            if kind.startswith("map "):
                entry = message.nested_type.add(name=field.title().replace("_", "") + "Entry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, label=_FIELD.LABEL_OPTIONAL, type=_FIELD.TYPE_INT64)
                entry.field.add(name="value", number=2, label=_FIELD.LABEL_OPTIONAL, type=_FIELD.TYPE_MESSAGE,
                                type_name=f".{_PACKAGE}.{kind[4:]}")
                added.type, added.type_name = _FIELD.TYPE_MESSAGE, f".{_PACKAGE}.{name}.{entry.name}"
            elif kind in _MESSAGES:
                added.type, added.type_name = _FIELD.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                added.type = getattr(_FIELD, f"TYPE_{kind.upper()}")
    # Which value a statistic has, counts also if it is 0.
    message = next(message for message in file.message_type if message.name == "XStat")
    message.oneof_decl.add(name="value")
    for field in message.field[1:]:
        field.oneof_index = 0
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_schema())
XSpace = message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.XSpace"))
