"""Pages for a browser on this machine: images, a map and keys, served without a build step.

`viewer` is the process of `esar mission --view` and `live` its page; `simulator` is the page of `esar sim --view`.
"""
