import {
  acceptedOf,
  type BatchStart,
  type ColumnReport,
  type Confirmation,
  type DivideArgument,
  type HostMethod,
  type ReportedLine,
  storable,
  type TransferState,
} from '@penstock/engine'
import { limits, type TransferLogKind } from '@penstock/wire'
import type { Database } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import * as queries from './log-queries.ts'

/** A line of the log as it is stored. */
export type LogLine = {
  /** Unix time in milliseconds, of the database. */
  readonly ms: number
  readonly kind: TransferLogKind
  readonly text: string
}

/** Words for the reasons of skipped records that are no words. */
const inWords: Readonly<Record<string, string>> = {
  noConsent: 'without consent',
  controlGroup: 'in the control group',
}

/** The lines that are kept from the beginning of an attempt; the others are its last ones. */
const firstKept = Math.floor(limits.transferLogLinesMax / 3)

/**
 * The log of one attempt of a transfer, for people: what was opened, sent, confirmed and waited for. It is made here, from
 * what the runner asks of its supervisor, and has counts and the messages of errors, which were redacted in the runner; no value of a
 * record. The lines in the middle are dropped beyond `limits.transferLogLinesMax`.
 */
export class TransferLog {
  readonly #db: Database
  readonly #of: { readonly transferId: string; readonly attempt: number }
  readonly #names: { readonly source: string; readonly destination: string }
  readonly #first: LogLine[] = []
  #last: LogLine[] = []
  #dropped = 0
  /** The time of the database when `performance.now()` was 0. */
  readonly #fromMs: number
  /** The log of a transfer in several parts has one line for each of them, which is stored when the part ends. */
  readonly #isOfPart: boolean
  #isFlushed = true
  #flushed: Promise<void> = Promise.resolve()
  #sentMs: number | undefined
  #read = 0
  /** Counts of this attempt, and whether an earlier one confirmed records. */
  readonly #confirmed = { accepted: 0, rejected: 0 }
  #continues = false
  /** How many files the destination loads itself, of the batch that was begun last. */
  #files: number | undefined

  /** @param names of the connectors of both sides */
  constructor(
    db: Database,
    { id, attempt, parts, trigger, backfill, startedTime, ranMs }: WorkRow,
    names: { source: string; destination: string },
  ) {
    this.#db = db
    this.#of = { transferId: id, attempt }
    this.#isOfPart = parts > 1
    this.#fromMs = startedTime.getTime() + ranMs - performance.now()
    this.#names = trigger === 'replay' ? { ...names, source: 'the rejected records of an earlier transfer' } : names
    this.add(
      'began',
      attempt === 1 ? 'A worker took the transfer.' : `Attempt ${attempt}: a worker took the transfer again.`,
    )
    if (backfill) this.add('began', `Backfill of ${backfill.from} to ${backfill.to}. The cursor stays as it is.`)
  }

