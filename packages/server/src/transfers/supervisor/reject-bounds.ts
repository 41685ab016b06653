import type { KeptReject } from '@penstock/engine'
import { limits } from '@penstock/wire'
import type { Transaction } from '../../db/database.ts'
import { bytesLeft } from '../../organizations/limits.ts'
import { textOfReasons } from '../reject-reasons.ts'
import type { WorkRow } from './claim-queries.ts'
import type { KeptLimits } from './deps.ts'
import { addKeptBytes, keptBytesOf } from './ledger-queries.ts'

const mib = 1024 ** 2

/**
 * Bounds the bytes of the rejected records that a transfer keeps: of one record, of the transfer, and of its organization. Counts and
 * reasons are not affected: beyond a bound, a record is kept without its values.
 */
export class RejectBounds {
  readonly #limits: KeptLimits
  readonly #work: WorkRow
  readonly #note: (text: string) => Promise<void> | void
  #isNoted = false

  /** @param note writes a line to the log of the transfer; called once at most */
  constructor(keptLimits: KeptLimits, work: WorkRow, note: (text: string) => Promise<void> | void) {
    this.#limits = keptLimits
    this.#work = work
    this.#note = note
  }

  /**
   * Selects the part of rejected records that is kept, and counts its bytes, in the transaction that stores it. Once the organization keeps all that it
   * may, only some records of a transfer are kept at all.
   * @param kept how many the transfer keeps already
   */
  async fit(tx: Transaction, rejects: readonly KeptReject[], kept: number): Promise<KeptReject[]> {
    const { id, organizationId, replayOf } = this.#work
    const ofTransfer = (await keptBytesOf.first(tx, { id }))?.bytes ?? 0
    const organization = await bytesLeft(tx, this.#limits, organizationId, 'rejects-mb')
    const ofTransferLeft = this.#limits.rejectBytesMax - ofTransfer
    let left = Math.max(0, Math.min(ofTransferLeft, organization.left))
    const fitting: KeptReject[] = []
    let added = 0
    let withoutValues = 0
    for (const reject of rejects) {
      const bounded = withinRecord(reject)
      const fits = bytesOf(bounded) <= left
      // A replay must know of each record whether it was rejected again.
      const isLeftOut = !fits && organization.left === 0 && replayOf === null
      if (!fits) withoutValues++
      if (isLeftOut && kept + fitting.length >= limits.rejectsBeyondQuotaMax) continue
      const one = fits ? bounded : bare(bounded)
      const bytes = bytesOf(one)
      left = Math.max(0, left - bytes)
      added += bytes
      fitting.push(one)
    }
    if (added > 0) await addKeptBytes.run(tx, { id, bytes: added })
    if (withoutValues > 0) await this.#say(organization.left < ofTransferLeft ? organization : undefined)
    return fitting
  }

  async #say(organization: { max: number; setting: string } | undefined): Promise<void> {
    if (this.#isNoted) return
    this.#isNoted = true
    const bound = organization
      ? `the organization keeps at most ${organization.max / mib} MiB of values of rejected records (${organization.setting})`
      : `a transfer keeps at most ${this.#limits.rejectBytesMax / mib} MiB of values of rejected records (PENSTOCK_REJECTS_MB)`
    await this.#note(
      `Values of further rejected records are not kept, and these cannot be sent again: ${bound}. All are counted.`,
    )
  }
}

const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text)

/** A record whose shown values or reason are too long is kept without them, or with a shortened reason. */
const withinRecord = (reject: KeptReject): KeptReject => ({
  ...reject,
  reason: cut(reject.reason, limits.rejectReasonLengthMax),
  others: reject.others.map(({ field, reason }) => ({ field, reason: cut(reason, limits.rejectReasonLengthMax) })),
  record: reject.record.length > limits.rejectShownLengthMax ? '{}' : reject.record,
})

const bare = (reject: KeptReject): KeptReject => ({
  ...reject,
  reason: cut(reject.reason, limits.rejectBareReasonLengthMax),
  others: [],
  record: '{}',
  raw: null,
})

const bytesOf = ({ record, raw, place, ...reasons }: KeptReject): number =>
  [textOfReasons(reasons), record, raw ?? '', place ? JSON.stringify(place) : ''].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  )
