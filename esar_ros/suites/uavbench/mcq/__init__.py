"""Multiple-choice questions about UAV missions: read and checked, put to a language model, scored, compared.

`item` is one question, `reading` its files, `protocol` how it is put and how an answer is read, `run` a model's answers
with resume, `baselines` what needs no understanding, `measures` the paper's scores with intervals, `report` the tables.
"""
