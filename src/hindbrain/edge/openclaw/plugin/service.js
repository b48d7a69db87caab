// The way to Hindbrain's service on this machine: its token, its time limits, what is said when it is down,
// and its start. Knows nothing of conversations.
import { spawn } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { together } from "./chats.js"
import { exchange, isOurs } from "./talking.js"

export const VERSION = "0.1.0"
const START_AGAIN_MS = 60_000
const REST_MS = 10_000 // after an answer that did not come in time, turns are not made to wait again for so long
const HERE = new Set(["127.0.0.1", "localhost", "[::1]"])

const NOT_OURS = (url, file) =>
  `what listens at ${url.origin} does not know the token in ${JSON.stringify(file)}: another program has the port, ` +
  "or the service has another token"
const OF_ARGUMENTS = new Set([400, 403, 409, 413]) // a path that leads out of the vault, say; the service is well

// `mistaken`: it is what was asked for that can't be answered, not the service. `answered`: by the service itself.
export class Unavailable extends Error {
  constructor(message, { code = "unavailable", late = false, refused = false, mistaken = false, answered = false } = {}) {
    super(message)
    Object.assign(this, { code, late, refused, mistaken, answered })
  }
}

// What a program needs of its surroundings; the keys of the gateway's models are none of it.
const SURROUNDINGS = new RegExp(
  "^(?:PATH|HOME|USER|LOGNAME|USERNAME|LANG|LC_\\w+|TZ|TMPDIR|TE?MP|XDG_\\w+|HINDBRAIN_\\w+|VIRTUAL_ENV|" +
    "SYSTEM(?:ROOT|DRIVE)|WINDIR|COMSPEC|PATHEXT|USERPROFILE|HOME(?:DRIVE|PATH)|(?:LOCAL)?APPDATA|PROGRAMDATA|" +
    "(?:LD|DYLD)_\\w+|SSL_CERT_\\w+|(?:HTTPS?|ALL|NO)_PROXY)$",
  "i",
)

// Starts the daemon that serves us. No shell: the words are the program and its arguments.
export function startDaemon(command, env, failed) {
  const ours = Object.entries(env ?? {}).filter(([name]) => name.startsWith("HINDBRAIN_"))
  const around = Object.entries(process.env).filter(([name]) => SURROUNDINGS.test(name))
  const child = spawn(command[0], command.slice(1), {
    detached: true, // it serves others, too, and lives on when the gateway ends
    stdio: "ignore",
    windowsHide: true,
    env: Object.fromEntries([...around, ...ours]),
  })
  child.on("error", failed)
  child.unref()
}

