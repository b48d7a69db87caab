import assert from "node:assert/strict"
import { test } from "node:test"
import { answer, context, fresh, load, openBench, saidTexts, SESSION, settled, turn } from "./plugin_bench.mjs"

const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench(options)
    try {
      await work(bench)
    } finally {
      await bench.close()
    }
  })
const call = (id, name, given) => ({ type: "toolCall", id, name, arguments: given })
const result = (id, name, text, isError = false) => ({ role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError, timestamp: Date.now() })

benched("each message is handed over once, though its text, time and id change after its turn", {}, async (bench) => {
  const one = await turn(bench, [], [fresh("one", "a"), answer("1")])
  const two = await turn(bench, one.after, [fresh("two"), answer("2")]) // from the command line: no key yet
  const queued = { ...fresh("three"), later: "channel-user:v1:c" } // waited for a turn: its key comes after it
  const three = await turn(bench, two.after, [queued, answer("3")])
  const four = await turn(bench, three.after, [fresh("four", "d")]) // the model failed
  await turn(bench, four.after, [fresh("four", "e"), answer("4")])
  assert.deepEqual(saidTexts(bench), ["one", "1", "two", "2", "three", "3", "four", "four", "4"])
  const [first] = bench.bodies("said")
  assert.equal(first.session, SESSION)
  assert.equal(first.workspace, "/workspace")
  assert.deepEqual(Object.keys(first.messages[0]).sort(), ["at", "id", "role", "text"])
})

benched("a gateway that was started again sends what was not kept, and knows it by the same ids", {}, async (bench) => {
  const one = await turn(bench, [], [fresh("one", "a"), answer("1")])
  bench.replies.said = { httpStatus: 503, error: { code: "busy", message: "busy" } }
  const two = await turn(bench, one.after, [fresh("two", "b"), answer("2")])
  bench.again()
  bench.replies.said = { keptUntil: 0 }
  bench.replies.context = { context: "", keptUntil: bench.bodies("said")[0].messages.at(-1).at }
  await turn(bench, two.after, [fresh("three", "c"), answer("3")])
  const sent = bench.bodies("said").at(-1).messages
  assert.deepEqual(sent.map(({ text }) => text), ["two", "2", "three", "3"])
  assert.deepEqual(sent.slice(0, 2).map(({ id }) => id), bench.bodies("said").at(-2).messages.map(({ id }) => id))
})

benched("a message that waited while another turn ran keeps its place, whatever its time says", {}, async (bench) => {
  const first = fresh("one", "a")
  const late = answer("1")
  const second = { ...fresh("two", "b"), timestamp: late.timestamp - 3000 }
  await turn(bench, [settled(first, "r1"), settled(late, "r1"), settled(second, "r2")], [fresh("three", "c")])
  const times = bench.bodies("said")[0].messages.map(({ at }) => at)
  assert.deepEqual(times, times.toSorted((a, b) => a - b))
  assert.equal(new Set(times).size, times.length)
})

benched("what was said while the service was down outlives a compaction", {}, async (bench) => {
  await bench.down()
  const one = await turn(bench, [], [fresh("one", "a"), answer("1")])
  await bench.up()
  const summary = { role: "compactionSummary", summary: "they spoke", timestamp: one.after.at(-1).timestamp + 99_000 }
  await bench.fire("after_compaction", { messageCount: 1, compactedCount: 2 }, context())
  await turn(bench, [summary], [fresh("two", "b"), answer("2")])
  assert.deepEqual(saidTexts(bench), ["one", "1", "two", "2"])
  assert.deepEqual(bench.bodies("event").map(({ session, event }) => [session, event]), [[SESSION, "compacted"]])
})

benched("a compaction that gives the session another id sends nothing again", {}, async (bench) => {
  const one = await turn(bench, [], [fresh("one", "a"), answer("1")])
  await bench.fire("after_compaction", { previousSessionId: SESSION }, context({ sessionId: "next" }))
  await turn(bench, one.after, [fresh("two", "b"), answer("2")], { sessionId: "next" })
  assert.deepEqual(saidTexts(bench), ["one", "1", "two", "2"])
})

