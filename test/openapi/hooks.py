"""What a description cannot say: an empty parameter is an absent one, so whatever becomes one in a query is no bad data."""

import schemathesis


def is_empty(value):
    if isinstance(value, dict):
        return all(is_empty(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return all(is_empty(each) for each in value)
    return value in ("", None)


@schemathesis.hook
def filter_query(context, query):
    return not any(is_empty(value) for value in (query or {}).values())
