// The admin API. Paths are relative, so that the page also works behind a
// reverse proxy that gives it a folder.

// The token lives as long as the tab; nobody else's page can read it.
let token = sessionStorage.getItem("token") ?? "";

export function useToken(value) {
  token = value;
  sessionStorage.setItem("token", value);
}

// Refused is an answer that is not the one asked for; message is for people.
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`api/v1/${path}`, { cache: "no-store", ...options, headers });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Refused(response.status, problem.error ?? response.statusText);
}

export const get = async (path, query = {}) => (await list(path, query)).items;

// list also says how many there are beyond the part that was asked for.
export async function list(path, query = {}) {
  const wanted = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined));
  const response = await request(wanted.size ? `${path}?${wanted}` : path);
  return { items: await response.json(), total: Number(response.headers.get("X-Total-Count")) };
}

export async function post(path, body) {
  const response = await request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return response.json();
}

// events yields what happens, until the stream ends. EventSource cannot send a
// token, so the stream is read here: lines, and an empty one behind each event.
// opened is called when it begins.
export async function* events(after, opened) {
  const response = await request("events", { headers: after ? { "Last-Event-ID": String(after) } : {} });
  opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
