import { acceptedOf, type Confirmation } from '@penstock/engine'

/** Counts the activity of one worker since its start, for its metrics and its health. */
export class WorkerActivity {
  #claims = 0
  #running = 0
  readonly #records = { read: 0, sent: 0, accepted: 0, rejected: 0 }
  #heartbeatMs = performance.now()

  /** A transfer or a part was claimed, and runs until the result is called. */
  begin(): () => void {
    this.#claims++
    this.#running++
    return () => void this.#running--
  }

  /** A destination confirmed a batch, and the database stored that. */
  confirmed(confirmation: Confirmation): void {
    this.#records.read += confirmation.read
    this.#records.sent += confirmation.sent
    this.#records.accepted += acceptedOf(confirmation)
    this.#records.rejected += confirmation.rejected
  }

  /** The database accepted the heartbeats. */
  noteHeartbeat(): void {
    this.#heartbeatMs = performance.now()
  }

  get stats() {
    const heartbeatAgeSeconds = (performance.now() - this.#heartbeatMs) / 1000
    return { claims: this.#claims, running: this.#running, records: { ...this.#records }, heartbeatAgeSeconds }
  }
}
