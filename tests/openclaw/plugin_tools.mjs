import assert from "node:assert/strict"
import { test } from "node:test"
import { context, inGroup, openBench } from "./plugin_bench.mjs"

const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench(options)
    try {
      await work(bench)
    } finally {
      await bench.close()
    }
  })
const HIT = { path: "Broadcom.md", startLine: 1, endLine: 3, score: 0.4, snippet: "AVGO", source: "memory", corpus: "memory", citation: "[[Broadcom]]" }
const OLD = { ...HIT, path: "Sessions/1.md", source: "sessions" }
const FOUND = { results: [HIT, OLD], provider: "hindbrain", model: "m", citations: "on", debug: { backend: "hindbrain", searchMs: 1, hits: 2 } }
const ALL = new Set(["memory_search", "memory_get", "memory_save"])

benched("the tools have OpenClaw's own schemas and are listed directly", {}, async (bench) => {
  const tools = bench.registered.makeTools(context())
  assert.deepEqual(bench.registered.names, ["memory_search", "memory_get", "memory_save"])
  assert.deepEqual(tools.map(({ name, label, catalogMode }) => [name, label, catalogMode]), [
    ["memory_search", "Memory Search", "direct-only"], ["memory_get", "Memory Get", "direct-only"], ["memory_save", "Memory Save", "direct-only"],
  ])
  const schema = (properties, required) => ({ type: "object", properties, required: [required], additionalProperties: false })
  const count = { type: "integer", minimum: 1 }
  assert.deepEqual(tools[0].parameters, schema({ query: { type: "string" }, maxResults: count, minScore: { type: "number" }, corpus: { type: "string", enum: ["memory", "wiki", "all", "sessions"] } }, "query"))
  assert.deepEqual(tools[1].parameters, schema({ path: { type: "string" }, from: count, lines: count, corpus: { type: "string", enum: ["memory", "wiki", "all"] } }, "path"))
  assert.deepEqual(Object.keys(tools[2].parameters.properties), ["text", "category", "importance", "tags"])
})

benched("a search gives the service's hits as text and as data", { answers: { search: FOUND } }, async (bench) => {
  const { content, details } = await bench.tool("memory_search").execute("1", { query: "AVGO", corpus: "all" })
  assert.deepEqual(details, FOUND)
  assert.deepEqual(JSON.parse(content[0].text), FOUND)
  assert.deepEqual(bench.bodies("search"), [{ query: "AVGO", corpus: "all", maxResults: 4 }])
  await bench.tool("memory_search").execute("2", { query: "AVGO", maxResults: 900 })
  assert.equal(bench.bodies("search")[1].maxResults, 50)
})

benched("reading and saving ask for what the model gave", {}, async (bench) => {
  const read = await bench.tool("memory_get").execute("1", { path: "A.md", from: 2, lines: 3, corpus: "all" })
  assert.deepEqual(read.details, { status: "not_found", text: "", path: "x" })
  assert.deepEqual(bench.bodies("read"), [{ path: "A.md", from: 2, lines: 3 }])
  const saved = await bench.tool("memory_save").execute("2", { text: "Ann likes tea.", tags: ["t"] })
  assert.equal(saved.details.action, "stored")
  assert.deepEqual(bench.bodies("save"), [{ text: "Ann likes tea.", tags: ["t"] }])
})

benched("when memory can't be looked into, tools say so and do not fail", {}, async (bench) => {
  await bench.down()
  const { details } = await bench.tool("memory_search").execute("1", { query: "x" })
  assert.deepEqual([details.results, details.disabled, details.unavailable], [[], true, true])
  assert.match(details.error, /ECONNREFUSED/)
  assert.equal((await bench.tool("memory_get").execute("2", { path: "A.md" })).details.status, "error")
  assert.equal((await bench.tool("memory_save").execute("3", { text: "x" })).details.unavailable, true)
  assert.equal(bench.log.warn.length, 1)
})

benched("a wrong argument is told to the model and is no outage", { answers: { search: { httpStatus: 400, error: { code: "usage", message: "minScore is too large" } } } }, async (bench) => {
  const { details } = await bench.tool("memory_search").execute("1", { query: "x", minScore: 7 })
  assert.deepEqual(details, { results: [], error: "minScore is too large" })
  assert.deepEqual(bench.log.warn, [])
})

const MISTAKES = {
  "a path that leads out": [400, "unsafe_path"],
  "a note that must not be read": [403, "refused"],
  "a name that two notes have": [409, "ambiguous"],
}
for (const [name, [httpStatus, code]] of Object.entries(MISTAKES)) {
  benched(`what can't be read for the sake of its path is no outage: ${name}`, { answers: { read: { httpStatus, error: { code, message: "'../x' is no path" } } } }, async (bench) => {
    const { details } = await bench.tool("memory_get").execute("1", { path: "../x" })
    assert.deepEqual(details, { status: "error", text: "", path: "../x", error: "'../x' is no path" })
    assert.deepEqual(bench.log.warn, [])
    assert.equal(bench.registered.capability.runtime && (await bench.fire("before_prompt_build", { prompt: "x", messages: [] }, context())), undefined)
  })
}

benched("a vault that is gone is an outage to a tool, too", { answers: { read: { httpStatus: 404, error: { code: "not_found", message: "no vault at '/notes'" } } } }, async (bench) => {
  assert.equal((await bench.tool("memory_get").execute("1", { path: "A.md" })).details.unavailable, true)
  assert.equal(bench.log.warn.length, 1)
})

