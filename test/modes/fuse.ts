import { ConnectorError } from '@penstock/connector'
import { Ended } from '../../packages/engine/src/protocol.ts'

/** Places that a transfer passes. */
export const places = [
  'open',
  'begin batch',
  'confirm',
  'confirmed',
  'doubt rows',
  'doubted rows',
  'replace digests',
  'replaced digests',
  'read',
  'deliver',
  'delivered',
  'removed',
  'flush',
  'finish',
  'finished',
] as const
export type Place = (typeof places)[number]

/** Places at which a side of the connection can fail for a short time. */
const ofSides: readonly Place[] = ['read', 'deliver', 'delivered', 'removed', 'flush', 'finish', 'finished']

/** An interruption at a place of a transfer, after it was passed so often: the runner dies there, or a side fails for a short time. */
export type Incident = { readonly place: Place; readonly after: number; readonly kind: 'kill' | 'transient' }

/** Interrupts a transfer at one of the places that it passes. After a kill, nothing of the runner has an effect any more. */
export class Fuse {
  readonly #controller = new AbortController()
  readonly #incident: Incident | undefined
  #passed = 0

  constructor(incident: Incident | undefined) {
    this.#incident = incident
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Called at each place. Throws if the runner is dead, or the side fails. */
  pass(place: Place): void {
    this.#controller.signal.throwIfAborted()
    if (place !== this.#incident?.place) return
    this.#passed += 1
    if (this.#passed !== this.#incident.after + 1) return
    if (this.#incident.kind === 'kill') {
      this.#controller.abort(new Ended(true))
      this.#controller.signal.throwIfAborted()
    } else if (ofSides.includes(place)) throw new ConnectorError('platform_unavailable', 'It is not there.')
  }
}
