// Whose turn it is where others may write to the owner's bot in private, as the real gateway (2026.9.6) tells it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { answer, context, fresh, inGroup, openBench, saidTexts, settled, turn } from "./plugin_bench.mjs"

const NOTE = "<memory_context>\n Vogel\n</memory_context>"
const ANSWERS = { context: { context: NOTE, keptUntil: 0 }, card: { text: "The user is called Ann." }, search: { results: [{ path: "A.md", source: "memory" }] } }
const SHOWN = { appendContext: NOTE, appendSystemContext: "The user is called Ann." }
const EVE = { senderId: "43", chatId: "43", channelId: "43" }
const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench({ answers: ANSWERS, ...options, config: { owners: ["telegram:42"], ...options.config } })
    try {
      await work(bench)
    } finally {
      await bench.close()
    }
  })
// What a factory of tools is given.
const toolCtx = ({ sender, to = sender, channel = "telegram", owner = false, sessionKey = "agent:main:main" }) => ({
  agentId: "main", sessionKey, messageChannel: channel, senderIsOwner: owner, ...(sender ? { requesterSenderId: sender } : {}),
  deliveryContext: { channel, ...(to ? { to: `${channel}:${to}` } : {}) },
})
// A message as it is told in later turns.
const later = (text, told) => ({ ...settled(fresh(text), "r"), __openclaw: told })
const of = (senderId, channel = "telegram") => ({ senderIsOwner: false, senderId, transport: { channel } })

benched("the owner is served, and others who write to the bot are not", {}, async (bench) => {
  const theirs = await turn(bench, [], [fresh("Who is the dentist? My hamster is Bo.", "a"), answer("I can't say.")], EVE)
  assert.equal(theirs.given, undefined)
  assert.deepEqual(bench.asked, [])
  assert.equal(bench.registered.makeTools(toolCtx({ sender: "43" })), null)
  const ours = await turn(bench, [later("Who is the dentist? My hamster is Bo.", of("43")), answer("I can't say.")], [fresh("And mine?", "b"), answer("Vogel.")])
  assert.deepEqual(ours.given, SHOWN)
  assert.deepEqual(bench.bodies("context")[0].recent, [])
  assert.deepEqual(saidTexts(bench), ["And mine?", "Vogel."])
  assert.equal(bench.registered.makeTools(toolCtx({ sender: "42" })).length, 3)
})

for (const [owners, sender, channel, opens] of [
  [["42"], "42", "telegram", true], [["42"], "42", "signal", true], [["telegram:42"], "42", "signal", false], [["telegram:42"], "42", "telegram", true],
  [["4"], "42", "telegram", false], [[], "42", "telegram", false], [undefined, "43", "telegram", true],
]) {
  benched(`${JSON.stringify(owners)} ${opens ? "holds" : "does not hold"} ${sender} of ${channel}`, { config: { owners } }, async (bench) => {
    const { given } = await turn(bench, [], [fresh("words", "a"), answer("done")], { senderId: sender, chatId: sender, channel })
    assert.deepEqual(given, opens ? SHOWN : undefined)
    assert.equal(bench.bodies("said").length, opens ? 1 : 0)
    assert.equal(bench.registered.makeTools(toolCtx({ sender, channel })) !== null, opens)
  })
}

benched("the command line and what has the gateway's token are the owner's, whoever wrote last", {}, async (bench) => {
  await turn(bench, [], [fresh("I am Eve", "a")], EVE)
  const command = { senderId: undefined, chatId: "43", channelId: "43" } // the session's latest route
  assert.equal(bench.registered.makeTools(toolCtx({ to: "43", owner: true })).length, 3)
  assert.deepEqual((await turn(bench, [], [fresh("mine"), answer("1")], command)).given, SHOWN)
  const page = { senderId: "gateway-client", channel: "webchat", chatId: "agent:main:main", channelId: "agent:main:main" }
  assert.equal(bench.registered.makeTools(toolCtx({ sender: "gateway-client", channel: "webchat" })).length, 3)
  assert.deepEqual((await turn(bench, [], [fresh("mine, too"), answer("2")], page)).given, SHOWN)
  assert.deepEqual(saidTexts(bench), ["mine", "1", "mine, too", "2"])
})

benched("a turn over a channel that does not say who speaks is nobody's", {}, async (bench) => {
  bench.registered.makeTools(toolCtx({ to: "77" }))
  assert.equal((await turn(bench, [], [fresh("guess", "a"), answer("no")], { senderId: undefined, chatId: "77" })).given, undefined)
  assert.deepEqual(bench.asked, [])
})

