import assert from "node:assert/strict"
import { test } from "node:test"
import { openBench } from "./plugin_bench.mjs"

const HIT = { path: "Broadcom.md", startLine: 1, endLine: 3, score: 0.4, snippet: "AVGO", source: "memory", corpus: "memory", citation: "[[Broadcom]]" }
const GROUP = "agent:main:telegram:group:-1"

const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench({ form: "beside", ...options })
    try {
      await work(bench)
    } finally {
      await bench.close()
    }
  })

benched("the vault is one more corpus, and takes no slot and no hook of a conversation", { answers: { search: { results: [HIT] } } }, async (bench) => {
  assert.equal(bench.plugin.kind, undefined)
  assert.deepEqual([...bench.hooks.keys()], ["before_tool_call", "before_dispatch", "subagent_spawned"])
  const [found] = await bench.registered.corpus.search({ query: "AVGO", agentSessionKey: "agent:main:main" })
  assert.deepEqual([found.corpus, found.path, found.startLine, found.score, found.citation], ["wiki", "Broadcom.md", 1, 0.4, "[[Broadcom]]"])
  assert.deepEqual(bench.bodies("search"), [{ query: "AVGO", maxResults: 4 }])
})

benched("a note is read by its path; one that is not there is left to the next corpus", { answers: { read: ({ path }) => (path === "A.md" ? { status: "ok", text: "a\nb", path, from: 2, lines: 2 } : { status: "not_found", text: "", path }) } }, async (bench) => {
  const found = await bench.registered.corpus.get({ lookup: "A.md", fromLine: 2, lineCount: 2 })
  assert.deepEqual([found.content, found.fromLine, found.lineCount, found.path], ["a\nb", 2, 2, "A.md"])
  assert.equal(await bench.registered.corpus.get({ lookup: "B.md" }), null)
})

benched("a group gets nothing of it", { answers: { search: { results: [HIT] } } }, async (bench) => {
  assert.deepEqual(await bench.registered.corpus.search({ query: "x", agentSessionKey: GROUP }), [])
  assert.equal(await bench.registered.corpus.get({ lookup: "A.md", agentSessionKey: GROUP }), null)
  assert.deepEqual(bench.registered.supplement({ availableTools: new Set(["memory_search"]), agentSessionKey: GROUP }), [])
  assert.deepEqual(bench.asked, [])
})

benched("where groups speak in the owner's session, nobody does", { openclaw: { bindings: [{ session: { groupScope: "main" } }] } }, async (bench) => {
  assert.deepEqual(await bench.registered.corpus.search({ query: "x", agentSessionKey: "agent:main:main" }), [])
})

benched("the prompt names the corpus where there is a tool to ask it with", {}, async (bench) => {
  const lines = (tools) => bench.registered.supplement({ availableTools: new Set(tools), agentSessionKey: "agent:main:main" })
  assert.match(lines(["memory_search"]).join("\n"), /corpus=wiki/)
  assert.deepEqual(lines([]), [])
})

benched("a service that is down is an error of this corpus alone", {}, async (bench) => {
  await bench.down()
  await assert.rejects(bench.registered.corpus.search({ query: "x" }), /ECONNREFUSED/)
  assert.equal(bench.log.warn.length, 1)
})

benched("with owners named, only their calls of a tool reach the vault", { config: { owners: ["42"] }, answers: { search: { results: [HIT] }, read: { status: "ok", text: "a", path: "A.md" } } }, async (bench) => {
  const key = "agent:main:main"
  const found = async () => (await bench.registered.corpus.search({ query: "x", agentSessionKey: key })).length
  const calls = (requester, channelId) => bench.fire("before_tool_call", { toolName: "memory_search" }, { sessionKey: key, channelId, requester })
  assert.equal(await found(), 0, "nobody is known to ask")
  await calls({ channel: "telegram", senderId: "42" }, "telegram:42")
  assert.equal(await found(), 1)
  await calls({ channel: "telegram", senderId: "43" }, "telegram:43")
  assert.equal(await found(), 0)
  assert.equal(await bench.registered.corpus.get({ lookup: "A.md", agentSessionKey: key }), null)
  await calls({ senderIsOwner: true }, "telegram:43")
  assert.equal(await found(), 1, "the command line")
  await calls(undefined, "telegram:43")
  assert.equal(await found(), 0, "a heartbeat to somebody else")
})
