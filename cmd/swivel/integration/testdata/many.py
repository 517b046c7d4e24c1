"""many.py PROXY CA URL COUNT: get the URL that often, each time through a new tunnel.

Prints what went wrong, one line each, and then how many were answered.
"""
import concurrent.futures
import sys

import requests

proxy, ca, url, count = sys.argv[1:]


def one(number):
    session = requests.Session()
    session.trust_env = False
    try:
        answer = session.get(url, verify=ca, timeout=20, proxies={"http": proxy, "https": proxy})
        answer.raise_for_status()
        return None
    except requests.RequestException as error:
        return f"{number}: {error}"
    finally:
        session.close()


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    results = list(pool.map(one, range(int(count))))
for result in filter(None, results):
    print(result)
print(results.count(None))
