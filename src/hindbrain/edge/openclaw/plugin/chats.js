// Who is in a conversation: the owner alone, somebody else, a group, or nobody (a schedule, a heartbeat, an agent).
// What lies in the vault is for its owner. Where it is not sure who listens, nobody gets anything of it.

const GROUP_KEY = /(?:^|:)(?:group|channel):|@g\.us$|:guild-[^:]+:channel-/ // after the agent's name
const NOBODY_KEY = /^agent:[^:]+:(?:subagent|cron|hook|acp|internal-session-effects|dreaming-narrative-[^:]*)(?::|$)/
const CHILD_KEY = /^agent:[^:]+:subagent:/
const MOST = 500
const TOKEN_CHANNEL = "webchat" // pages and programs that have the gateway's token

const isGroupKey = (key) => GROUP_KEY.test(key.replace(/^agent:[^:]+:/, ""))

const bare = (channel, id) => String(id).replace(`${channel}:`, "")

// OpenClaw loads a plugin twice in one process, for the gateway and for runs, each time with modules of its own:
// what the one hears of, the other must know. `make` makes what is not there yet.
const TOGETHER = Symbol.for("hindbrain.openclaw 1")
export function together(name, make = () => new Map()) {
  const all = (globalThis[TOGETHER] ??= new Map())
  if (!all.has(name)) all.set(name, make())
  return all.get(name)
}

// Of old things the oldest are forgotten.
export function remember(map, key, value) {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST) map.delete(map.keys().next().value)
}

// May several people write to the bot in private on this channel, as far as the settings tell?
function hasSeveral(settings) {
  if (!settings || typeof settings !== "object") return false
  const accounts = Object.values(settings.accounts ?? {}).filter((one) => one && typeof one === "object")
  const all = [settings, settings.dm, ...accounts, ...accounts.map(({ dm }) => dm)].filter(Boolean)
  const ids = new Set(all.flatMap(({ allowFrom }) => (Array.isArray(allowFrom) ? allowFrom.map(String) : [])))
  return ids.size > 1 || ids.has("*") || all.some(({ dmPolicy, policy }) => dmPolicy === "open" || policy === "open")
}

