import { createHash } from 'node:crypto'
import type { Cell, Row } from '@penstock/connector'
import fc from '../../../test/harness/property.ts'
import { seed } from '../../../test/harness/seed.ts'

/** How many rows a property is tried with, for each of two seeds. */
const rowsMax = Number(process.env.PENSTOCK_TEST_PREVIEW_ROWS || 600)
const rowsEach = 20

/**
 * Tries a property with lists of rows until about `PENSTOCK_TEST_PREVIEW_ROWS` rows (600 by default) were tried.
 * @param parts into how many such calls the number is divided
 */
export async function assertRows(
  row: fc.Arbitrary<Row>,
  property: (rows: readonly Row[]) => Promise<void>,
  parts = 1,
): Promise<void> {
  const lists = fc.array(row, { minLength: 1, maxLength: rowsEach, size: 'max' })
  const numRuns = Math.max(1, Math.ceil(rowsMax / rowsEach / parts))
  for (const each of [seed, seed + 1]) await fc.assert(fc.asyncProperty(lists, property), { numRuns, seed: each })
}

/** A hashed e-mail address. */
export const digest = createHash('sha256').update('jane@example.com').digest('hex')
/** A GUID. */
export const guid = '00000000-0000-4000-8000-000000000001'
const times = [0, -3, -400, 2].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
const seconds = times.map((time) => String(Math.floor(Date.parse(time) / 1000)))

/** Cells that a column may not expect. */
export const dirt = fc.oneof(
  fc.constantFrom<Cell>(
    null,
    '',
    ' ',
    '1.001,50',
    '12,5',
    '-1',
    '1e3',
    '0',
    '12025550100',
    'jane@example.com',
    'nobody',
  ),
  fc.constantFrom<Cell>(...times, ...seconds, '2026-11-22 10:00', '20.11.2026', '2026-02-30T10:00:00Z'),
  fc.constantFrom<Cell>('{', '[1]', '{"a":1}', '[{"id":1}]', 'x'.repeat(5_000), 'a\u0000b', 'a\tb', '\ud800'),
  fc.constantFrom<Cell>(0, -7.25, 1e21, 1_234_567_890, true, false, digest, digest.toUpperCase(), digest.slice(1)),
  fc.constantFrom<Cell>(guid, '500', 'US', 'EUR', '192.0.2.7', '2001:db8::1', 'https://example.com/?a=b', '12.50'),
  fc.string({ unit: 'binary' }),
)
