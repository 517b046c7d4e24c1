// clients.js LIBRARY PROXY URL...: print what the URLs answer through the proxy.
const [library, proxy, ...urls] = process.argv.slice(2)
const at = new URL(proxy)
const login = at.username && { username: decodeURIComponent(at.username), password: decodeURIComponent(at.password) }

const clients = {
  async undici() {
    const { ProxyAgent, request } = require("undici")
    const token = login && "Basic " + Buffer.from(login.username + ":" + login.password).toString("base64")
    const dispatcher = new ProxyAgent({ uri: "http://" + at.host, token })
    for (const url of urls) {
      const { statusCode, body } = await request(url, { dispatcher })
      print(statusCode, await body.text())
    }
    await dispatcher.close()
  },

  async axios() {
    const axios = require("axios")
    const own = axios.create({ proxy: { protocol: "http", host: at.hostname, port: Number(at.port), auth: login || undefined } })
    for (const url of urls) {
      const answer = await own.get(url)
      print(answer.status, answer.data)
    }
  },

  async "https-proxy-agent"() {
    const axios = require("axios")
    const { HttpsProxyAgent } = require("https-proxy-agent")
    const own = axios.create({ proxy: false, httpsAgent: new HttpsProxyAgent(proxy) })
    for (const url of urls) {
      const answer = await own.get(url)
      print(answer.status, answer.data)
    }
  },

  async chromium() {
    const { chromium } = require("playwright-core")
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ["--no-sandbox"], // it takes rights that root in a container has not
      proxy: { server: "http://" + at.host, ...login },
    })
    const page = await browser.newPage({ ignoreHTTPSErrors: true })
    for (const url of urls) {
      const answer = await page.goto(url)
      print(answer.status(), await page.textContent("body"))
    }
    await browser.close()
  },
}

function print(status, text) {
  if (status != 200) throw new Error("status " + status)
  console.log(text.trim())
}

clients[library]()
