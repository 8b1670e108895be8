"""A page on this machine that shows the library's algorithms step by step.

``structlearn workbench`` serves it, by :func:`~structlearn.workbench.server.make_server`.
"""
