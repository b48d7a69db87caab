// Hindbrain in OpenCode: long-term memory from a vault of Markdown notes.
// Made by `python -m hindbrain.edge.hooks.files`; do not edit by hand. Calls `hindbrain-hook`, which decides.
// Whatever fails in here, the conversation goes on.
import { spawn } from "node:child_process"

const COMMAND = __COMMAND__
const EVENTS = __EVENTS__ // event -> seconds that it may take

function call(event, payload) {
  return new Promise((resolve) => {
    let done = false
    const finish = (text) => {
      if (done) return
      done = true
      clearTimeout(timer)
      try { resolve(JSON.parse(text) ?? {}) } catch { resolve({}) }
    }
    const timer = setTimeout(() => { finish(""); child?.kill() }, EVENTS[event] * 1000)
    let child
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
    } catch { return finish("") }
    let text = ""
    child.stdout.on("data", (data) => { text += data })
    child.on("error", () => finish(""))
    child.on("close", () => finish(text))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
  })
}

const said = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Hindbrain = async ({ client, directory }) => {
  const sessions = new Map() // id -> what is shown to the model, and what the person said last
  const tell = (message) =>
    message && client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {})

  async function known(id, source) {
    if (!sessions.has(id)) {
      sessions.set(id, { start: "", turn: "", prompt: "" })
      await begin(id, source)
    }
    return sessions.get(id)
  }

  async function begin(id, source) {
    const answer = await call("session-start", { session_id: id, cwd: directory, source })
    sessions.get(id).start = answer.context ?? ""
    tell(answer.message)
  }

  async function answered(id) {
    const found = await client.session.messages({ path: { id } }).catch(() => ({ data: [] }))
    const last = (found.data ?? []).filter((message) => message.info.role === "assistant").at(-1)
    return last ? said(last.parts) : ""
  }

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const session = await known(sessionID, "startup")
      session.prompt = said(parts)
      const answer = await call("user-prompt-submit", { session_id: sessionID, cwd: directory, prompt: session.prompt })
      session.turn = answer.context ?? ""
      tell(answer.message)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const session = sessions.get(sessionID)
      if (session) system.push(...[session.start, session.turn].filter(Boolean))
    },
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      if (!__GUARDED__.includes(tool)) return
      const answer = await call("pre-tool-use", { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args })
      if (answer.refused) throw new Error(answer.refused)
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (!__RECALLED__.includes(tool)) return
      const response = { output: output.output, exit: output.metadata?.exit ?? 0 }
      const answer = await call("post-tool-use", {
        session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args, tool_response: response,
      })
      if (answer.context) output.output += `\n\n${answer.context}`
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      const session = await known(sessionID, "resume")
      await call("pre-compact", {
        session_id: sessionID, cwd: directory, prompt: session.prompt, last_assistant_message: await answered(sessionID),
      })
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      const session = sessions.get(id)
      if (!session) return
      if (event.type === "session.compacted") await begin(id, "compact")
      if (event.type === "session.idle") {
        const answer = await answered(id)
        await call("stop", { session_id: id, cwd: directory, prompt: session.prompt, last_assistant_message: answer })
      }
      if (event.type === "session.deleted") {
        await call("session-end", { session_id: id, cwd: directory })
        sessions.delete(id)
      }
    },
  }
}