benched("turns in which nobody spoke are left out, also when they are history", {}, async (bench) => {
  const poll = { ...fresh("[OpenClaw heartbeat poll]"), idempotencyKey: "x:user" }
  const beat = await turn(bench, [], [poll, answer("All quiet.")], { trigger: "heartbeat" })
  const history = [...beat.after, ...[fresh("Read your file", "cr"), answer("Read.")].map((one) => settled(one, "r"))]
  history[2].provenance = { kind: "internal_system", sourceTool: "cron" }
  const announce = fresh("A background task completed. Use this result.\n\n[Inter-session message] sourceTool=subagent_announce isUser=false")
  const told = await turn(bench, history, [announce, answer("The child is done.")], { inputProvenance: { kind: "inter_session" } })
  await turn(bench, told.after, [fresh("one", "a"), answer("1")])
  assert.deepEqual(saidTexts(bench), ["one", "1"])
})

benched("calls of tools and their answers are handed over, but not what memory itself said", {}, async (bench) => {
  await turn(bench, [], [
    fresh("build it", "a"),
    answer("", call("call_1", "exec", { command: "make" }), call("call_2", "memory_search", { query: "x" })),
    result("call_1", "exec", "error: no rule", true),
    result("call_2", "memory_search", "SECRET OF A NOTE"),
    answer("", call("call_3", "tool_call", { id: "openclaw:core:web_fetch", args: { url: "u" } })),
    result("call_3", "tool_call", "a page"),
    answer("It fails."),
  ])
  const sent = bench.bodies("said")[0].messages
  assert.deepEqual(sent.map(({ role, text, tool, call: paired, failed }) => [role, text, tool, paired, failed]), [
    ["user", "build it", undefined, undefined, undefined],
    ["assistant", "make", "exec", "call1", undefined],
    ["tool", "error: no rule", "exec", "call1", true],
    ["assistant", '{"url":"u"}', "web_fetch", "call3", undefined],
    ["tool", "a page", "web_fetch", "call3", undefined],
    ["assistant", "It fails.", undefined, undefined, undefined],
  ])
})

benched("a long session is handed over in parts", {}, async (bench) => {
  const long = "x".repeat(300_000)
  await turn(bench, [], [fresh(`${long}1`, "a"), answer(`${long}2`), answer(`${long}3`)])
  assert.deepEqual(bench.bodies("said").map(({ messages }) => messages.length), [1, 1, 1])
})

benched("a message that the service never takes is not in the way of the others, and is told once", {}, async (bench) => {
  bench.replies.said = ({ messages }) => (messages.some(({ text }) => text === "bad") ? { httpStatus: 413, error: { code: "refused", message: "too large" } } : { keptUntil: 0 })
  const one = await turn(bench, [], [fresh("one", "a"), answer("bad"), answer("1")])
  await turn(bench, one.after, [fresh("two", "b"), answer("2")])
  const taken = bench.bodies("said").filter(({ messages }) => messages.every(({ text }) => text !== "bad")).flatMap(({ messages }) => messages.map(({ text }) => text))
  assert.deepEqual(taken, ["one", "1", "two", "2"])
  assert.equal(bench.log.warn.length, 1)
  assert.match(bench.log.warn[0], /too large/)
})

benched("of a message without end the beginning is handed over", {}, async (bench) => {
  await turn(bench, [], [fresh("x".repeat(499_999) + "😀".repeat(5_000_000), "a")])
  const [text] = saidTexts(bench)
  assert.equal(text.length, 500_000)
  assert.ok(text.isWellFormed())
})

benched("turns that end at the same time hand over each message once", {}, async (bench) => {
  const messages = [fresh("one", "a"), answer("1")]
  await Promise.all([1, 2, 3].map(() => bench.fire("agent_end", { messages, success: true }, context())))
  assert.deepEqual(saidTexts(bench), ["one", "1"])
})

benched("a reset hands over what is left, and is told", {}, async (bench) => {
  const history = [fresh("one", "a"), answer("1")].map((one) => settled(one, "r"))
  const ctx = context({ runId: undefined })
  await bench.fire("session_end", { sessionId: SESSION, reason: "new", nextSessionId: SESSION }, ctx)
  await bench.fire("session_start", { sessionId: SESSION, resumedFrom: SESSION }, ctx)
  await bench.fire("before_reset", { messages: history, reason: "new" }, ctx)
  assert.deepEqual(bench.bodies("event").map(({ event, reason }) => [event, reason]), [["reset", "new"], ["session-start", undefined]])
  assert.deepEqual(saidTexts(bench), ["one", "1"])
})

