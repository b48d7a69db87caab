import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { answer, context, fresh, inGroup, openBench, PLAN, SESSION, turn } from "./plugin_bench.mjs"

const two = (number) => String(number).padStart(2, "0")
const now = new Date()
const DAY = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`

const benched = (name, options, work) =>
  test(name, async () => {
    const bench = await openBench(options)
    const workspace = join(bench.folder, "workspace")
    mkdirSync(join(workspace, "memory"), { recursive: true })
    const write = (text) => writeFileSync(join(workspace, "memory", `${DAY}.md`), text)
    const planned = async () => {
      while (!bench.registered.capability.flushPlanResolver({})) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    try {
      await work(bench, { workspaceDir: workspace }, write, planned)
    } finally {
      await bench.close()
    }
  })

// The hidden turn before a compaction, as the gateway runs it after a turn.
async function flush(bench, history, where) {
  const id = "internal-session-effects-1"
  const ctx = context({ trigger: "memory", sessionKey: `agent:main:internal-session-effects:1`, sessionId: id, chatId: undefined, channel: undefined, ...where })
  const given = await bench.fire("before_prompt_build", { prompt: "flush", messages: history }, ctx)
  if (!given) await bench.fire("after_tool_call", { toolName: "write", params: {}, runId: ctx.runId }, { ...ctx, toolName: "write" })
  return given
}

benched("there is no plan until the service has told one", { answers: { "flush-plan": "silence" } }, async (bench, where) => {
  await turn(bench, [], [fresh("one", "a")], where)
  assert.equal(bench.registered.capability.flushPlanResolver({ nowMs: Date.now() }), null)
})

benched("the plan is for the day", { config: { preserveLocal: false } }, async (bench, where, _write, planned) => {
  await turn(bench, [], [fresh("one", "a")], where)
  await planned()
  const nowMs = new Date(2031, 0, 5, 23, 59).getTime()
  const { folder, byDate, taken, ...numbers } = PLAN
  assert.deepEqual(bench.registered.capability.flushPlanResolver({ nowMs, contextWindowTokens: 1 }), {
    ...numbers, prompt: "Append to memory/2031-01-05.md", systemPrompt: "Only memory/2031-01-05.md", relativePath: "memory/2031-01-05.md",
  })
  assert.deepEqual(bench.bodies("flush-plan"), [{ ...where, workspaceDir: undefined, workspace: where.workspaceDir, preserveLocal: false }].map(({ workspaceDir, ...one }) => one))
})

benched("what the turn before a compaction wrote is handed over at once, for the session that it is of", {}, async (bench, where, write, planned) => {
  const { after } = await turn(bench, [], [fresh("one", "a"), answer("1")], where)
  await planned()
  write("- Fact: Ann owns a red car.\n")
  assert.equal(await flush(bench, after, where), undefined)
  assert.deepEqual(bench.bodies("flushed"), [{ session: SESSION, path: `memory/${DAY}.md`, text: "- Fact: Ann owns a red car.\n" }])
})

benched("a file that did not change is not handed over again; one that the service missed is", {}, async (bench, where, write, planned) => {
  bench.replies.flushed = { httpStatus: 503, error: { code: "busy", message: "busy" } }
  let { after } = await turn(bench, [], [fresh("one", "a"), answer("1")], where)
  await planned()
  write("- Fact: one.\n")
  await flush(bench, after, where)
  bench.replies.flushed = { note: "n", added: 1 }
  ;({ after } = await turn(bench, after, [fresh("two", "b"), answer("2")], where))
  ;({ after } = await turn(bench, after, [fresh("three", "c"), answer("3")], where))
  assert.equal(bench.bodies("flushed").length, 2)
  write("- Fact: one.\n- Fact: two.\n")
  await turn(bench, after, [fresh("four", "d"), answer("4")], where)
  assert.equal(bench.bodies("flushed").at(-1).text, "- Fact: one.\n- Fact: two.\n")
})

benched("a file that is a note of the vault is not handed over", { answers: { "flush-plan": { ...PLAN, folder: "", taken: false } } }, async (bench, where, write, planned) => {
  const { after } = await turn(bench, [], [fresh("one", "a"), answer("1")], where)
  await planned()
  assert.equal(bench.registered.capability.flushPlanResolver({}).relativePath, `${DAY}.md`)
  await flush(bench, after, where)
  assert.deepEqual(bench.bodies("flushed"), [])
})

benched("in a group nothing is written before a compaction", {}, async (bench, where, write, planned) => {
  await turn(bench, [], [fresh("mine", "a"), answer("1")], where)
  await planned()
  const theirs = await turn(bench, [], [fresh("ours", "g"), answer("2")], where, inGroup)
  assert.deepEqual(await flush(bench, theirs.after, where), { toolsAllow: [] })
})

benched("where it is not known whose words they are, nothing is written", {}, async (bench, where, write, planned) => {
  await turn(bench, [], [fresh("mine", "a"), answer("1")], where)
  await planned()
  assert.deepEqual(await flush(bench, [fresh("who is it", "z")], where), { toolsAllow: [] })
})

benched("the flush after a turn whose message waited in a queue is of its session", {}, async (bench, where, write, planned) => {
  const { after } = await turn(bench, [], [{ ...fresh("one"), later: "channel-user:v1:q" }, answer("1")], where)
  await planned()
  write("- Fact.\n")
  assert.equal(await flush(bench, after, where), undefined)
  assert.equal(bench.bodies("flushed")[0].session, SESSION)
})
