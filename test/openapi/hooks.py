"""
What a description cannot say: an empty parameter is an absent one, so whatever becomes one in a query is no bad data. And a mark in
every input, by which it is recognised in what the service writes.
"""

import os

import schemathesis

MARK = os.environ["INPUT_MARKER"] + "openapi"


def is_empty(value):
    if isinstance(value, dict):
        return all(is_empty(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return all(is_empty(each) for each in value)
    return value in ("", None)


@schemathesis.hook
def filter_query(context, query):
    return not any(is_empty(value) for value in (query or {}).values())


def with_mark(value):
    """The same value; every object that is an input has a member with the mark."""
    if isinstance(value, list):
        return [with_mark(each) for each in value]
    if not isinstance(value, dict):
        return value
    marked = {name: with_mark(each) for name, each in value.items()}
    if isinstance(marked.get("the service"), dict):
        marked["the service"]["note"] = MARK
    return marked


@schemathesis.hook
def map_body(context, body):
    return with_mark(body)