// `sessionEntry(sessionKey)`: OpenClaw's own record of a session, or undefined. `owners`: ids of senders ("42",
// "telegram:42"); where they are not told, the one who may write to the bot in private is the owner. Where several
// may, or do, nobody knows who is: `warn` says so once, and private chats of that channel are closed.
export function makeChats({ groupsAllowed, owners, openclaw, sessionEntry, warn = () => {} }) {
  const groups = together("groups") // "telegram:-100": a chat with others, as it was dispatched
  const parents = together("parents") // session of a sub-agent -> the session that it works for
  const speakers = together("speakers") // "telegram:42": a private chat -> who spoke in it
  const operators = together("operators") // session key -> whether its latest turn came from the command line
  const others = together("others") // session key -> whether its latest turn was somebody else's
  const senders = together("senders") // channel -> who spoke in private there
  const warned = together("warned", () => new Set())
  const known = Array.isArray(owners) ? new Set(owners.map(String)) : null

  const bindings = Array.isArray(openclaw?.bindings) ? openclaw.bindings : []
  const toMain = (one) => one?.session?.groupScope === "main"
  const shared = toMain(openclaw) || bindings.some(toMain)

  function entryOf(key) {
    try {
      return sessionEntry(key)
    } catch {
      return undefined
    }
  }

  function isGroupChat({ agentId = "main", channel, chatId, to }) {
    if (isGroupKey(String(to ?? ""))) return true
    if (!channel) return false
    const ids = [chatId, to].filter(Boolean).map((id) => bare(channel, id))
    return ids.some(
      (id) =>
        groups.has(`${channel}:${id}`) ||
        entryOf(`agent:${agentId}:${channel}:group:${id}`) !== undefined ||
        entryOf(`agent:${agentId}:${channel}:channel:${id}`) !== undefined,
    )
  }

  function isGroupSession(key, depth = 0) {
    if (!key) return false // the gateway's own questions have no session
    if (isGroupKey(key)) return true
    if (/^agent:[^:]+:main$/.test(key)) return false
    const entry = entryOf(key)
    if (["group", "channel"].includes(entry?.chatType)) return true
    const parent = parents.get(key) ?? entry?.spawnedBy ?? entry?.parentSessionKey
    if (parent && parent !== key) return depth > 8 || isGroupSession(parent, depth + 1)
    return CHILD_KEY.test(key) // works for somebody that we do not know
  }

  function isAnybodys(channel) {
    const several = (senders.get(channel)?.size ?? 0) > 1 || hasSeveral(openclaw?.channels?.[channel])
    if (several && !warned.has(channel)) {
      warned.add(channel)
      warn(
        `hindbrain: several people may write to you over ${channel}; nothing of the vault is shown there, and nothing is ` +
          "kept, until `owners` says which of them you are. See: hindbrain openclaw status",
      )
    }
    return several
  }

  const isOwner = (channel, id) => known.has(String(id)) || known.has(`${channel}:${id}`)

  // Does a turn answer somebody else than the owner, or is that not sure? Heartbeats, schedules, sub-agents and
  // commands have no sender: theirs is the chat that the answer goes to.
  function isOthers({ channel, sender, operator, chatId, to }) {
    if (channel === TOKEN_CHANNEL) return false
    if (!known) return Boolean(channel) && !operator && isAnybodys(channel)
    if (sender) return !isOwner(channel, sender)
    if (!channel || operator) return false
    const ids = [chatId, to].filter(Boolean).map((id) => bare(channel, id))
    const isOwners = (id) => isOwner(channel, id) || isOwner(channel, speakers.get(`${channel}:${id}`))
    return ids.length === 0 || !ids.every(isOwners)
  }

  // A chat in which somebody spoke in private or may, or the one of the owner's session.
  function isPrivate(agentId, channel, id) {
    if (speakers.has(`${channel}:${id}`) || entryOf(`agent:${agentId}:${channel}:direct:${id}`)) return true
    const allowed = openclaw?.channels?.[channel]?.allowFrom
    if (Array.isArray(allowed) && allowed.some((one) => bare(channel, one) === id)) return true
    const { chatType, delivery } = entryOf(`agent:${agentId}:main`) ?? {}
    const route = delivery?.context ?? {}
    return !shared && chatType === "direct" && route.channel === channel && bare(channel, route.to) === id
  }

  // What nobody asked for, on its way to a chat that nobody has spoken in: that may be a group. (Where the owners are
  // named, it must be a chat of theirs in any case.)
  function isUnknown({ agentId = "main", channel, sender, operator, chatId, to }) {
    if (known || sender || operator || !channel || channel === TOKEN_CHANNEL) return false
    const ids = [chatId, to].filter(Boolean).map((id) => bare(channel, id))
    return !ids.every((id) => isPrivate(agentId, channel, id))
  }

  return {
    shared, // groups may speak in the owner's own session
    guarded: known !== null || Object.values(openclaw?.channels ?? {}).some(hasSeveral), // others may write
    noteDispatch(event, ctx) {
      const chat = `${ctx.channelId}:${ctx.conversationId}`
      if (event.isGroup) remember(groups, chat, true)
      else {
        const sender = event.senderId ?? ctx.senderId
        remember(speakers, chat, sender)
        if (sender) remember(senders, ctx.channelId, (senders.get(ctx.channelId) ?? new Set()).add(String(sender)))
      }
    },
    // Tools are made at the beginning of each turn, and only with them it is told who gave a command.
    noteTools(ctx) {
      remember(operators, ctx.sessionKey, !ctx.requesterSenderId && ctx.senderIsOwner === true)
    },
    isOperator: (ctx) => operators.get(ctx.sessionKey) === true,
    noteTurn(sessionKey, chat) {
      remember(others, sessionKey, isOthers(chat))
    },
    // Of the latest turn of a session; undefined: there was none.
    isOthersTurn: (sessionKey) => others.get(sessionKey) ?? (known ? undefined : false),
    // Of a message that was there before the turn. One that does not say by whom it is, is not kept.
    isOwnersMessage({ __openclaw: told = {} }) {
      if (told.transport?.clients) return true // those with the gateway's token
      if (!known) return !told.senderId || !isAnybodys(told.transport?.channel)
      if (told.senderId) return isOwner(told.transport?.channel, told.senderId)
      return told.senderIsOwner === true
    },
    noteSpawned(event, ctx) {
      if (ctx.requesterSessionKey) remember(parents, event.childSessionKey, ctx.requesterSessionKey)
    },
    // May what lies in the vault be shown there, and what is said there be kept?
    isClosed(sessionKey, chat = {}) {
      if (isOthers(chat)) return true
      return !groupsAllowed && (isGroupSession(sessionKey) || isGroupChat(chat) || isUnknown(chat))
    },
    // Is it a person who speaks in this turn?
    isPerson({ trigger, inputProvenance, sessionKey = "" }) {
      if (trigger !== "user" || NOBODY_KEY.test(sessionKey)) return false
      return !inputProvenance || inputProvenance.kind === "external_user"
    },
  }
}
