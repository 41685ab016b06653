import type http from 'node:http'
import type { LookUp } from './look-up.ts'

/**
 * Connections of one kind that are kept for the next request: with checked addresses, or without.
 *
 * Node's clients are loaded with the first request that needs them, not by `import`: an import reads every export of the
 * module, and one export of `node:http` loads another client, which costs 60 ms and 14 MB.
 */
export class Agents {
  readonly #options: http.AgentOptions
  readonly #agents = new Map<string, http.Agent>()

  /** @param lookup looks names up; by default the system does */
  constructor(lookup?: LookUp) {
    this.#options = { keepAlive: true, scheduling: 'lifo', ...(lookup ? { lookup } : {}) }
  }

  /** The request function for a URL, and its agent. */
  for({ protocol }: URL): { readonly request: typeof http.request; readonly agent: http.Agent } {
    const { Agent, request } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
    const agent = this.#agents.get(protocol) ?? new Agent(this.#options)
    this.#agents.set(protocol, agent)
    return { request, agent }
  }

  /** Ends every connection. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }
}
