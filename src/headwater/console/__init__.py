"""The web console: the platform in a browser.

`model/` asks the cluster, the registry, the monitor and the platform, and knows no page; `view/`
has the pages, one file each, on NiceGUI; `gate.py` stands in front of both.
"""