  /** A line at this time. */
  lineOf = (kind: TransferLogKind, text: string): LogLine => ({
    ms: Math.round(this.#fromMs + performance.now()),
    kind,
    text: storable(text).slice(0, limits.transferLogTextLengthMax).toWellFormed(),
  })

  add(kind: TransferLogKind, text: string): void {
    const line = this.lineOf(kind, text)
    this.#isFlushed = false
    if (this.#first.length < firstKept) {
      this.#first.push(line)
      return
    }
    this.#last.push(line)
    // One line is for the number of dropped ones.
    if (this.#first.length + this.#last.length < limits.transferLogLinesMax) return
    this.#last.shift()
    this.#dropped++
  }

  /** The last line of an attempt that went through all records. */
  addEnd(): void {
    const { accepted, rejected } = this.#confirmed
    const those = this.#continues ? ' of this attempt' : ''
    const were = (n: number) => `${count(n)} ${n === 1 ? 'record' : 'records'}${those} ${n === 1 ? 'was' : 'were'}`
    if (rejected === 0) this.add('ended', 'Everything is delivered and confirmed.')
    else if (accepted === 0) this.add('ended', `Ended: nothing was accepted. ${were(rejected)} rejected.`)
    else this.add('ended', `Ended: ${were(accepted)} accepted, ${count(rejected)} rejected.`)
  }

  /** Adds a line that the service itself has to say. That of a part goes into the log of its transfer. */
  note = (text: string): void => {
    if (!this.#isOfPart) {
      this.add('noted', text)
      return
    }
    const { transferId } = this.#of
    const line = JSON.stringify(this.lineOf('noted', text))
    void queries.addLastLine.run(this.#db, { transferId, line, linesMax: limits.transferLogLinesMax }).catch(() => {})
  }

  /** Called before a transfer is divided, since its parts add lines to what is stored then. */
  divide({ start: { route } }: DivideArgument): Promise<void> {
    if (route !== undefined) this.add('route', route)
    return this.flush()
  }

  /** Called when a request of a runner has been answered. */
  answered(method: HostMethod, argument: unknown, answer: unknown): void {
    if (method === 'open') {
      const { read } = answer as TransferState
      this.#read = read
      this.#continues = read > 0
      const from = read > 0 ? `, after record ${count(read)}` : ''
      this.add('opened', `Reads from ${this.#names.source} and writes to ${this.#names.destination}${from}.`)
    } else if (method === 'beginBatch') this.#begin(argument as BatchStart)
    else if (method === 'confirm') {
      const { confirmation, next } = argument as { confirmation: Confirmation; next?: { pending: number | null } }
      if (this.#files !== 0) this.#confirm(confirmation)
      if (answer === true) this.#send(next?.pending ?? null)
    } else if (method === 'reportRetry') {
      const { code, message, waitMs } = argument as { code: string; message: string; waitMs: number }
      this.add('waiting', `Waits ${seconds(waitMs)} before another try: ${message} (${code})`)
    } else if (method === 'reportLine') {
      const { side, text } = argument as ReportedLine
      if (side === null) this.add('noted', String(text))
      else this.add('reported', `${side === 'Source' ? this.#names.source : this.#names.destination}: ${String(text)}`)
    } else if (method === 'reportColumns') {
      const { changes, added } = argument as ColumnReport
      if (changes.length > 0)
        this.add(
          'columns',
          `${count(changes.length)} ${changes.length === 1 ? 'column' : 'columns'} changed since the last successful transfer.`,
        )
      if (added.length > 0) this.add('columns', `${count(added.length)} of them were added to the mapping.`)
    }
  }

  #begin({ pending, route, files, exports }: BatchStart): void {
    if (route !== undefined) this.add('route', route)
    this.#files = files
    const { source, destination } = this.#names
    if (files === undefined && !exports) {
      this.#send(pending)
    } else if (files !== 0) {
      this.#sentMs = performance.now()
      const loads = `${destination} loads ${count(files ?? 0)} ${files === 1 ? 'file' : 'files'}.`
      this.add('sent', exports ? `${source} writes its records to ${destination}.` : loads)
    }
  }

  #send(records: number | null): void {
    this.#sentMs = performance.now()
    const { destination } = this.#names
    const which =
      records === null ? 'the next records' : `records ${count(this.#read + 1)} to ${count(this.#read + records)}`
    this.add('sent', `Sends ${which} to ${destination}.`)
  }

  #confirm({ read, sent, rejected, removed, skipped, bytes }: Confirmation): void {
    const took = this.#sentMs === undefined ? '' : `, ${seconds(performance.now() - this.#sentMs)}`
    this.#read += read
    this.#confirmed.accepted += acceptedOf({ read, rejected, skipped })
    this.#confirmed.rejected += rejected
    const counts = [
      `${count(read)} read`,
      `${count(sent)} sent`,
      `${count(acceptedOf({ read, rejected, skipped }))} accepted`,
    ]
    if (removed > 0) counts.push(`${count(removed)} removed`)
    if (rejected > 0) counts.push(`${count(rejected)} rejected`)
    for (const [reason, n] of Object.entries(skipped))
      if (n > 0) counts.push(`${count(n)} ${inWords[reason] ?? reason}`)
    const kind = rejected > 0 ? 'rejected' : 'confirmed'
    this.add(kind, `${this.#names.destination} confirmed a batch: ${counts.join(', ')}. ${count(bytes)} bytes${took}.`)
  }

  /** Stores the lines, unless the transfer is another worker's by now. Never throws: a transfer does not depend on its log. */
  flush(): Promise<void> {
    // One after another, so that no older lines replace newer ones.
    this.#flushed = this.#flushed.then(() => this.#store())
    return this.#flushed
  }

  async #store(): Promise<void> {
    if (this.#isFlushed || this.#isOfPart) return
    this.#isFlushed = true
    const middle: LogLine[] = []
    if (this.#dropped > 0) {
      middle.push({ ms: this.#last[0]?.ms ?? 0, kind: 'dropped', text: `${count(this.#dropped)} lines were dropped.` })
    }
    const lines = JSON.stringify([...this.#first, ...middle, ...this.#last])
    const attemptsMax = limits.transferLogAttemptsMax
    await queries.saveLog.run(this.#db, { ...this.#of, lines, attemptsMax }).catch(() => {
      this.#isFlushed = false
    })
  }
}

const count = (n: number): string => n.toLocaleString('en')
const seconds = (ms: number): string => `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
