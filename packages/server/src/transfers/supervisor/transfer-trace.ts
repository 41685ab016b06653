import type { Confirmation, HostMethod } from '@penstock/engine'
import type { Telemetry, TraceSpan } from '../../telemetry/telemetry.ts'
import type { WorkRow } from './claim-queries.ts'
import { incidentOf } from './endings.ts'

/**
 * The trace of one attempt of a transfer, in that of the request that started it:
 * request → queued · attempt → runner → each batch, from its announcement to the next one or its confirmation.
 * It is made here, from what the runner asks of its supervisor: the runner knows nothing of it.
 */
export class TransferTrace {
  /** Fields of the log lines of this attempt. */
  readonly logFields: { readonly trace_id: string; readonly span_id: string }
  readonly #startSpan: NonNullable<Telemetry['startSpan']>
  readonly #attempt: TraceSpan
  readonly #about: Record<string, string | number>
  #runner: TraceSpan | undefined
  #batch: TraceSpan | undefined
  #batches = 0
  readonly #records = { read: 0, sent: 0, rejected: 0 }

  /** @param sides the slugs of both connectors */
  constructor(
    startSpan: NonNullable<Telemetry['startSpan']>,
    { id, connectionId, accountId, organizationId, attempt, trigger, traceparent, createdTime }: WorkRow,
    sides: readonly string[],
  ) {
    this.#startSpan = startSpan
    this.#about = { 'penstock.transfer.id': id, 'penstock.attempt': attempt }
    if (traceparent !== null && attempt === 1) {
      startSpan('transfer queued', { parent: traceparent, startTime: createdTime, attributes: this.#about }).end()
    }
    this.#attempt = startSpan('transfer attempt', {
      parent: traceparent,
      kind: 'consumer',
      attributes: {
        ...this.#about,
        'penstock.connection.id': connectionId,
        'penstock.account.id': accountId,
        'penstock.organization.id': organizationId,
        'penstock.trigger': trigger,
        'penstock.source': sides[0],
        'penstock.destination': sides[1],
      },
    })
    this.logFields = { trace_id: this.#attempt.traceId, span_id: this.#attempt.spanId }
  }

  /** The job is given to a runner. */
  runs(): void {
    const { traceparent: parent } = this.#attempt
    this.#runner = this.#startSpan('transfer runner', { parent, attributes: this.#about })
  }

  /** Called when a request of a runner has been answered. */
  answered(method: HostMethod, argument: unknown, answer: unknown): void {
    if (method === 'beginBatch') this.#begin()
    if (method === 'confirm') {
      this.#confirm((argument as { confirmation: Confirmation }).confirmation)
      if (answer === true) this.#begin()
    }
    if (method === 'reportRetry') {
      const { code, waitMs } = argument as { code: string; waitMs: number }
      this.#batch?.end(code)
      this.#batch = undefined
      this.#runner?.event('retry', { 'error.type': code, 'penstock.wait_ms': waitMs })
    }
  }

  #begin(): void {
    // A destination may confirm several batches at once; one that is split comes again in parts.
    this.#batch?.set({ 'penstock.confirmed': false })
    this.#batch?.end()
    this.#batches++
    this.#batch = this.#startSpan('transfer batch', {
      parent: this.#runner?.traceparent,
      attributes: { ...this.#about, 'penstock.batch': this.#batches },
    })
  }

  #confirm({ read, sent, rejected, bytes }: Confirmation): void {
    this.#records.read += read
    this.#records.sent += sent
    this.#records.rejected += rejected
    const confirmed = { ...recordsOf({ read, sent, rejected }), 'penstock.bytes': bytes }
    this.#batch?.set({ ...confirmed, 'penstock.confirmed': true })
    this.#batch?.end()
    this.#batch = undefined
  }

  /** The runner is done with the job, well or not. */
  stopped(failure?: unknown): void {
    const code = failure === undefined ? undefined : codeOf(failure)
    // A source may turn out to have nothing more once the batch was announced.
    this.#batch?.end(code)
    this.#batch = undefined
    this.#runner?.end(code)
    this.#runner = undefined
  }

  end(failure?: unknown): void {
    this.stopped(failure)
    this.#attempt.set({ ...recordsOf(this.#records), 'penstock.batches': this.#batches })
    this.#attempt.end(failure === undefined ? undefined : codeOf(failure))
  }
}

const recordsOf = ({ read, sent, rejected }: Pick<Confirmation, 'read' | 'sent' | 'rejected'>) => ({
  'penstock.records.read': read,
  'penstock.records.sent': sent,
  'penstock.records.rejected': rejected,
})

/** A code, and never a message, which may quote what a platform said. */
function codeOf(failure: unknown): string {
  const incident = incidentOf(failure)
  return 'code' in incident ? incident.code : incident.interruption
}
