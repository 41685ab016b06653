import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from './harness/property.ts'
import { type Incident, places } from './modes/fuse.ts'
import {
  type Attempt,
  type Edit,
  isIncremental,
  type Kind,
  type SendRows,
  SequenceWorld,
  type Step,
} from './modes/sequence-world.ts'

/**
 * Sequences of transfers of one connection, against a model: rows are edited, workers are killed and answers lost at any place, transfers are given
 * up, settings are edited and the state is reset, and each row arrives as often as the way of reading and writing promises.
 */

const calm: Pick<Step, 'attempts' | 'givesUp'> = { attempts: [], givesUp: false }

const editOf = fc.record<Edit>({
  id: fc.integer({ min: 1, max: 12 }),
  does: fc.constantFrom('put', 'put', 'put', 'put', 'spoil', 'delete'),
})
const edits = (maxLength: number) => fc.array(editOf, { maxLength, size: 'max' })
const incidentOf = fc.record<Incident>({
  place: fc.constantFrom(...places, 'delivered', 'delivered', 'delivered', 'confirm', 'begin batch', 'read'),
  after: fc.constantFrom(0, 0, 0, 1, 1, 2, 5),
  kind: fc.constantFrom('kill', 'kill', 'transient'),
})
const attemptOf = fc.record<Attempt>({ incident: incidentOf, edits: edits(4) })
const stepOf = fc.record<Step>({
  edits: edits(10),
  attempts: fc.array(attemptOf, { maxLength: 3, size: 'max' }),
  givesUp: fc.boolean(),
  does: fc.constantFrom(
    'nothing',
    'nothing',
    'nothing',
    'nothing',
    'correct rows',
    'reset',
    'edit settings',
    'send others',
  ),
})

/** Whether each transfer sends all rows of the source. */
const sendsAll = ({ reads }: Kind, sendRows: SendRows) => sendRows === 'All' && !isIncremental(reads)

/** No row was added more often than the source has it under the same settings, or by the same transfer if each sends all rows. */
function assertOnce({ arrived, kind, moved }: SequenceWorld): void {
  const counts = new Map<string, number>()
  for (const { id, change, era, transfer, sendRows } of arrived) {
    if (sendsAll(kind, sendRows) && moved.has(transfer)) continue
    const name = `${sendsAll(kind, sendRows) ? `transfer ${transfer}` : `era ${era}`} ${id} ${change}`
    const count = (counts.get(name) ?? 0) + 1
    assert.ok(count <= (kind.twins ? 2 : 1), `the row ${id} arrived too often, changed ${change}`)
    counts.set(name, count)
  }
}

/** Each row that the source has now arrived, under the settings of now unless reading continues after the cursor of earlier ones. */
function assertThere({ arrived, source, era, kind, transfers, sendRows }: SequenceWorld): void {
  for (const { id, change, spoiled } of source.values()) {
    if (spoiled) continue
    const there = arrived.filter(
      (row) =>
        row.id === id &&
        row.change === change &&
        (sendsAll(kind, sendRows) ? row.transfer === transfers : isIncremental(kind.reads) || row.era === era),
    )
    assert.ok(there.length >= (kind.twins && sendRows === 'All' ? 2 : 1), `the row ${id} is missing, changed ${change}`)
  }
}

function assertTable({ table, source, sendRows, strangers }: SequenceWorld): void {
  for (const { id, change, spoiled } of source.values()) {
    if (!spoiled) assert.equal(table.get(id), change, `the row ${id} is as in the source`)
  }
  if (sendRows === 'Mirror')
    for (const id of table.keys()) assert.ok(source.has(id) || strangers.has(id), `the row ${id} left the source`)
}

const kinds: Record<string, Kind> = {
  'incremental, added with a memory of batches': { reads: 'changes', writes: 'log', sendRows: 'All' },
  'incremental, added by idempotency keys': { reads: 'changes', writes: 'receiver', sendRows: 'All' },
  'changed rows of a table, added with a memory of batches': { reads: 'places', writes: 'log', sendRows: 'Changed' },
  'changed rows of a table, added by idempotency keys': { reads: 'places', writes: 'receiver', sendRows: 'Changed' },
  'changed rows of pages, added with a memory of batches': { reads: 'pages', writes: 'log', sendRows: 'Changed' },
  'all rows of a table, added by idempotency keys': { reads: 'places', writes: 'receiver', sendRows: 'All' },
  'all rows of pages, added by idempotency keys': { reads: 'pages', writes: 'receiver', sendRows: 'All' },
  'all rows of pages, added with a memory of batches': { reads: 'pages', writes: 'log', sendRows: 'All' },
  'all rows of pages, added unless one of a batch is refused': {
    reads: 'pages',
    writes: 'receiver',
    sendRows: 'All',
    refuses: true,
  },
  'incremental, added unless one of a batch is refused': {
    reads: 'changes',
    writes: 'receiver',
    sendRows: 'All',
    refuses: true,
  },
  'changed rows of a table, added unless one of a batch is refused': {
    reads: 'places',
    writes: 'receiver',
    sendRows: 'Changed',
    refuses: true,
  },
  'all rows of a table that has each twice, added by idempotency keys': {
    reads: 'places',
    writes: 'receiver',
    sendRows: 'All',
    twins: true,
  },
  'incremental with each row twice, added by idempotency keys': {
    reads: 'changes',
    writes: 'receiver',
    sendRows: 'All',
    twins: true,
  },
  'a stream of changes, added with a memory of batches': { reads: 'stream', writes: 'log', sendRows: 'All' },
  'a stream of changes, added by idempotency keys': { reads: 'stream', writes: 'receiver', sendRows: 'All' },
  'a stream of changes, by key': { reads: 'stream', writes: 'table', sendRows: 'All' },
  'changed rows of a table, by key': { reads: 'places', writes: 'table', sendRows: 'Changed' },
  'a mirror of a table': { reads: 'places', writes: 'table', sendRows: 'Mirror' },
}

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: each row arrives as often as promised, whatever happens between transfers`, async (t) => {
    let transfers = 0
    await fc.assert(
      fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 7, size: 'max' }), async (steps) => {
        const world = new SequenceWorld(kind)
        const assertAsPromised = (isWhole: boolean) => {
          const { read, accepted, rejected, unchanged } = world.kept.counts
          assert.equal(read, accepted + rejected + unchanged, 'read is accepted, rejected and unchanged')
          if (kind.writes !== 'table') assertOnce(world)
          if (isWhole) (kind.writes === 'table' ? assertTable : assertThere)(world)
        }
        for (const step of steps) {
          transfers += 1
          for (const edit of step.edits) world.edit(edit)
          world.act(step.does)
          const succeeded = await world.transfer(step)
          // Rows that changed while it was interrupted can come with the next transfer.
          assertAsPromised(succeeded && step.attempts.every(({ edits: changes }) => changes.length === 0))
        }
        await world.transfer(calm)
        assertAsPromised(true)
        await world.transfer(calm)
        assertAsPromised(true)
        if (!sendsAll(kind, world.sendRows)) assert.equal(world.kept.counts.accepted, 0, 'nothing is sent again')
      }),
      { numRuns: Number(process.env.PENSTOCK_TEST_MODEL_RUNS ?? 25) },
    )
    t.diagnostic(`${transfers} transfers`)
  })
}
