import type http from 'node:http'
import type { LookUp } from './look-up.ts'

/**
 * Connections that are kept for the next request, of one kind: those with checked addresses, or those without.
 *
 * Node's clients are loaded with the first request that needs them, and not by `import`: that reads every export of a module
 * as it loads, and one of `node:http` is another client, of 60 ms and 14 MB.
 */
export class Agents {
  readonly #options: http.AgentOptions
  readonly #agents = new Map<string, http.Agent>()

  /** @param lookup looks names up; the system does so otherwise */
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