export function makeService(config, logger, { start = startDaemon, now = Date.now } = {}) {
  let token = { stamp: "", text: "" }
  // `outage`: the first failure of the present one, and `failing` the route that must work again to end it.
  const known = together(`service ${config.baseUrl}`, () => ({ outage: null, failing: "", startedAt: -Infinity, lateAt: -Infinity }))

  function readToken() {
    if (!config.tokenFile) throw new Unavailable("tokenFile is not set; run: hindbrain openclaw install")
    let stamp = ""
    try {
      const { mtimeMs, size, ino } = statSync(config.tokenFile)
      stamp = `${mtimeMs} ${size} ${ino}`
      if (stamp !== token.stamp) token = { stamp, text: readFileSync(config.tokenFile, "utf8").trim() }
    } catch (error) {
      throw new Unavailable(`the token file ${JSON.stringify(config.tokenFile)} can't be read (${error.code})`)
    }
    return token.text
  }

  function address(route) {
    let url
    try {
      url = new URL(`/v1/${route}`, config.baseUrl)
    } catch {
      throw new Unavailable(`baseUrl is no address: ${JSON.stringify(config.baseUrl)}`)
    }
    // What is said in conversations, and the token, stay on this machine.
    if (url.protocol !== "http:" || !HERE.has(url.hostname)) {
      throw new Unavailable(`baseUrl must be http on this machine, and is ${JSON.stringify(config.baseUrl)}`)
    }
    return url
  }

  async function ask(route, body, { timeoutMs, signal }) {
    const limit = AbortSignal.timeout(timeoutMs)
    const vault = config.vaultPath ? { vault: config.vaultPath } : {}
    const url = address(route)
    if (!body && config.vaultPath) url.searchParams.set("vault", config.vaultPath)
    const words = readToken()
    const headers = { authorization: `Bearer ${words}`, "user-agent": `hindbrain-openclaw/${VERSION}` }
    if (body) headers["content-type"] = "application/json"
    const until = signal ? AbortSignal.any([limit, signal]) : limit
    let answer
    try {
      if (!(await isOurs(url, words, until))) throw new Unavailable(NOT_OURS(url, config.tokenFile))
      answer = await exchange(url, {
        method: body ? "POST" : "GET",
        headers,
        body: body ? JSON.stringify({ ...body, ...vault }) : undefined,
        signal: until,
      })
    } catch (error) {
      if (error instanceof Unavailable || signal?.aborted) throw error
      if (limit.aborted) throw new Unavailable(`no answer within ${timeoutMs} ms`, { code: "late", late: true })
      const code = error.code ?? error.message
      throw new Unavailable(`no service at ${url.origin} (${code})`, { refused: code === "ECONNREFUSED" })
    }
    return parsed(answer)
  }

  function parsed(answer) {
    let data
    try {
      data = JSON.parse(answer.text)
    } catch {
      throw new Unavailable(`what answers at ${config.baseUrl} is not Hindbrain's service (HTTP ${answer.status})`)
    }
    if (answer.status === 200 && data && typeof data === "object") return data
    const said = data?.error?.message ?? `HTTP ${answer.status}`
    const hint = answer.status === 401 ? ` (token file: ${config.tokenFile})` : ""
    const mistaken = OF_ARGUMENTS.has(answer.status)
    throw new Unavailable(`${said}${hint}`, { code: data?.error?.code, late: answer.status === 504, mistaken, answered: answer.status !== 401 })
  }

  function startAgain() {
    if (!config.command?.length || now() - known.startedAt < START_AGAIN_MS) return ""
    known.startedAt = now()
    const failed = (error) => logger.warn(`hindbrain: ${config.command[0]} can't be started: ${error.message}`)
    try {
      start(config.command, config.env, failed)
    } catch (error) {
      failed(error)
      return ""
    }
    return "; it is being started"
  }

  function noteFailure(route, error) {
    if (error.late) known.lateAt = now()
    const started = error.refused ? startAgain() : ""
    if (known.outage || error.mistaken) return
    Object.assign(known, { outage: error, failing: route })
    logger.warn(
      `hindbrain: memory is unavailable: ${error.message}${started}. Conversations go on without it; ` +
        "what is said meanwhile is handed over later. See: hindbrain openclaw status",
    )
  }

  return {
    get outage() {
      return known.outage
    },
    // `patient`: a tool that the model waits for. Hooks are not patient: a turn never waits twice in vain.
    async call(route, body, { timeoutMs = config.timeoutMs, signal, patient = false } = {}) {
      try {
        const rests = !patient && now() - known.lateAt < REST_MS
        if (rests) throw new Unavailable("it was too slow a moment ago", { code: "late" })
        const data = await ask(route, body, { timeoutMs: Math.min(timeoutMs, config.timeoutMs), signal })
        known.lateAt = -Infinity
        // One that is well for one question may still fail at another, as when the vault is away.
        if (known.outage && (known.failing === route || !known.outage.answered)) {
          logger.info("hindbrain: memory is back")
          known.outage = null
        }
        return data
      } catch (error) {
        if (error instanceof Unavailable) noteFailure(route, error)
        throw error
      }
    },
  }
}