benched("OpenClaw goes on putting into prompts who the user is, and leaves out its own memory", {}, async (bench) => {
  const { runtime } = bench.registered.capability
  const eligible = async (given) => {
    const found = await runtime.classifyWorkspaceMemoryPaths({ workspaceDir: bench.folder, ...given })
    return found.filter(({ originClass }) => originClass === "agent").map(({ relativePath }) => relativePath)
  }
  const relativePaths = ["USER.md", "users/ann/USER.md", "MEMORY.md", "memory/2026-11-16.md", "../USER.md", "a/USER.md"]
  assert.deepEqual(await eligible({ relativePaths }), ["USER.md", "users/ann/USER.md"])
  assert.equal(runtime.supportsWorkspaceMemoryReadSources, true)
  const readSources = [{ relativePath: "USER.md", canonicalRelativePath: "MEMORY.md" }, { relativePath: "users/a/USER.md" }]
  assert.deepEqual(await eligible({ relativePaths: ["USER.md", "users/a/USER.md"], readSources }), [])
})

benched("a tool waits for an answer also after a slow one, and no longer than its time", { config: { timeoutMs: 150 }, answers: { search: "silence" } }, async (bench) => {
  for (const id of ["1", "2"]) {
    const { details } = await bench.tool("memory_search").execute(id, { query: "x" })
    assert.match(details.error, /150 ms/)
  }
  assert.equal(bench.routes("search").length, 2)
})

benched("a run that is broken off breaks off its search", { answers: { search: "silence" } }, async (bench) => {
  const stop = new AbortController()
  const running = bench.tool("memory_search").execute("1", { query: "x" }, stop.signal)
  while (!bench.asked.length) await new Promise((resolve) => setTimeout(resolve, 5))
  stop.abort()
  await assert.rejects(running, { name: "AbortError" })
  assert.deepEqual(bench.log.warn, [])
})

benched("a tool that was given before a chat was known to be a group's is closed when it runs", { answers: { search: FOUND } }, async (bench) => {
  const tool = bench.tool("memory_search", context({ chatId: undefined, nativeChannelId: "-7", deliveryContext: { channel: "telegram", to: "telegram:-7" } }))
  await bench.fire("before_dispatch", { isGroup: true }, { channelId: "telegram", conversationId: "-7" })
  assert.equal((await tool.execute("1", { query: "x" })).details.disabled, true)
  assert.deepEqual(bench.asked, [])
})

benched("the gateway's own search and status are answered", { answers: { search: FOUND } }, async (bench) => {
  const { runtime } = bench.registered.capability
  const { manager } = await runtime.getMemorySearchManager({ agentId: "main", purpose: "status" })
  assert.deepEqual(await manager.search("AVGO", { maxResults: 2 }), [HIT, OLD])
  assert.deepEqual(await manager.search("AVGO", { sources: ["memory"] }), [HIT])
  assert.deepEqual(await manager.search("AVGO", { sessionKey: inGroup().sessionKey }), [])
  assert.deepEqual(await manager.readFile({ relPath: "x", from: 1 }), { status: "not_found", text: "", path: "x" })
  const status = manager.status()
  assert.deepEqual([status.backend, status.provider, status.model, status.files, status.dirty], ["builtin", "hindbrain", "builtin/x", 3, false])
  assert.deepEqual(await manager.probeEmbeddingAvailability(), { ok: true })
  assert.equal(await manager.probeVectorAvailability(), true)
  assert.deepEqual(runtime.resolveMemoryBackendConfig(), { backend: "builtin" })
  assert.deepEqual(await runtime.authorizeSearchHits({ requesterSessionKey: "agent:main:main", hits: [HIT] }), [HIT])
  assert.deepEqual(await runtime.authorizeSearchHits({ requesterSessionKey: inGroup().sessionKey, hits: [HIT] }), [])
  await manager.sync({ reason: "post-compaction" })
  await bench.down()
  assert.match((await runtime.getMemorySearchManager({ agentId: "main" })).error, /ECONNREFUSED/)
  assert.match(manager.status().lastSyncError, /ECONNREFUSED/)
})

benched("the prompt tells how memory is used, by the tools that there are", {}, async (bench) => {
  const lines = (tools, citationsMode) => bench.registered.capability.promptBuilder({ availableTools: new Set(tools), citationsMode, agentSessionKey: "agent:main:main" }).join("\n")
  assert.match(lines(ALL), /memory_search[^]*memory_get[^]*memory_save[^]*Source: <path#line>/)
  assert.doesNotMatch(lines(["memory_search"]), /memory_get|memory_save/)
  assert.doesNotMatch(lines(ALL, "off"), /Source:/)
  assert.equal(lines(["read"]), "")
})

const CARD = { card: { text: "The user is called Ann." } }
const cardOf = async (bench, more) => (await bench.fire("before_prompt_build", { prompt: "Hello", messages: [] }, context(more)))?.appendSystemContext

benched("the card is asked for once in a window, so that the prompt stays the same", { answers: CARD }, async (bench) => {
  assert.equal(await cardOf(bench), "The user is called Ann.")
  bench.replies.card = { text: "The user is called Ann and likes tea." }
  assert.equal(await cardOf(bench), "The user is called Ann.")
  await bench.fire("after_compaction", {}, context())
  assert.equal(await cardOf(bench), "The user is called Ann and likes tea.")
  assert.equal(await cardOf(bench, { sessionKey: "agent:main:subagent:1" }), undefined)
})

benched("without the service the prompt has no card, and the turn goes on", {}, async (bench) => {
  await bench.down()
  assert.equal(await cardOf(bench), undefined)
})
