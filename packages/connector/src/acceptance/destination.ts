import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Batch, DestinationWriter } from '../destination.ts'
import type { Row } from '../rows.ts'
import { acceptCheck } from './check.ts'
import { acceptInspection } from './inspection.ts'
import {
  type Acceptance,
  assertBreaks,
  assertConnectorError,
  type BadRow,
  boundMs,
  connectorErrorOf,
  crashPointsOf,
  type DestinationAcceptance,
  stopped,
} from './test-server.ts'
import { makeTransfer, rejectedCount, type Transfer } from './transfer.ts'

/**
 * Registers the tests that every destination must pass. The server must already be running: start it at the top level of the
 * test file, and stop it in `after`.
 */
export function acceptDestination(acceptance: DestinationAcceptance): void {
  const {
    connector,
    testServer,
    rows,
    errors = [],
    hang,
    missing,
    wrongSecrets,
    badRows,
    deduplicates,
    visible,
  } = acceptance
  const { readBack, reset } = acceptance
  const options = { timeout: boundMs }

  /** A test with a separate transfer into an emptied destination. */
  const testTransfer = (title: string, work: (transfer: Transfer) => Promise<void>, from: Partial<Acceptance> = {}) =>
    test(title, options, async () => {
      await reset()
      const transfer = makeTransfer({ ...acceptance, ...from }, rows, batchRowsOf(acceptance, rows.length))
      try {
        await work(transfer)
      } finally {
        await transfer.close()
      }
    })

  describe(`${connector.slug} as a destination, against ${testServer}`, () => {
    acceptCheck(acceptance)
    if (connector.destination?.deliver?.inspect) acceptInspection(acceptance)

    testTransfer('delivers all rows, and says how many bytes it sent', async (transfer) => {
      const writer = await transfer.open()
      if (writer.awaitsPermit) {
        const refused = Promise.reject(new Error('no permit'))
        refused.catch(() => {})
        await assert.rejects(async () => writer.deliver(transfer.batches[0] as Batch, refused), /no permit/)
        assert.deepEqual(await readBack(), [], 'nothing stays of a batch without a permit')
      }
      await transfer.deliver(writer)
      if (visible === 'when finished') assert.deepEqual(await readBack(), [], 'nothing shows before the end')
      await writer.finish?.()
      assertKept(acceptance, await readBack(), 'once')
      assert.deepEqual(transfer.rejected, [])
      assert.ok(transfer.bytes > 0, 'deliveries say how many bytes they were')
    })

    testTransfer('resumes after a crash between a delivery and its confirmation, at every batch', async (transfer) => {
      assert.ok(transfer.batches.length > 1, 'give more rows, so that a crash between two batches can be tested')
      for (const at of crashPointsOf([...transfer.batches.keys()])) {
        // This attempt delivers, and its result is lost.
        const crashed = await transfer.open()
        await deliverUnheard(transfer, crashed, at + 1)
        const next = await transfer.open()
        await transfer.deliver(next, at + 1)
      }
      const last = await transfer.open()
      await transfer.deliver(last)
      await last.finish?.()
      assertKept(acceptance, await readBack(), deduplicates ? 'once' : 'at least once')
    })

    testTransfer('finds its work done when it is finished again after a crash', async (transfer) => {
      const writer = await transfer.open()
      await transfer.deliver(writer)
      await (await transfer.open()).finish?.()
      await (await transfer.open()).finish?.()
      assertKept(acceptance, await readBack(), 'once')
    })

    test('finishes a transfer without a row', options, async () => {
      await reset()
      const transfer = makeTransfer(acceptance, [], batchRowsOf(acceptance, 1))
      try {
        const writer = await transfer.open()
        await transfer.deliver(writer)
        await writer.finish?.()
        assert.deepEqual(await readBack(), [])
      } finally {
        await transfer.close()
      }
    })

    if (badRows) {
      test('names the rows that are rejected, with reasons, and takes the others', options, async () => {
        await reset()
        const mixed = mix(rows, badRows)
        const transfer = makeTransfer(acceptance, mixed, batchRowsOf(acceptance, mixed.length))
        try {
          const writer = await transfer.open()
          await transfer.deliver(writer)
          await writer.finish?.()
          assertRejected(transfer, mixed, badRows)
          assertKept(acceptance, await readBack(), 'once')
        } finally {
          await transfer.close()
        }
      })
    }

    const rejectionsOf = connector.destination?.deliver?.rejectionsOf
    if (badRows && rejectionsOf) {
      test('finds without the server the rows that it rejects before sending them', options, async () => {
        await reset()
        const { columns, secrets, settings } = acceptance
        const mixed = mix(rows, badRows)
        const batch = { key: '0'.repeat(32), columns, rows: mixed, firstRow: 1 }
        const found = (await rejectionsOf({ secrets, settings }))(batch)
        const transfer = makeTransfer(acceptance, mixed, batchRowsOf(acceptance, mixed.length))
        try {
          await transfer.deliver(await transfer.open())
          const delivered = transfer.rejected.map(({ row, reason, field }) => JSON.stringify([row, reason, field]))
          for (const { index, reason, field } of found) {
            assert(delivered.includes(JSON.stringify([index, reason, field])), `${reason} is not what a delivery says`)
          }
          // The server rejects the other rows.
          assert(found.length > 0 || badRows.every(({ field }) => field === undefined), 'no row is found')
        } finally {
          await transfer.close()
        }
      })
    }

    if (wrongSecrets) {
      const title = 'refuses to deliver with wrong credentials'
      testTransfer(title, (transfer) => assertRefused(acceptance, transfer), { secrets: wrongSecrets })
    }

    if (missing) {
      const title = 'refuses settings that name what is not there'
      testTransfer(title, (transfer) => assertRefused(acceptance, transfer), { settings: missing })
    }

    for (const error of errors) {
      testTransfer(`answers ‘${error.action}’ where the server ${error.name}, and resumes`, async (transfer) => {
        const first = await transfer.open()
        await transfer.deliver(first, 1)
        await error.start()
        let writer = first
        try {
          // A writer that holds rows can receive the error only when it sends them.
          const work = transfer.deliver(first).then(() => first.finish?.())
          assertConnectorError(await connectorErrorOf(acceptance, work), error)
        } finally {
          await error.stop()
        }
        // A batch to retry goes to the same writer, any other one to a new writer.
        if (error.action !== 'retry' && error.action !== 'reconnect') writer = await transfer.open()
        await transfer.deliver(writer)
        await writer.finish?.()
        assertKept(acceptance, await readBack(), deduplicates ? 'once' : 'at least once')
      })
    }

    if (hang) {
      testTransfer('stops at the signal while the server does not answer, and resumes later', async (transfer) => {
        const stop = new AbortController()
        const writer = await transfer.open({ signal: stop.signal })
        await transfer.deliver(writer, 1)
        await hang.start()
        try {
          const work = transfer.deliver(writer).then(() => writer.finish?.())
          await Promise.race([hang.reached(), work])
          stop.abort()
          await stopped(acceptance, work, stop.signal)
          await writer.close?.()
        } finally {
          await hang.stop()
        }
        const next = await transfer.open()
        await transfer.deliver(next)
        await next.finish?.()
        assertKept(acceptance, await readBack(), deduplicates ? 'once' : 'at least once')
      })
    }

    for (const upTo of crashPointsOf([1, 3, undefined])) {
      const title = `keeps what was confirmed when it is aborted after ${upTo ?? 'all'} batches, be it after a crash`
      testTransfer(
        acceptance.aborted === undefined ? title : `is aborted after ${upTo ?? 'all'} batches`,
        async (transfer) => {
          const writer = await transfer.open()
          await transfer.deliver(writer, upTo)
          if (upTo !== undefined) await deliverUnheard(transfer, writer, upTo + 1)
          await writer.close?.()
          for (let time = 0; time < 2; time++) await (await transfer.open()).abort?.()
          const confirmed = transfer.batches.slice(0, transfer.confirmed).flatMap((batch) => batch.rows)
          const kept = await readBack()
          if (acceptance.aborted === 'leaves what was there') assert.deepEqual(kept, [], 'nothing was there before')
          else if (visible === 'when finished') assertKept({ ...acceptance, rows: confirmed }, kept, 'once')
          else assertHolds(acceptance, kept, confirmed)
        },
      )
    }
  })
}

