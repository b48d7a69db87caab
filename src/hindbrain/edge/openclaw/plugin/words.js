// The words of a person in a message, without what OpenClaw puts around them, and whether there was a person at
// all. Everything here takes time in proportion to the text: anybody may write to the bot, and at any length.
const LOOKED_AT = 200_000 // characters of one message; nobody puts anything around words further down

// Lines that OpenClaw puts around the words of a person.
const LINES = [
  /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? [^\]\n]{1,40}\] /g,
  /^\[(?:media|image|audio|video|document|sticker)[^\]\n]{0,300}\]$/gim,
  /^\[message_id: [^\]\n]{1,200}\]$/gm,
]
const EVENTS = /^System: \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [^\]\n]{1,40}\] / // what happened, told to the model
// Texts in the user's role that no person wrote, where nothing else tells it.
const NOBODY = [
  /^\s*\[OpenClaw (?:heartbeat poll|session event|cron wake|exec completion|room event)\]\s*$/,
  /^\s*\[cron:[0-9a-f]{8}-[0-9a-f-]{27}[ \]]/,
  /^\s*\[Subagent Context\] You are running as a subagent/,
  /^\s*A background task completed\. (?:Use this result to reply|Keep internal details private)/,
  /^\[Inter-session message\][^\n]*isUser=false/m,
]

export function textOf(content) {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  const texts = content.map((part) => (part?.type === "text" ? part.text : part))
  return texts.filter((text) => text && typeof text === "string").join("\n")
}

// The text without what `find(text, from)` finds, [start, end) after [start, end); each look begins where the last ended.
function without(text, find) {
  const left = []
  let from = 0
  for (let found = find(text, 0); found; found = find(text, from)) {
    left.push(text.slice(from, found[0]))
    from = found[1]
  }
  return left.length ? left.join("") + text.slice(from) : text
}

// From one mark to the next other one; `last` ends the other mark.
const between = (first, other, last = "") => (text, from) => {
  const start = text.indexOf(first, from)
  const close = start < 0 ? -1 : text.indexOf(other, start + first.length)
  const end = close < 0 || !last ? close : text.indexOf(last, close + other.length)
  return end < 0 ? null : [start, end + (last || other).length]
}

const STATUS = "<memory_status"
function status(text, from) {
  for (let start = text.indexOf(STATUS, from); start >= 0; ) {
    const end = text.indexOf(">", start)
    if (end < 0) return null
    if (text[end - 1] === "/") return [start, end + 1]
    start = text.indexOf(STATUS, end)
  }
  return null
}

const CTX = "⟦openclaw:ctx⟧\n```"
function envelope(text, from) {
  const mark = text.indexOf(CTX, from)
  const end = mark < 0 ? -1 : text.indexOf("\n```", mark + CTX.length)
  if (end < 0) return null
  const line = Math.max(from, text.lastIndexOf("\n", mark) + 1)
  const label = text.slice(line, mark).search(/Conversation info|Sender|Conversation context|Chat history/)
  return [label < 0 ? mark : line + label, end + 4]
}
const AROUND = [
  between("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
  between("<memory_context", "</memory_context", ">"),
  status,
  envelope,
]

// The lines that tell the model what happened, before the words of a person or without any.
function afterEvents(text) {
  const lines = text.split("\n")
  const end = lines.findIndex((line) => !line.startsWith("System: "))
  const told = end < 0 ? lines : lines.slice(0, end)
  return told.some((line) => EVENTS.test(line)) ? lines.slice(told.length).join("\n") : text
}

export function ownWords(text) {
  const inner = AROUND.reduce(without, text.slice(0, LOOKED_AT))
  const left = LINES.reduce((words, around) => words.replace(around, ""), afterEvents(inner))
  return (left.replace(/\n{3,}/g, "\n\n") + text.slice(LOOKED_AT)).trim()
}

// What OpenClaw says of a message goes before what the message looks like. `sender`: of the turn it began.
export function saidByNobody(message, text, sender) {
  const kind = message.provenance?.kind ?? message.inputProvenance?.kind
  if (kind !== undefined) return kind !== "external_user"
  if (sender || message.__openclaw?.senderId) return false
  return NOBODY.some((words) => words.test(text)) || (text !== "" && afterEvents(text).trim() === "")
}
