"""Makes questions whose answers are computed from scenarios, never written by a model.

`drafts` is a question with its value and named mistakes, `vehicle` and `space` are the templates (styles 1 and 7, 2 and
5), `making` draws a set and puts it through the gate.
"""
