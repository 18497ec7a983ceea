"""Commands that a person types, one file a verb.

`cli` dispatches; a verb parses its arguments, calls what lies below and prints. Pages for a browser are in `view`.
"""
