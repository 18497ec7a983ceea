"""Results for people.

`mission_record` opens one flown mission and `mission_*` show it; `bench_results` reads benchmark folders and
`comparison_*` compare their methods in tables, figures and a page.
"""
