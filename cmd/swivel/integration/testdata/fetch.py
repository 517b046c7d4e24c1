"""fetch.py LIBRARY PROXY CA URL: print what the URL answers through the proxy.

What comes in on standard input, if anything, is sent as the body of a POST.
"""
import ssl
import sys

library, proxy, ca, url = sys.argv[1:]
body = sys.stdin.buffer.read()
method = "POST" if body else "GET"

if library == "requests":
    import requests

    session = requests.Session()
    session.trust_env = False
    answer = session.request(method, url, data=body or None, verify=ca, timeout=20,
                             proxies={"http": proxy, "https": proxy})
else:
    import httpx

    # The argument was renamed in 0.26; Debian has versions of both sides.
    version = tuple(int(n) for n in httpx.__version__.split(".")[:2])
    argument = {"proxy": proxy} if version >= (0, 26) else {"proxies": proxy}
    with httpx.Client(verify=ssl.create_default_context(cafile=ca), trust_env=False, timeout=20, **argument) as client:
        answer = client.request(method, url, content=body or None)

answer.raise_for_status()
sys.stdout.buffer.write(answer.content)
