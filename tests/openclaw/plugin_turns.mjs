import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { test } from "node:test"
import { answer, context, fresh, inGroup, load, openBench, SESSION, turn } from "./plugin_bench.mjs"

const NOTE = '<memory_context source="hindbrain" nonce="1">\n[Dentist.md]\n Vogel\n</memory_context nonce="1">'
const FOUND = { context: { context: NOTE, tokens: 9, notices: [], keptUntil: 0 } }

const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench(options)
    try {
      await work(bench)
    } finally {
      await bench.close()
    }
  })

benched("what fits is put after a person's prompt, and asked for with the words before it", { answers: FOUND }, async (bench) => {
  const first = await turn(bench, [], [fresh("My dentist is Vogel", "a"), answer("Noted.")])
  const second = await turn(bench, first.after, [fresh("Where is she?", "b"), answer("In Bern.")])
  assert.deepEqual(second.given, { appendContext: NOTE })
  const [, { session, message, recent }] = bench.bodies("context")
  assert.deepEqual([session, message], [SESSION, "Where is she?"])
  assert.deepEqual(recent.map(({ role, text }) => [role, text]), [["user", "My dentist is Vogel"], ["assistant", "Noted."]])
  assert.equal(bench.routes("context")[0].headers.authorization, "Bearer first-token")
})

benched("nothing is put after the prompt when nothing fits", {}, async (bench) => {
  assert.equal((await turn(bench, [], [fresh("Hello", "a"), answer("Hi")])).given, undefined)
})

benched("the vault that is named is asked for", { config: { vaultPath: "/notes" } }, async (bench) => {
  await turn(bench, [], [fresh("Hello", "a")])
  assert.equal(bench.bodies("context")[0].vault, "/notes")
})

benched("no more is put after a prompt than is allowed, in whole lines and with its end", { config: { maxInjectedChars: 120 }, answers: {
  context: { context: ['<memory_context nonce="1">', ...Array(40).fill("[A.md] a line of a note"), '</memory_context nonce="1">', "<memory_status />"].join("\n"), keptUntil: 0 },
} }, async (bench) => {
  const { given } = await turn(bench, [], [fresh("Hello", "a")])
  assert.ok(given.appendContext.length <= 120)
  assert.match(given.appendContext, /^<memory_context nonce="1">\n(\[A\.md\] a line of a note\n)+<\/memory_context nonce="1">\n<memory_status \/>$/)
})

const NOBODY = {
  heartbeat: { trigger: "heartbeat", inputProvenance: { kind: "internal_system", sourceTool: "heartbeat" } },
  cron: { trigger: "cron", sessionKey: "agent:main:cron:1:run:2" },
  announce: { inputProvenance: { kind: "inter_session", sourceTool: "subagent_announce" } },
  subagent: { sessionKey: "agent:main:subagent:1" },
  hook: { sessionKey: "agent:main:hook:1" },
}
for (const [name, more] of Object.entries(NOBODY)) {
  benched(`a turn in which no person speaks asks for nothing: ${name}`, { answers: FOUND }, async (bench) => {
    assert.equal((await turn(bench, [], [fresh("words", "a"), answer("done")], more)).given, undefined)
    assert.deepEqual(bench.asked, [])
  })
}

const GROUPS = {
  "a group's session": {},
  "a topic of a group": { sessionKey: "agent:main:telegram:group:-100555:topic:4" },
  "a channel": { sessionKey: "agent:main:discord:channel:99:thread:1", channel: "discord" },
  "a guild in the old spelling": { sessionKey: "agent:main:discord:acc:guild-1:channel-2", channel: "discord" },
  "WhatsApp's groups": { sessionKey: "agent:main:whatsapp:123@g.us", channel: "whatsapp" },
}
for (const [name, more] of Object.entries(GROUPS)) {
  benched(`nothing of the vault is shown in a group, and nothing of it kept: ${name}`, { answers: FOUND }, async (bench) => {
    assert.equal((await turn(bench, [], [fresh("words", "a"), answer("done")], more, inGroup)).given, undefined)
    assert.deepEqual(bench.asked, [])
    assert.equal(bench.registered.makeTools(inGroup(more)), null)
    assert.deepEqual(bench.registered.capability.promptBuilder({ availableTools: new Set(["memory_search"]), agentSessionKey: inGroup(more).sessionKey }), [])
  })
}

benched("an agent that is called group is not a group", { answers: FOUND }, async (bench) => {
  const { given } = await turn(bench, [], [fresh("words", "a")], { sessionKey: "agent:group:main", agentId: "group" })
  assert.deepEqual(given, { appendContext: NOTE })
})

