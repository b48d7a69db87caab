// What was said in a session, as the service takes it: whose words, each with an id that stays; and how it is
// handed over.
import { remember, together } from "./chats.js"
import { ownWords, saidByNobody, textOf } from "./words.js"

const PART_CHARS = 500_000 // of messages in one request
const MOST_PENDING = 5000 // messages that wait while the service is down
const MOST_CHARS = 500_000 // of one message; the service takes 8 MB at once
const TOOL_CHARS = 20_000 // of a tool's result; whole files are not what was said
const OUR_TOOLS = new Set(["memory_search", "memory_get", "memory_save"])

// A short mark of a text.
function mark(text) {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = ((hash * 33) ^ text.charCodeAt(at)) >>> 0
  return hash.toString(36)
}

// Ids of calls are spelled anew between turns (call_1, call1).
const plainId = (id) => String(id ?? "").replace(/[^A-Za-z0-9]/g, "")

function toolName(part) {
  const id = part.name === "tool_call" ? part.arguments?.id : undefined // a tool behind tool search
  return typeof id === "string" ? id.split(":").at(-1) : String(part.name ?? "")
}

function callText(part) {
  const given = (part.name === "tool_call" && part.arguments?.args) || part.arguments || {}
  return typeof given.command === "string" ? given.command : JSON.stringify(given)
}

function ofAssistant(message, at) {
  const text = ownWords(textOf(message.content))
  const parts = Array.isArray(message.content) ? message.content : []
  const calls = parts.filter((part) => part?.type === "toolCall" && !OUR_TOOLS.has(toolName(part)))
  return [
    ...(text && text !== "NO_REPLY" ? [{ id: `assistant:${at}`, role: "assistant", text }] : []),
    ...calls.map((part) => ({
      id: `call:${at}:${plainId(part.id)}`,
      role: "assistant",
      text: callText(part).slice(0, TOOL_CHARS),
      tool: toolName(part),
      call: plainId(part.id),
    })),
  ]
}

function ofTool(message, at, names) {
  const call = plainId(message.toolCallId)
  const tool = names.get(call) ?? String(message.toolName ?? "")
  if (OUR_TOOLS.has(tool)) return [] // what memory said is known to it
  const text = textOf(message.content).slice(0, TOOL_CHARS)
  return [{ id: `tool:${at}:${call}`, role: "tool", text, tool, call, ...(message.isError ? { failed: true } : {}) }]
}

// The key of a user's message may come only after its turn (one that waited in a queue) and its time changes
// then: what stays is the time of the answer to it.
function idOfUser(messages, index, runId) {
  const message = messages[index]
  for (let next = index + 1; next < messages.length && messages[next]?.role !== "user"; next++) {
    const { role, timestamp } = messages[next] ?? {}
    if (role === "assistant" && timestamp) return `user:${timestamp}`
  }
  return message.idempotencyKey ?? (runId ? `${runId}:user` : `user:${mark(textOf(message.content))}`)
}

// Whether words of others are among them, or may be: a summary does not tell whose they were. The latest message
// is not looked at, since it does not tell its sender yet.
export function hasOthersWords(messages, isOurs, summaryIsOurs) {
  const latest = messages.findLastIndex((message) => message?.role === "user")
  return messages.some((message, index) => {
    if (message?.role === "compactionSummary") return !summaryIsOurs
    if (message?.role !== "user" || index === latest) return false
    return !saidByNobody(message, textOf(message.content)) && !isOurs(message)
  })
}

// Tells the last message of the user's role again, whoever wrote it.
export function lastId(messages, runId) {
  const index = messages.findLastIndex((message) => message?.role === "user")
  return index < 0 ? "" : idOfUser(messages, index, runId)
}

