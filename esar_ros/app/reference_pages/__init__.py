"""Pages of docs/reference made from the code, one module a page."""