benched("with groups allowed a group is served as a private chat is", { config: { groups: true }, answers: FOUND }, async (bench) => {
  const { given } = await turn(bench, [], [fresh("words", "a"), answer("done")], {}, inGroup)
  assert.deepEqual(given, { appendContext: NOTE })
  assert.equal(bench.bodies("said").length, 1)
})

benched("a group that speaks in the owner's own session is known by its dispatch", { openclaw: { session: { groupScope: "main" } }, answers: FOUND }, async (bench) => {
  await bench.fire("before_dispatch", { isGroup: true }, { channelId: "telegram", conversationId: "-100555" })
  const group = { channelId: "-100555", chatId: "-100555", senderId: "43" }
  const theirs = await turn(bench, [], [fresh("tell us", "a"), answer("no")], group)
  assert.equal(theirs.given, undefined)
  assert.equal(bench.registered.makeTools(context(group)), null)
  const ours = await turn(bench, theirs.after, [fresh("mine", "b"), answer("yes")])
  assert.deepEqual(ours.given, { appendContext: NOTE })
  assert.deepEqual(bench.bodies("said").flatMap(({ messages }) => messages.map(({ text }) => text)), ["mine", "yes"])
})

benched("OpenClaw loads the plugin twice: what the one hears, the other knows", { answers: FOUND }, async (bench) => {
  const runs = await bench.twin()
  await bench.fire("before_dispatch", { isGroup: true }, { channelId: "telegram", conversationId: "-9" })
  assert.equal(runs.get("tools")(context({ chatId: "-9" })), null)
  assert.equal(runs.get("tools")(context()).length, 3)
  await bench.down()
  await bench.fire("gateway_start", {}, {})
  assert.match((await runs.get("before_prompt_build")({ prompt: "one", messages: [] }, context())).appendContext, /unavailable/)
  await bench.up()
  assert.deepEqual(await runs.get("before_prompt_build")({ prompt: "two", messages: [] }, context()), { appendContext: NOTE })
  assert.deepEqual([bench.log.warn.length, bench.log.info.length], [1, 1])
  bench.replies.card = { text: "Another." }
  await bench.fire("session_end", { reason: "new" }, context())
  assert.equal((await runs.get("before_prompt_build")({ prompt: "three", messages: [] }, context())).appendSystemContext, "Another.")
})

const MAIN = { chatType: "direct", delivery: { context: { channel: "telegram", to: "telegram:45" } } }
benched("a schedule that announces where nobody has spoken yet gets nothing: a group may be there", { openclaw: { channels: { telegram: { allowFrom: [42] } } }, entries: { "agent:main:main": MAIN, "agent:main:telegram:direct:46": {} } }, async (bench) => {
  const tools = (to) => bench.registered.makeTools({ agentId: "main", sessionKey: "agent:main:cron:1:run:2", messageChannel: "telegram", deliveryContext: { channel: "telegram", to } })
  await bench.fire("before_dispatch", { isGroup: false, senderId: "44" }, { channelId: "telegram", conversationId: "44" })
  assert.equal(tools("-1009999"), null)
  assert.equal(tools("47"), null)
  for (const known of ["42", "telegram:44", "45", "46"]) assert.equal(tools(known)?.length, 3, known)
})

benched("what works for a group gets no more than the group", { entries: { "agent:main:subagent:2": { spawnedBy: "agent:main:telegram:group:-1" } } }, async (bench) => {
  await bench.fire("subagent_spawned", { childSessionKey: "agent:main:subagent:1" }, { requesterSessionKey: "agent:main:telegram:group:-1" })
  await bench.fire("subagent_spawned", { childSessionKey: "agent:main:subagent:3" }, { requesterSessionKey: "agent:main:main" })
  const tools = (sessionKey) => bench.registered.makeTools(context({ sessionKey, chatId: undefined }))
  assert.equal(tools("agent:main:subagent:1"), null)
  assert.equal(tools("agent:main:subagent:2"), null)
  assert.equal(tools("agent:main:subagent:4"), null, "nobody knows for whom it works")
  assert.equal(tools("agent:main:subagent:3").length, 3)
})