benched("what nobody asked for is as open as the chat that it is sent to", {}, async (bench) => {
  const tools = (given) => bench.registered.makeTools(toolCtx(given))
  assert.equal(tools({ to: "43" }), null, "a heartbeat to somebody else")
  assert.equal(tools({ to: "42" }).length, 3)
  assert.equal(tools({ to: "" }), null, "not known where to")
  const cron = { agentId: "main", sessionKey: "agent:main:cron:1:run:2" }
  assert.equal(bench.registered.makeTools({ ...cron, messageChannel: "telegram", deliveryContext: { channel: "telegram", to: "43" } }), null)
  assert.equal(bench.registered.makeTools(cron).length, 3, "a schedule that tells nobody")
  const room = { channelId: "slack", conversationId: "D9" }
  assert.equal(tools({ to: "D9", channel: "slack" }), null)
  await bench.fire("before_dispatch", { isGroup: false, senderId: "U2" }, room)
  assert.equal(tools({ to: "D9", channel: "slack" }), null)
  bench.api.pluginConfig.owners.push("slack:U2")
  bench.plugin.register(bench.api)
  assert.equal(tools({ to: "D9", channel: "slack" }).length, 3, "the owner's chat with another id than the owner's")
})

benched("a sub-agent gets no more than whom it works for", {}, async (bench) => {
  for (const [key, to, served] of [["1", "43", false], ["2", "42", true]]) {
    const sessionKey = `agent:main:subagent:${key}`
    await bench.fire("subagent_spawned", { childSessionKey: sessionKey }, { requesterSessionKey: "agent:main:main" })
    assert.equal(bench.registered.makeTools(toolCtx({ to, sessionKey })) !== null, served)
  }
})

benched("words before the turn are kept when they tell that they are the owner's", {}, async (bench) => {
  const history = [
    later("mine", of("42")), later("hers", of("43")), later("same number elsewhere", of("42", "signal")), later("by command", { senderIsOwner: true }),
    later("from the page", { transport: { clients: [{ id: "gateway-client" }] } }), later("anonymous", { senderIsOwner: false, transport: { channel: "telegram" } }),
    { ...fresh("says nothing"), content: "says nothing" },
  ].flatMap((one) => [one, { ...answer(`to: ${one.content}`) }])
  await turn(bench, history, [fresh("now", "z")])
  const kept = ["mine", "by command", "from the page"]
  assert.deepEqual(saidTexts(bench), [...kept.flatMap((text) => [text, `to: ${text}`]), "now"])
  bench.again()
  await bench.fire("before_reset", { messages: history }, context())
  assert.deepEqual(saidTexts(bench).slice(7), kept.flatMap((text) => [text, `to: ${text}`]))
})

benched("a group that is open to all is open to the owner alone", { config: { groups: true } }, async (bench) => {
  assert.equal((await turn(bench, [], [fresh("tell us", "a"), answer("no")], {}, inGroup)).given, undefined)
  assert.deepEqual((await turn(bench, [], [fresh("tell me", "b"), answer("yes")], { senderId: "42" }, inGroup)).given, SHOWN)
  assert.deepEqual(saidTexts(bench), ["tell me", "yes"])
})

benched("before a compaction nothing is written where words of others are, or may be", {}, async (bench) => {
  const flush = (messages) => bench.fire("before_prompt_build", { prompt: "flush", messages }, context({ trigger: "memory", senderId: undefined, sessionKey: "agent:main:internal-session-effects:1" }))
  const mine = [later("first", of("42")), answer("1")]
  const { after } = await turn(bench, mine, [fresh("second", "b"), answer("2")])
  const summary = { role: "compactionSummary", summary: "they spoke" }
  const closed = { toolsAllow: [] }
  assert.deepEqual(await flush([summary, ...after]), closed, "nobody knows of whom it is")
  assert.deepEqual(await flush([later("hers", of("43")), answer("0"), ...after]), closed)
  assert.equal(await flush(after), undefined)
  assert.equal(await flush([summary, ...after]), undefined, "of what was looked at before the compaction")
  const hers = await turn(bench, after, [fresh("third", "c"), answer("3")], EVE)
  assert.deepEqual(await flush(hers.after), closed)
  const mineAgain = await turn(bench, [summary], [fresh("fourth", "d"), answer("4")])
  assert.deepEqual(await flush([summary, ...mineAgain.after.slice(1)]), closed, "her words may be in it now")
})

benched("the gateway's own search in a session of somebody else's turn finds nothing", {}, async (bench) => {
  const { manager } = await bench.registered.capability.runtime.getMemorySearchManager({})
  const find = () => manager.search("x", { sessionKey: "agent:main:main" })
  await turn(bench, [], [fresh("I am Eve", "a")], EVE)
  assert.deepEqual(await find(), [])
  await turn(bench, [], [fresh("me", "b")])
  assert.equal((await find()).length, 1)
})