const batchRowsOf = ({ connector, settings, batchRows }: DestinationAcceptance, rows: number): number =>
  Math.min(batchRows ?? Math.ceil(rows / 4), limitOf(connector.destination?.deliver?.batch(settings)))

const limitOf = (limit: { rowsMax: number } | undefined): number => limit?.rowsMax ?? Number.POSITIVE_INFINITY

/** Delivers unconfirmed rows and does not store the result, like a process that is killed at that moment. */
async function deliverUnheard(transfer: Transfer, writer: DestinationWriter, untilBatch: number): Promise<void> {
  for (const batch of transfer.batches.slice(transfer.confirmed, untilBatch)) await writer.deliver(batch)
}

async function assertRefused(acceptance: Acceptance, transfer: Transfer): Promise<void> {
  const work = async () => {
    const writer = await transfer.open()
    await transfer.deliver(writer)
    await writer.finish?.()
  }
  const { action, code, message } = await connectorErrorOf(acceptance, work())
  assertBreaks(action, `${code}: ${message}`)
}

/** Asserts that the destination contains the rows in any order, each exactly once or at least once. */
function assertKept(acceptance: DestinationAcceptance, kept: readonly Row[], times: 'once' | 'at least once'): void {
  const { rows, asKept = (row: Row): Row => row } = acceptance
  const expected = rows.map((row) => JSON.stringify(asKept(row))).sort()
  const found = kept.map((row) => JSON.stringify(row)).sort()
  assert.deepEqual(times === 'once' ? found : [...new Set(found)], times === 'once' ? expected : [...new Set(expected)])
}

/** Asserts that the destination contains these rows, and possibly others. */
function assertHolds(
  { asKept = (row) => row }: DestinationAcceptance,
  kept: readonly Row[],
  rows: readonly Row[],
): void {
  const found = new Set(kept.map((row) => JSON.stringify(row)))
  for (const row of rows) assert.ok(found.has(JSON.stringify(asKept(row))), 'a row that was confirmed is not there')
}

/** Valid rows with invalid rows in between. */
function mix(rows: readonly Row[], badRows: readonly BadRow[]): Row[] {
  const mixed = [...rows]
  const step = Math.max(1, Math.floor(rows.length / badRows.length))
  badRows.forEach(({ row }, index) => {
    mixed.splice(index * (step + 1), 0, row)
  })
  return mixed
}

function assertRejected(transfer: Transfer, mixed: readonly Row[], badRows: readonly BadRow[]): void {
  assert.equal(rejectedCount(transfer.rejected), badRows.length, 'as many are rejected as are bad')
  for (const { row, reason, field, countOnly } of badRows) {
    const at = mixed.indexOf(row)
    const rejection = countOnly
      ? transfer.rejected.find((each) => each.row === undefined && reason.test(each.reason))
      : transfer.rejected.find((each) => each.row === at)
    assert.ok(rejection, `row ${at} is not rejected, but: ${JSON.stringify(transfer.rejected)}`)
    assert.match(rejection.reason, reason)
    if (field !== undefined) assert.equal(rejection.field, field)
  }
}
