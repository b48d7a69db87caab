// A gateway's side of the plugin, as the real one (2026.9.6) was seen to behave, and a service that answers as it
// is told to. Run by test_openclaw_plugin.py, which names the folders of the plugins.
import { createHmac } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const folderOf = { slot: process.env.HINDBRAIN_SLOT_PLUGIN, beside: process.env.HINDBRAIN_BESIDE_PLUGIN }
export const load = (form, file = "index.js") => import(pathToFileURL(join(folderOf[form], file)).href)

export const SESSION = "8a448bc0-3a9f-4554-9862-dee47cc9e2fe"
export const PLAN = {
  softThresholdTokens: 4000, forceFlushTranscriptBytes: 2097152, reserveTokensFloor: 20000,
  prompt: "Append to memory/YYYY-MM-DD.md", systemPrompt: "Only memory/YYYY-MM-DD.md", folder: "memory",
  byDate: true, taken: true,
}
const ANSWERS = {
  status: { api: 1, version: "0.1.0", vault: "/vault", index: { state: "ready", notes: 3 }, embedder: "builtin/x", problems: [] },
  context: { context: "", tokens: 0, notices: [], keptUntil: 0 },
  card: { text: "" },
  said: { keptUntil: 0 },
  event: { keptUntil: 0 },
  "flush-plan": PLAN,
  flushed: { note: "Daily/2026-11-16.md", added: 1 },
  search: { results: [], provider: "hindbrain", model: "builtin/x", citations: "on", debug: { backend: "hindbrain", searchMs: 1, hits: 0 } },
  read: { status: "not_found", text: "", path: "x" },
  save: { action: "stored", id: "m-1", text: "t", path: "", citation: "", reasons: [] },
}

const forget = () => delete globalThis[Symbol.for("hindbrain.openclaw 1")] // as a new process would
// Everything that a test opens is closed with `bench.close()`.
export async function openBench({ config = {}, openclaw = {}, entries = {}, form = "slot", answers = {} } = {}) {
  forget()
  const folder = mkdtempSync(join(tmpdir(), "plugin-"))
  const tokenFile = join(folder, "token")
  writeFileSync(tokenFile, "first-token\n")
  const asked = []
  const replies = { ...ANSWERS, ...answers } // an object; a function of the body; {status, text}; "silence"
  const server = http.createServer((request, response) => {
    let text = ""
    request.on("data", (data) => (text += data))
    request.on("end", () => {
      const route = new URL(request.url, "http://x").pathname.replace("/v1/", "")
      const nonce = request.headers["x-hindbrain-nonce"]
      if (nonce && !request.headers.authorization) {
        bench.proofs += 1
        const token = bench.squats ? "guessed" : readFileSync(tokenFile, "utf8").trim()
        const proof = createHmac("sha256", token).update(`hindbrain ${nonce}`).digest("hex")
        response.writeHead(401, { "www-authenticate": `Bearer realm="hindbrain", proof="${proof}"`, connection: "close" })
        return response.end("{}")
      }
      const body = text ? JSON.parse(text) : null
      asked.push({ route, body, headers: request.headers, url: request.url })
      const reply = typeof replies[route] === "function" ? replies[route](body) : replies[route]
      if (reply === "silence") return
      const raw = typeof reply?.raw === "string"
      response.writeHead(reply?.httpStatus ?? 200, { "content-type": "application/json", connection: "close" })
      response.end(raw ? reply.raw : JSON.stringify(reply))
    })
  })
  const listen = (port) => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve))
  await listen(0)
  const { port } = server.address()
  const log = { warn: [], info: [], debug: [] }
  const hooks = new Map()
  const registered = { tools: [], names: [] }
  const api = {
    pluginConfig: { baseUrl: `http://127.0.0.1:${port}`, tokenFile, ...config },
    config: openclaw,
    logger: Object.fromEntries(Object.keys(log).map((level) => [level, (text) => log[level].push(text)])),
    runtime: { agent: { session: { getSessionEntry: ({ sessionKey }) => entries[sessionKey] } } },
    on: (name, hook, options) => hooks.set(name, { hook, options }),
    registerMemoryCapability: (capability) => (registered.capability = capability),
    registerMemoryCorpusSupplement: (supplement) => (registered.corpus = supplement),
    registerMemoryPromptSupplement: (builder) => (registered.supplement = builder),
    registerTool: (make, options) => Object.assign(registered, { makeTools: make, names: options.names }),
  }
  const plugin = (await load(form)).default
  plugin.register(api)
  const bench = {
    proofs: 0, // that were asked for
    squats: false, // another program has the port
    folder, tokenFile, port, asked, replies, log, hooks, registered, api, plugin,
    fire: (name, event, ctx) => hooks.get(name).hook(event, ctx),
    routes: (route) => asked.filter((one) => one.route === route),
    bodies: (route) => asked.filter((one) => one.route === route).map(({ body }) => body),
    // The same plugin in a gateway that was started again.
    again: () => forget() && plugin.register(api),
    // The same plugin once more in the same gateway; its modules are its own.
    async twin() {
      const { default: other } = await import(`${pathToFileURL(join(folderOf[form], "index.js")).href}?twin`)
      const hooks = new Map()
      const more = { ...api, on: (name, hook) => hooks.set(name, hook), registerTool: (make) => hooks.set("tools", make) }
      other.register(more)
      return hooks
    },
    down: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve) }),
    up: () => listen(port),
    tool: (name, ctx = context()) => registered.makeTools(ctx).find((tool) => tool.name === name),
    async close() {
      server.closeAllConnections()
      if (server.listening) await bench.down()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return bench
}

