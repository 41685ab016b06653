import type { ConnectOptions, TcpStream } from '../context.ts'
import type { Dial } from './dial.ts'
import type { AddressRules } from './look-up.ts'

/** A machine through which other hosts are reached. */
export type Relay = {
  /** A proxy receives only addresses that this service resolved and allows. A bastion also receives names of its own network. */
  readonly kind: 'bastion' | 'proxy'
  /** The IP address of the machine. */
  readonly address: string
  /** Throws as `Egress.connect` does. */
  connect(host: string, port: number, options: ConnectOptions): Promise<TcpStream>
}

/** The connection to the machine: the same one as long as it lasts. */
export type OpenRelay = (options: ConnectOptions) => Promise<Relay>

/** Connects through another machine, to addresses that the rules allow behind it. */
export const relayedDial =
  (rules: AddressRules, open: OpenRelay): Dial =>
  async (host, port, options = {}) => {
    // A host that is refused in any case is not worth a connection.
    rules.assertNotBarred(host)
    const relay = await open(options)
    const address =
      relay.kind === 'proxy' ? await rules.resolve(host, port) : await rules.behind(relay.address, host, port)
    options.signal?.throwIfAborted()
    return { stream: await relay.connect(address, port, options), address }
  }
