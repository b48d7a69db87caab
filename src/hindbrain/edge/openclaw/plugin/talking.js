// One request to a program on this machine, and the proof that this program is Hindbrain's service.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { request } from "node:http"
import { connect } from "node:net"

const MOST_BYTES = 32_000_000 // of an answer

// On a connection that we open ourselves: what a host has set up for all requests, as a proxy, does not hold for it.
export function exchange(url, { method, headers, body, signal }) {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const createConnection = () => connect({ host, port: Number(url.port || 80) })
  const sized = body === undefined ? headers : { ...headers, "content-length": Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers: sized, signal, createConnection }, (answer) => {
      const parts = []
      let size = 0
      answer.on("data", (part) => {
        parts.push(part)
        if ((size += part.length) > MOST_BYTES) answer.destroy(new Error("the answer has no end"))
      })
      answer.on("error", reject)
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8")
        resolve({ status: answer.statusCode, headers: answer.headers, text })
      })
    })
    asking.on("error", reject)
    asking.end(body)
  })
}

// While the daemon is down any program can take its port. One that does not know the token can't answer this, and
// gets neither the token nor anybody's words.
export async function isOurs(url, token, signal) {
  const nonce = randomBytes(32).toString("hex")
  const { status, headers } = await exchange(url, { method: "GET", headers: { "x-hindbrain-nonce": nonce }, signal })
  const given = /proof="([0-9a-f]{64})"/.exec(headers["www-authenticate"] ?? "")?.[1]
  if (status !== 401 || !given) return false
  const wanted = createHmac("sha256", token).update(`hindbrain ${nonce}`).digest()
  return timingSafeEqual(Buffer.from(given, "hex"), wanted)
}
