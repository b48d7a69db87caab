// Hindbrain as OpenClaw's memory: notes of the user's vault with each prompt and through tools, and what was
// said handed over after each turn. Whatever fails in here, the conversation goes on.
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { makeChats, remember, together } from "./chats.js"
import { makeRuntime } from "./gateway.js"
import { fit, makeTools, promptLines, UNAVAILABLE } from "./recall.js"
import { datedPlan, hasOthersWords, lastId, makeHandover, whatWasSaid } from "./said.js"
import { makeService } from "./service.js"

const TURN_MS = 1500 // a turn waits no longer for us
const END_MS = 900 // at a gateway's end all plugins together have two seconds
const RECENT = 6 // messages that tell what a short question is about
const PLAN_MS = 600_000 // as long as a plan holds
const DEFAULTS = { baseUrl: "http://127.0.0.1:8739", timeoutMs: 3000, maxResults: 4, maxInjectedChars: 4000 }
const NOT_NEW = { history: Infinity }
// What the end of a session is to the service. /new, /reset and the daily reset keep the session's id.
const ENDS = { new: "reset", reset: "reset", idle: "reset", daily: "reset", compaction: "compacted" }

export default {
  id: "hindbrain",
  name: "Hindbrain",
  description: "Long-term memory from your own vault of Markdown notes",
  kind: "memory",
  register(api) {
    const config = { ...DEFAULTS, ...api.pluginConfig }
    const service = makeService(config, api.logger)
    const sessionEntry = (sessionKey) => api.runtime?.agent?.session?.getSessionEntry?.({ sessionKey })
    const { groups, owners } = config
    const warn = (text) => api.logger.warn(text)
    const chats = makeChats({ groupsAllowed: groups === true, owners, openclaw: api.config, sessionEntry, warn })
    const runs = together("runs") // id of a run -> who spoke in it
    const sources = together("sources") // id of a message -> the session in which it was said last
    const cards = together("cards") // session key -> who the user is; kept as long as the window, for prompt caches
    const plans = together("plans") // workspace -> how the turn before a compaction goes
    const pure = together("pure") // id of a session whose latest summary has the owner's words alone
    const taken = together("taken") // flush file -> its state when it was handed over
    const last = together("last", () => ({ workspace: "" })) // turn: OpenClaw asks for a plan, not saying for whom

    const quietly = async (work) => {
      try {
        return await work()
      } catch (error) {
        api.logger.debug?.(`hindbrain: ${error.message}`) // an outage was told when it began
        return undefined
      }
    }
    const handover = makeHandover(service, quietly, warn)

    const chatOf = (ctx) => ({
      agentId: ctx.agentId,
      channel: ctx.channel ?? ctx.messageChannel ?? ctx.deliveryContext?.channel,
      chatId: ctx.chatId ?? ctx.nativeChannelId,
      to: ctx.deliveryContext?.to,
      sender: ctx.senderId ?? ctx.requesterSenderId,
      operator: ctx.senderIsOwner ?? (chats.isPerson(ctx) && chats.isOperator(ctx)),
    })
    const runOf = (ctx) => ({
      id: ctx.runId,
      sender: ctx.senderId,
      person: chats.isPerson(ctx),
      closed: chats.isClosed(ctx.sessionKey, chatOf(ctx)),
    })
    const isClosed = (sessionKey) => chats.isClosed(sessionKey)
    const isOurs = (message) => chats.isOwnersMessage(message)
    // Heartbeats speak in the owner's session; sub-agents and schedules have sessions of their own.
    const isConversation = (sessionKey) => chats.isPerson({ trigger: "user", sessionKey })

    // The turn before a compaction

    function refreshPlan(where) {
      if (Date.now() - (plans.get(where)?.at ?? -Infinity) < PLAN_MS) return
      const local = config.preserveLocal === undefined ? {} : { preserveLocal: config.preserveLocal }
      quietly(async () => {
        const plan = await service.call("flush-plan", { workspace: where, ...local }, { timeoutMs: TURN_MS })
        remember(plans, where, { ...plan, at: Date.now() })
      })
    }

    // null until the service has told a plan: OpenClaw then compacts without such a turn, and nothing is lost,
    // since what was said is handed over turn by turn.
    const flushPlan = ({ nowMs = Date.now() } = {}) => {
      const plan = plans.get(last.workspace)
      return plan ? datedPlan(plan, nowMs) : null
    }

    // Nobody's words are kept but the owner's: where there are others', the turn gets no tool to write with.
    function prepareFlush(event, ctx) {
      const messages = event.messages ?? []
      const source = sources.get(lastId(messages))
      const mixed = chats.guarded && hasOthersWords(messages, isOurs, pure.has(source?.id))
      if (mixed || source?.closed !== false) return { toolsAllow: [] }
      remember(pure, source.id, true) // a compaction follows
      remember(runs, ctx.runId, { flushes: source.id, where: ctx.workspaceDir ?? "" })
      return undefined
    }

    // Hand over the days' files when they changed since; a second time adds nothing there.
    async function takeFlushes(where, id) {
      const plan = plans.get(where)
      if (!plan?.taken) return // the file is a note of the vault itself
      for (const ago of [1, 0]) {
        const path = datedPlan(plan, Date.now() - ago * 86_400_000).relativePath
        const file = join(where, path)
        const state = await stat(file).then(({ mtimeMs, size }) => `${mtimeMs} ${size}`, () => "")
        if (!state || taken.get(file) === state) continue
        await service.call("flushed", { session: id, path, text: await readFile(file, "utf8") })
        remember(taken, file, state)
      }
    }

    // Turns

    async function beforePrompt(event, ctx) {
      if (ctx.trigger === "memory") return prepareFlush(event, ctx)
      const history = event.messages ?? []
      const run = runOf(ctx)
      remember(runs, ctx.runId, { ...run, history: history.length })
      chats.noteTurn(ctx.sessionKey, chatOf(ctx))
      if (run.closed) pure.delete(ctx.sessionId)
      const message = (event.currentUserMessage ?? event.prompt ?? "").trim()
      if (!run.person || run.closed || !message) return undefined
      last.workspace = ctx.workspaceDir ?? ""
      refreshPlan(last.workspace)
      const heard = whatWasSaid(history.slice(-8 * RECENT), NOT_NEW, isOurs).filter(({ tool }) => !tool)
      const recent = heard.slice(-RECENT).map(({ id, role, text, at }) => ({ id, role, text: text.slice(0, 1000), at }))
      const asked = { session: ctx.sessionId, message, recent }
      const began = Date.now()
      const notes = await recalled(ctx.sessionId, asked)
      const left = notes.failed ? 0 : Math.max(1, TURN_MS - (Date.now() - began))
      // After the user's words: OpenClaw drops it from the history, and what stands before it stays cached.
      const appendContext = notes.text ? { appendContext: notes.text } : undefined
      const card = await cardFor(ctx.sessionKey, left)
      return appendContext || card ? { ...appendContext, ...card } : undefined
    }

    // Who the user is. Here, and not with the lines about memory: only here it is told who asks.
    async function cardFor(key, timeoutMs) {
      const asks = timeoutMs > 0 && !cards.has(key)
      const card = asks && (await quietly(() => service.call("card", {}, { timeoutMs })))
      if (card) remember(cards, key, card.text)
      return cards.get(key) ? { appendSystemContext: cards.get(key) } : undefined
    }

    async function recalled(id, asked) {
      const session = handover.of(id)
      try {
        const { context, keptUntil } = await service.call("context", asked, { timeoutMs: TURN_MS })
        session.until ??= keptUntil
        return { text: fit(context ?? "", config.maxInjectedChars) }
      } catch {
        if (!service.outage || session.told === service.outage) return { text: "", failed: true }
        session.told = service.outage // the model is told once in each session
        const text = `<memory_status provider="hindbrain" state="unavailable">${UNAVAILABLE}</memory_status>`
        return { text, failed: true }
      }
    }

    async function agentEnd(event, ctx) {
      const messages = event.messages ?? []
      const run = runs.get(ctx.runId) ?? runOf(ctx)
      remember(sources, lastId(messages, ctx.runId), { id: ctx.sessionId, closed: run.closed })
      if (run.closed || !isConversation(ctx.sessionKey)) return
      const said = whatWasSaid(messages, run, isOurs)
      // Where groups speak in the same session, only the turn itself is sure to be the owner's.
      await handover.add(ctx.sessionId, chats.shared ? said.filter(({ isNew }) => isNew) : said, ctx.workspaceDir)
      await quietly(() => takeFlushes(ctx.workspaceDir ?? "", ctx.sessionId))
    }

    async function tell(event, ctx, timeoutMs = TURN_MS) {
      if (!isConversation(ctx.sessionKey) || isClosed(ctx.sessionKey)) return
      cards.delete(ctx.sessionKey)
      await quietly(() => service.call("event", { session: ctx.sessionId, ...event }, { timeoutMs }))
    }

    api.on("gateway_start", () => quietly(() => service.call("status", null))) // starts it when it is down
    api.on("before_dispatch", (event, ctx) => chats.noteDispatch(event, ctx))
    api.on("subagent_spawned", (event, ctx) => chats.noteSpawned(event, ctx))
    api.on("before_prompt_build", beforePrompt)
    api.on("agent_end", agentEnd)
    // The turn before a compaction has no end of its own that hooks hear of.
    const written = async (event, ctx) => {
      const run = runs.get(ctx.runId ?? event.runId)
      if (run?.flushes && !event.error) await quietly(() => takeFlushes(run.where, run.flushes))
    }
    api.on("after_tool_call", written, { matcher: ["write"] })
    api.on("after_compaction", (event, ctx) => {
      if (event.previousSessionId) handover.rename(event.previousSessionId, ctx.sessionId)
      return tell({ event: "compacted" }, ctx)
    })
    api.on("before_reset", async (event, ctx) => {
      if (chats.shared || !isConversation(ctx.sessionKey) || isClosed(ctx.sessionKey)) return
      await handover.add(ctx.sessionId, whatWasSaid(event.messages ?? [], NOT_NEW, isOurs), ctx.workspaceDir)
    })
    api.on("session_start", (_event, ctx) => tell({ event: "session-start" }, ctx))
    api.on("session_end", async ({ reason = "unknown" }, ctx) => {
      const event = ENDS[reason] ?? "session-end"
      const timeoutMs = event === "session-end" ? END_MS : TURN_MS
      if (handover.waits(ctx.sessionId)) await handover.add(ctx.sessionId, [], "", { timeoutMs })
      await tell({ event, reason }, ctx, timeoutMs)
    })

    // Capability and tools

    api.registerMemoryCapability({
      promptBuilder: (given) => (isClosed(given.agentSessionKey) ? [] : promptLines(given)),
      flushPlanResolver: flushPlan,
      runtime: makeRuntime(service, config, (key) => isClosed(key) || chats.isOthersTurn(key) === true),
    })
    const tools = (ctx) => {
      chats.noteTools(ctx)
      const isOpen = () => !chats.isClosed(ctx.sessionKey, chatOf(ctx))
      return isOpen() ? makeTools(service, config, isOpen) : null
    }
    api.registerTool(tools, { names: ["memory_search", "memory_get", "memory_save"] })
  },
}