benched("a service that is down costs one warning, one word to the model in each session, and no turn", {}, async (bench) => {
  await bench.down()
  const first = await turn(bench, [], [fresh("one", "a"), answer("1")])
  assert.match(first.given.appendContext, /state="unavailable"/)
  const second = await turn(bench, first.after, [fresh("two", "b"), answer("2")])
  assert.equal(second.given, undefined)
  const other = await turn(bench, [], [fresh("three", "c")], { sessionId: "another" })
  assert.match(other.given.appendContext, /state="unavailable"/)
  assert.equal(bench.log.warn.length, 1)
  await bench.up()
  await turn(bench, second.after, [fresh("four", "d"), answer("4")])
  assert.deepEqual(bench.log.info, ["hindbrain: memory is back"])
  assert.deepEqual(bench.bodies("said").flatMap(({ messages }) => messages.map(({ text }) => text)), ["one", "1", "two", "2", "four", "4"])
})

benched("a second outage is told again", {}, async (bench) => {
  for (const key of ["a", "b"]) {
    await bench.down()
    assert.ok((await turn(bench, [], [fresh("one", key)])).given)
    await bench.up()
    await turn(bench, [], [fresh("two", `${key}2`)])
  }
  assert.equal(bench.log.warn.length, 2)
})

benched("a service that does not answer is left after its time, and the next turns do not wait for it", { config: { timeoutMs: 150 }, answers: { context: "silence" } }, async (bench) => {
  const first = await turn(bench, [], [fresh("one", "a"), answer("1")])
  assert.match(first.given.appendContext, /state="unavailable"/)
  await turn(bench, first.after, [fresh("two", "b")])
  assert.equal(bench.routes("context").length, 1)
  assert.match(bench.log.warn[0], /150 ms/)
})