benched("at the gateway's end what waits is tried once more, and the end is told", {}, async (bench) => {
  bench.replies.said = { httpStatus: 503, error: { code: "busy", message: "busy" } }
  await turn(bench, [], [fresh("one", "a"), answer("1")])
  bench.replies.said = { keptUntil: 0 }
  await bench.fire("session_end", { reason: "shutdown" }, context())
  assert.equal(bench.bodies("said").length, 2)
  assert.deepEqual(bench.bodies("event").map(({ event, reason }) => [event, reason]), [["session-end", "shutdown"]])
})

test("only the words of a person are kept of what stands around them", async () => {
  const { ownWords } = await load("slot", "words.js")
  const envelope = '[Mon 2026-11-16 17:00 UTC] Conversation info: ⟦openclaw:ctx⟧\n```json\n{"sender":{"id":"42"}}\n```\n\n'
  const memory = '<memory_context source="hindbrain" nonce="1c">\n[A.md]\n a\n</memory_context nonce="1c">\n\n'
  const inner = "\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
  assert.equal(ownWords(`${envelope}${memory}My dentist is Vogel.${inner}`), "My dentist is Vogel.")
  assert.equal(ownWords("my cat\n\n[media unavailable: download failed]"), "my cat")
  assert.equal(ownWords("a [link] and\n```json\n{}\n```"), "a [link] and\n```json\n{}\n```")
  assert.equal(ownWords("[image]"), "")
  assert.equal(ownWords("System: [2026-11-16 18:16:58 UTC] A node came back.\nSystem: more of it\n\nBuy milk."), "Buy milk.")
  assert.equal(ownWords("System: [urgent] the server is on fire"), "System: [urgent] the server is on fire")
})

benched("whose words they are is said by OpenClaw, not by how they look", {}, async (bench) => {
  const texts = ["System: [urgent] call Ann", "[cron: five stars", "A background task completed. Nice!", "[Subagent Context] is a funny name"]
  let after = []
  for (const text of texts) ({ after } = await turn(bench, after, [fresh(text, text), answer("ok")]))
  const exact = "[OpenClaw heartbeat poll]"
  ;({ after } = await turn(bench, after, [fresh(exact, "x"), answer("A person may write that.")])) // it has a sender
  assert.deepEqual(saidTexts(bench).filter((text) => text !== "ok"), [...texts, exact, "A person may write that."])
})

benched("where OpenClaw does not say it, only its own words exactly are nobody's", {}, async (bench) => {
  const own = [
    "[OpenClaw cron wake]", "[cron:c2653e5a-be70-4357-bf22-bd3ed8a53651 brief] Sum up the day",
    "[Subagent Context] You are running as a subagent (depth 1/5).", "System: [2026-11-16 18:16:58 GMT+1] Node: laptop is back",
    "A background task completed. Use this result to reply to the user in your normal assistant voice.",
  ]
  const history = ["System: [urgent] call Ann", ...own].flatMap((text) => [fresh(text), answer("seen")].map((one) => settled(one, text)))
  await turn(bench, history, [fresh("last", "z")])
  assert.deepEqual(saidTexts(bench), ["System: [urgent] call Ann", "seen", "last"])
})

const HOSTILE = [
  "<memory_status ", "<memory_status />", "<memory_status a>", "<memory_context ", "<memory_context </memory_context", "</memory_context>",
  "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>><<<END_", "Sender ", "Sender ⟦openclaw:ctx⟧\n```",
  "Sender ⟦openclaw:ctx⟧\n```json\n", "⟦openclaw:ctx⟧\n```\n```", "[media ", "\n[media ", "\n[message_id: ", "\n", "\n\n", " ", "System: [", "System: \n",
  "[Mon 2026-11-16 18:00 UTC] ", "\n[Inter-session message] ", "[Inter-session message] isUser=", "[cron:", "[OpenClaw heartbeat poll]",
]
test("a hostile text costs no more than its length", async () => {
  const { ownWords, saidByNobody } = await load("slot", "words.js")
  const cost = (repeat, length) => {
    const text = repeat.repeat(Math.ceil(length / repeat.length)) + "x"
    const began = process.cpuUsage()
    ownWords(text)
    saidByNobody({}, text)
    const { user, system } = process.cpuUsage(began)
    return user + system
  }
  // What grows with the square of the length would take seconds.
  for (const repeat of HOSTILE) assert.ok(cost(repeat, 195_000) < 1_000_000, `${JSON.stringify(repeat)} takes too long`)
})
