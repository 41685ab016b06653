import type http from 'node:http'
import type { Duplex } from 'node:stream'
import type tls from 'node:tls'
import type { Dial } from './dial.ts'
import type { LookUp } from './look-up.ts'

/**
 * Connections of one kind that are kept for the next request: with checked addresses, without, or through another machine.
 *
 * Node's clients are loaded with the first request that needs them, not by `import`: an import reads every export of the
 * module, and one export of `node:http` loads another client, which costs 60 ms and 14 MB.
 */
export class Agents {
  readonly #options: http.AgentOptions
  readonly #agents = new Map<string, http.Agent>()

  readonly #dial: Dial | undefined

  /**
   * @param way `lookup` resolves names; by default the system does it. `dial` connects to hosts; by default the agents of Node do
   * it
   */
  constructor({ lookup, dial }: { readonly lookup?: LookUp; readonly dial?: Dial } = {}) {
    this.#dial = dial
    this.#options = { keepAlive: true, scheduling: 'lifo', ...(lookup ? { lookup } : {}) }
  }

  /** The request function for a URL, and its agent. */
  for({ protocol }: URL): { readonly request: typeof http.request; readonly agent: http.Agent } {
    const { Agent, request } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
    const agent = this.#agents.get(protocol) ?? this.#dialling(new Agent(this.#options), protocol === 'https:')
    this.#agents.set(protocol, agent)
    return { request, agent }
  }

  /** Lets an agent connect with `dial`, if there is one. */
  #dialling(agent: http.Agent, isTls: boolean): http.Agent {
    const dial = this.#dial
    if (!dial) return agent
    agent.createConnection = (options, done) => {
      const { host, port } = options as { host?: string; port?: number | string }
      dial(host ?? 'localhost', Number(port)).then(
        ({ stream }) => done?.(null, isTls ? secured(stream, options as tls.ConnectionOptions) : stream),
        (error) => done?.(error, undefined as unknown as Duplex),
      )
      return undefined
    }
    return agent
  }

  /** Ends every connection. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }
}

const secured = (socket: Duplex, options: tls.ConnectionOptions): Duplex =>
  process.getBuiltinModule('node:tls').connect({ ...options, socket })