let runs = 0
// What hooks are given with a private message of the owner over Telegram; `more` changes it.
export const context = (more = {}) => ({
  runId: `run-${++runs}`, agentId: "main", sessionKey: "agent:main:main", sessionId: SESSION, workspaceDir: "/workspace",
  trigger: "user", channel: "telegram", messageProvider: "telegram", channelId: "42", chatId: "42", senderId: "42", ...more,
})
export const inGroup = (more = {}) =>
  context({ sessionKey: "agent:main:telegram:group:-100555", sessionId: "group-session", channelId: "-100555", chatId: "-100555", senderId: "43", ...more })

let clock = 1794848400000
// Messages as they are in their own turn ...
export const fresh = (text, key) => ({
  role: "user", content: [{ type: "text", text }], timestamp: (clock += 5000), ...(key ? { idempotencyKey: `channel-user:v1:${key}` } : {}),
})
export const answer = (text, ...calls) => ({
  role: "assistant", content: [...(text ? [{ type: "text", text }] : []), ...calls], timestamp: (clock += 5000), stopReason: "stop",
})
// ... and in every later one.
export const settled = (message, runId) =>
  message.role === "user"
    ? {
        ...message, content: message.content[0].text, timestamp: message.timestamp - 7000,
        idempotencyKey: message.idempotencyKey ?? message.later ?? `${runId}:user`, __openclaw: { senderIsOwner: false },
      }
    : { ...message, __openclaw: { runId } }

// One whole turn: what came before, what is new. Returns what goes before the prompt.
export async function turn(bench, history, added, more = {}, make = context) {
  const ctx = make(more)
  const prompt = added[0]?.content?.[0]?.text ?? ""
  const given = await bench.fire("before_prompt_build", { prompt, messages: history }, ctx)
  const { inputProvenance, ...ending } = ctx // it is not told at the end
  await bench.fire("agent_end", { messages: [...history, ...added], success: true, runId: ctx.runId }, ending)
  return { given, runId: ctx.runId, after: [...history, ...added.map((one) => settled(one, ctx.runId))] }
}

export const saidTexts = (bench) => bench.bodies("said").flatMap(({ messages }) => messages.map(({ text }) => text))