// `messages`: the whole session as OpenClaw gives it. `run`: of the turn that ends: its id, how many messages
// there were before it, who spoke in it, and whether it was a person. `isOurs(message)`: whether the owner wrote
// it. Turns of nobody and of others are left out whole.
export function whatWasSaid(messages, run = {}, isOurs = () => true) {
  const said = []
  const names = new Map() // id of a call -> the tool's name
  const firstNew = run.history ?? messages.findLastIndex((message) => message?.role === "user")
  let at = 0
  let person = false
  messages.forEach((message, index) => {
    const isNew = index >= firstNew
    let found = []
    const stamp = Number(message?.timestamp) || 0
    if (message?.role === "user") {
      const text = textOf(message.content)
      const ours = (isNew && !message.__openclaw) || isOurs(message) // a message tells its sender after its turn
      person = ours && !saidByNobody(message, text, isNew && run.sender) && (!isNew || run.person !== false)
      const words = person ? ownWords(text) : ""
      if (words) found = [{ id: idOfUser(messages, index, isNew ? run.id : ""), role: "user", text: words }]
    } else if (message?.role === "assistant") {
      for (const part of Array.isArray(message.content) ? message.content : []) {
        if (part?.type === "toolCall") names.set(plainId(part.id), toolName(part))
      }
      if (person) found = ofAssistant(message, stamp)
    } else if (message?.role === "toolResult" && person) found = ofTool(message, stamp, names)
    for (const one of found) {
      at = Math.max(stamp, at + 1) // a message gets an earlier time once its turn is over: the list has the order
      said.push({ ...one, text: one.text.slice(0, MOST_CHARS).toWellFormed(), at, isNew })
    }
  })
  return said
}

// The service's plan for the turn before a compaction, as OpenClaw wants it on that day.
export function datedPlan(plan, ms) {
  const date = new Date(ms)
  const two = (number) => String(number).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const dated = (text) => text.replaceAll("YYYY-MM-DD", day)
  return {
    softThresholdTokens: plan.softThresholdTokens,
    forceFlushTranscriptBytes: plan.forceFlushTranscriptBytes,
    reserveTokensFloor: plan.reserveTokensFloor,
    prompt: dated(plan.prompt),
    systemPrompt: dated(plan.systemPrompt),
    relativePath: [plan.folder, `${day}.md`].filter(Boolean).join("/"),
  }
}

// Keeps for each session what the service has not confirmed yet; what it confirmed is not sent again.
export function makeHandover(service, quietly, warn) {
  const sessions = together("sessions")

  function of(id) {
    const fresh = { kept: new Set(), pending: new Map(), until: undefined, told: null, work: Promise.resolve() }
    if (!sessions.has(id)) remember(sessions, id, fresh)
    return sessions.get(id)
  }

  function nextPart(pending, most) {
    const part = []
    let size = 0
    for (const message of pending.values()) {
      if (part.length && (part.length >= most || size + message.text.length > PART_CHARS)) break
      part.push(message)
      size += message.text.length
    }
    return part
  }

  // Whether nothing more is to be done about them. What the service can't take now, it never will.
  async function isDone(part, given, how) {
    try {
      await service.call("said", { ...given, messages: part }, how)
      return true
    } catch (error) {
      if (!error.mistaken) throw error
      if (part.length === 1) warn(`hindbrain: a message is not kept, the service refuses it: ${error.message}`)
      return part.length === 1
    }
  }

  async function send(id, session, workspace, how) {
    let most = Infinity
    while (session.pending.size) {
      const part = nextPart(session.pending, most)
      if (!(await isDone(part, { session: id, ...(workspace ? { workspace } : {}) }, how))) {
        most = 1 // one of them is in the way of the others
        continue
      }
      for (const { id: key } of part) {
        session.pending.delete(key)
        session.kept.add(key)
      }
    }
  }

  return {
    of,
    waits: (id) => Boolean(sessions.get(id)?.pending.size),
    // A compaction may give the session another id.
    rename(from, to) {
      if (sessions.has(from)) remember(sessions, to, sessions.get(from))
    },
    // One at a time for each session: turns may overlap.
    add(id, said, workspace, how) {
      const session = of(id)
      for (const { isNew, ...message } of said) {
        const before = !isNew && session.until !== undefined && message.at <= session.until
        if (!before && !session.kept.has(message.id)) session.pending.set(message.id, message)
      }
      while (session.pending.size > MOST_PENDING) session.pending.delete(session.pending.keys().next().value)
      session.work = session.work.then(() => quietly(() => send(id, session, workspace, how)))
      return session.work
    },
  }
}
