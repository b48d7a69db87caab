// What the gateway itself asks of its memory: memory.search, openclaw status, and which files of the workspace are
// for prompts.
import { atMost } from "./recall.js"

const PROFILE = /^(?:users\/[A-Za-z0-9][\w-]{0,127}\/)?USER\.md$/ // what OpenClaw's people say of themselves

// Which files of its workspace OpenClaw puts into prompts: of "owner" and "agent". MEMORY.md is none of them, since
// the vault is the memory. What says who the user is stays, unless OpenClaw knows that a stranger's turn wrote it.
async function originOf(workspaceDir, relativePath) {
  if (!PROFILE.test(relativePath)) return "untrusted"
  try {
    const { readMemoryArtifactProvenance } = await import("openclaw/plugin-sdk/memory-core-host-runtime-core")
    return (await readMemoryArtifactProvenance({ workspaceDir, relativePath }))?.originClass ?? "agent"
  } catch {
    return "agent" // another version of OpenClaw
  }
}

// What the gateway itself asks (memory.search, openclaw status). The service follows the vault by itself.
export function makeRuntime(service, config, isClosed) {
  let known = null // the last status that was told
  const look = async () => (known = await service.call("status", null))

  const manager = {
    async search(query, { maxResults = config.maxResults, minScore, sessionKey, sources, signal } = {}) {
      if (isClosed(sessionKey)) return []
      const body = { query, maxResults: atMost(maxResults), ...(minScore === undefined ? {} : { minScore }) }
      const { results } = await service.call("search", body, { signal, patient: true })
      return sources ? results.filter((hit) => sources.includes(hit.source)) : results
    },
    async readFile({ relPath, from, lines }) {
      const body = { path: relPath, ...(from ? { from } : {}), ...(lines ? { lines } : {}) }
      return service.call("read", body, { patient: true })
    },
    status() {
      const down = service.outage ? { lastSyncError: service.outage.message } : {}
      return {
        backend: "builtin", // the only word that OpenClaw has for it
        provider: "hindbrain",
        model: known?.embedder || undefined,
        files: known?.index?.notes,
        dirty: known ? known.index?.state !== "ready" : undefined,
        workspaceDir: known?.vault,
        vector: { enabled: Boolean(known?.embedder), available: Boolean(known?.embedder) && !service.outage },
        fts: { enabled: true, available: !service.outage },
        custom: { hindbrain: known ?? {} },
        ...down,
      }
    },
    async sync() {},
    async probeEmbeddingAvailability() {
      try {
        const { embedder } = await look()
        return embedder ? { ok: true } : { ok: false, error: "notes are searched by their words alone" }
      } catch (error) {
        return { ok: false, error: error.message }
      }
    },
    async probeVectorAvailability() {
      return (await this.probeEmbeddingAvailability()).ok
    },
    async close() {},
  }
  return {
    async getMemorySearchManager() {
      try {
        await look()
        return { manager }
      } catch (error) {
        return { manager: known ? manager : null, error: error.message }
      }
    },
    resolveMemoryBackendConfig: () => ({ backend: "builtin" }),
    supportsWorkspaceMemoryReadSources: true,
    classifyWorkspaceMemoryPaths: ({ workspaceDir, relativePaths, readSources }) =>
      Promise.all(
        relativePaths.map(async (relativePath) => {
          const source = readSources?.find((one) => one.relativePath === relativePath)
          const path = (readSources ? source?.canonicalRelativePath : relativePath) ?? ""
          return { relativePath, originClass: await originOf(workspaceDir, path) }
        }),
      ),
    // Without it the gateway would keep back hits in notes of earlier sessions.
    authorizeSearchHits: async ({ requesterSessionKey, hits }) => (isClosed(requesterSessionKey) ? [] : hits),
  }
}
