import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, SourceReader } from '@penstock/connector'
import { deliveredCode } from '../skipped.ts'
import { fillBatches } from './batches.ts'
import { beginning, type ChunkMapper } from './filled-batch.ts'
import { recordWords } from './stages/changed-rows/row-digests.ts'

/** Numbers in chunks of four. */
const reader: SourceReader = {
  fixed: true,
  async *read(after: Json = 0) {
    for (let done = Number(after); done < 12; done += 4) {
      const rows = [1, 2, 3, 4].map((n) => [done + n])
      yield { columns: ['number'], rows, bytes: 20, checkpoint: done + 4 }
    }
  },
  close: async () => {},
}

test('rows that an announced batch delivered are confirmed before others are sent', async () => {
  const mapper: ChunkMapper = ({ rows }) => ({
    rows,
    errors: new Map(),
    skipped: Uint8Array.from(rows, ([number]) => (Number(number) <= 6 ? deliveredCode : 0)),
    digests: new Uint32Array(rows.length * recordWords),
  })
  const batches: string[] = []
  const filling = { from: beginning, firstNumber: 1, pending: null, unconfirmed: null, testRows: null }
  const bounds = { rowsMax: 3, bytesMax: 1_000 }
  for await (const batch of fillBatches(reader, { ...filling, bounds, mapperFor: () => mapper })) {
    const { first, covered, rows } = batch
    batches.push(`${first}–${first + covered - 1}: ${rows.length} sent`)
  }
  assert.deepEqual(batches, ['1–4: 0 sent', '5–6: 0 sent', '7–9: 3 sent', '10–12: 3 sent'])
})
