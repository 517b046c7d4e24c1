"""clients.py LIBRARY PROXY CA URL...: print what the URLs answer through the proxy.

Of a wss or ws URL, what comes back for the line "ping".
"""
import asyncio
import ssl
import sys
from urllib.parse import unquote, urlsplit

library, proxy, ca, *urls = sys.argv[1:]
trust = ssl.create_default_context(cafile=ca)
login = (unquote(urlsplit(proxy).username or ""), unquote(urlsplit(proxy).password or ""))
bare = "http://%s:%d" % (urlsplit(proxy).hostname, urlsplit(proxy).port)


def with_requests():
    import requests

    with requests.Session() as session:
        session.trust_env = False
        session.proxies = {"http": proxy, "https": proxy}
        for url in urls:
            answer = session.get(url, verify=ca, timeout=20)
            answer.raise_for_status()
            yield answer.text


def with_urllib3():
    import urllib3

    headers = urllib3.make_headers(proxy_basic_auth=":".join(login)) if login[0] else None
    manager = urllib3.ProxyManager(bare, proxy_headers=headers, ca_certs=ca)
    for url in urls:
        answer = manager.request("GET", url, timeout=20, retries=False)
        assert answer.status == 200, answer.status
        yield answer.data.decode()


def with_httpx():
    import httpx

    with httpx.Client(transport=httpx.HTTPTransport(proxy=httpx.Proxy(proxy), verify=trust), timeout=20) as client:
        for url in urls:
            answer = client.get(url)
            answer.raise_for_status()
            yield answer.text


async def all_aiohttp():
    import aiohttp

    options = {"proxy": bare, "ssl": trust}
    if login[0]:
        options["proxy_auth"] = aiohttp.BasicAuth(*login)
    got = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        for url in urls:
            if url.startswith("ws"):
                async with session.ws_connect(url, **options) as socket:
                    await socket.send_str("ping")
                    got.append(await socket.receive_str())
            else:
                async with session.get(url, **options) as answer:
                    answer.raise_for_status()
                    got.append(await answer.text())
    return got


def with_websocket():
    import websocket

    at = urlsplit(proxy)
    for url in urls:
        socket = websocket.create_connection(
            url, timeout=20, sslopt={"ca_certs": ca}, proxy_type="http", http_proxy_host=at.hostname, http_proxy_port=at.port,
            http_no_proxy=["nowhere.test"], http_proxy_auth=login if login[0] else None)
        socket.send("ping")
        yield socket.recv()
        socket.close()


def with_scrapy():
    import scrapy
    from scrapy.crawler import CrawlerProcess

    got = []

    class Spider(scrapy.Spider):
        name = "spider"

        def start_requests(self):
            for url in urls:
                yield scrapy.Request(url, meta={"proxy": proxy}, dont_filter=True)

        def parse(self, response):
            got.append(response.text)

    process = CrawlerProcess({"LOG_LEVEL": "WARNING", "RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 20})
    process.crawl(Spider)
    process.start()
    return got


if library == "aiohttp":
    answers = asyncio.run(all_aiohttp())
else:
    answers = globals()["with_" + library]()
for text in answers:
    print(text.strip())