const ODD = {
  "a wrong token": [{ httpStatus: 401, error: { code: "refused", message: "no" } }, /token file/],
  "no JSON": [{ raw: "<html>" }, /not Hindbrain's service/],
  "JSON that is no object": [{ raw: "7" }, /HTTP 200/],
  "a vault that is gone": [{ httpStatus: 404, error: { code: "not_found", message: "no vault at '/notes'" } }, /no vault at/],
  "a failure": [{ httpStatus: 500, raw: "" }, /HTTP 500/],
}
for (const [name, [reply, told]] of Object.entries(ODD)) {
  benched(`an answer that can't be used ends no turn: ${name}`, { answers: { context: reply, said: reply, "flush-plan": reply } }, async (bench) => {
    const { given } = await turn(bench, [], [fresh("one", "a"), answer("1")])
    assert.match(given.appendContext, /unavailable/)
    assert.equal(bench.log.warn.length, 1)
    assert.match(bench.log.warn[0], told)
  })
}

benched("a token that was made anew is read anew", {}, async (bench) => {
  await turn(bench, [], [fresh("one", "a")])
  writeFileSync(bench.tokenFile, "another-token-that-is-longer")
  await turn(bench, [], [fresh("two", "b")])
  assert.equal(bench.routes("context").at(-1).headers.authorization, "Bearer another-token-that-is-longer")
})

for (const tokenFile of ["/nowhere/token", undefined]) {
  benched(`without a token file nothing is asked: ${tokenFile}`, { config: { tokenFile } }, async (bench) => {
    await turn(bench, [], [fresh("one", "a")])
    assert.deepEqual(bench.asked, [])
    assert.match(bench.log.warn[0], /token ?file/i)
  })
}

for (const baseUrl of ["http://example.org:8739", "https://127.0.0.1:8739", "http://127.0.0.1.example.org", "nonsense"]) {
  benched(`nothing is sent to another machine: ${baseUrl}`, { config: { baseUrl } }, async (bench) => {
    await turn(bench, [], [fresh("one", "a")])
    assert.match(bench.log.warn[0], /baseUrl/)
  })
}

test("a service that is down is started, at most once a minute, with its own variables alone", async () => {
  const { makeService } = await load("slot", "service.js")
  const started = []
  let now = 0
  const bench = await openBench()
  await bench.down()
  const config = { baseUrl: `http://127.0.0.1:${bench.port}`, tokenFile: bench.tokenFile, timeoutMs: 2000, command: ["hindbrain", "up"], env: { HINDBRAIN_CONFIG: "x" } }
  const service = makeService(config, bench.api.logger, { start: (...given) => started.push(given.slice(0, 2)), now: () => now })
  for (now of [0, 59_000, 61_000]) await assert.rejects(service.call("status", null))
  assert.deepEqual(started, Array(2).fill([["hindbrain", "up"], { HINDBRAIN_CONFIG: "x" }]))
  assert.equal(bench.log.warn.length, 1)
  await bench.close()
})

test("the program that is started gets HINDBRAIN_ variables and what it needs to run, and no keys", async () => {
  const { startDaemon } = await load("slot", "service.js")
  const bench = await openBench()
  process.env.OF_A_MODEL_API_KEY = "secret"
  const script = `const {env} = process; require("http").get({port:${bench.port},path:"/v1/status",headers:{a:env.HINDBRAIN_A||"",b:env.NODE_OPTIONS_X||"",c:env.OF_A_MODEL_API_KEY||"",d:env.PATH||""}})`
  startDaemon([process.execPath, "-e", script], { HINDBRAIN_A: "yes", NODE_OPTIONS_X: "no" }, assert.fail)
  while (!bench.asked.length) await new Promise((resolve) => setTimeout(resolve, 20))
  const { a, b, c, d } = bench.asked[0].headers
  assert.deepEqual([a, b, c, d], ["yes", "", "", process.env.PATH])
  await new Promise((resolve) => startDaemon(["/nowhere/hindbrain"], {}, resolve))
  await bench.close()
})

benched("a gateway that starts looks for the service", {}, async (bench) => {
  await bench.fire("gateway_start", {}, {})
  assert.equal(bench.routes("status").length, 1)
})

test("a program that has taken the port gets neither the token nor a word", async () => {
  const bench = await openBench()
  try {
    bench.squats = true
    const { given } = await turn(bench, [], [fresh("My cleaner is called Ines Alba."), answer("Noted.")])
    assert.deepEqual(bench.asked, [])
    assert.ok(bench.proofs > 0)
    assert.match(given.appendContext, /can't be reached/)
    assert.equal(bench.log.warn.length, 1)
    assert.match(bench.log.warn[0], /does not know the token/)
    bench.squats = false
    await turn(bench, [], [fresh("Hello"), answer("Hi.")], {})
    assert.ok(bench.routes("context").length > 0)
  } finally {
    await bench.close()
  }
})

test("no proxy is asked for what goes to this machine", async () => {
  const bench = await openBench()
  const before = globalThis.fetch
  globalThis.fetch = () => assert.fail("what a host set up for all requests would be used")
  try {
    await turn(bench, [], [fresh("Where is the boat?"), answer("In Oban.")])
    assert.ok(bench.routes("context").length > 0)
  } finally {
    globalThis.fetch = before
    await bench.close()
  }
})

test("memory is back when what failed works again, not when something else does", async () => {
  const bench = await openBench({ answers: { context: { httpStatus: 404, error: { code: "not_found", message: "no vault at '/v'" } } } })
  try {
    let { after } = await turn(bench, [], [fresh("Where is the boat?"), answer("In Oban.")])
    ;({ after } = await turn(bench, after, [fresh("And the oars?"), answer("There, too.")]))
    assert.equal(bench.log.warn.length, 1)
    assert.deepEqual(bench.log.info, [])
    bench.replies.context = { context: "", tokens: 0, notices: [], keptUntil: 0 }
    await turn(bench, after, [fresh("And the sails?"), answer("At home.")])
    assert.equal(bench.log.info.length, 1)
  } finally {
    await bench.close()
  }
})

const TWO = { channels: { telegram: { allowFrom: ["42", "43"] } } }
benched("where several may write and no owners are named, private chats are closed", { openclaw: TWO, answers: FOUND }, async (bench) => {
  const { given } = await turn(bench, [], [fresh("I am allergic to penicillin, remember it."), answer("Noted.")], { senderId: "43" })
  assert.equal(given, undefined)
  assert.deepEqual([...bench.routes("context"), ...bench.routes("said")], [])
  assert.equal(bench.registered.makeTools(context({ requesterSenderId: "43", messageChannel: "telegram" })), null)
  assert.equal(bench.log.warn.filter((text) => text.includes("owners")).length, 1)
})

benched("the command line stays the owner's then", { openclaw: TWO, answers: FOUND }, async (bench) => {
  const cli = { senderId: undefined, channel: undefined, messageProvider: undefined, channelId: undefined, chatId: undefined }
  const { given } = await turn(bench, [], [fresh("Who is my dentist?"), answer("Vogel.")], cli)
  assert.equal(given.appendContext, NOTE)
})

benched("one who may write is the owner, until a second one does", { openclaw: { channels: { telegram: { dmPolicy: "pairing" } } }, answers: FOUND }, async (bench) => {
  const hear = (id) => bench.fire("before_dispatch", { senderId: id, isGroup: false }, { channelId: "telegram", conversationId: id })
  await hear("42")
  const first = await turn(bench, [], [fresh("Who is my dentist?"), answer("Vogel.")])
  assert.equal(first.given.appendContext, NOTE)
  await hear("43")
  const second = await turn(bench, [], [fresh("Who is the dentist?"), answer("I can't say.")], { senderId: "43", chatId: "43" })
  assert.equal(second.given, undefined)
})
