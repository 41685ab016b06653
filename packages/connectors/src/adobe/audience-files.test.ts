import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { memoryStore } from '../../../connector/src/files/memory-store.ts'
import { batchOf } from '../../test/tables.ts'
import { readNew, rejectionsOf } from '../kit/run/preset-files.ts'
import { rowsOf } from '../platform-api/rows/batch-rows.ts'
import { inboundLine, nameOfInbound, orderOfOutbound } from './audience-files.ts'

const startedMs = Date.parse('2016-05-09T10:11:12.345Z')
const idfa = '6D92078A-8246-4BA4-AE5B-76104861E7DC'

describe('files for Audience Manager', () => {
  test('have the names that Adobe documents', () => {
    const name = (settings: Record<string, string>) => nameOfInbound(settings, startedMs)
    assert.equal(name({ dataSourceId: ' 478 ' }), 'date=2016-05-09/ftp_dpm_478_1462788672.sync.gz')
    const other = { dataSourceId: '478', targetDataSourceId: '567', synchronization: 'overwrite' }
    assert.equal(name(other), 'date=2016-05-09/ftp_dpm_478_567_1462788672.overwrite.gz')
    for (const wrong of [{ dataSourceId: '../4' }, { dataSourceId: '' }, { dataSourceId: '20915' }]) {
      assert.throws(() => name(wrong), { code: 'invalid_setting' })
    }
    assert.throws(() => name({ dataSourceId: '4', targetDataSourceId: 'x' }), { code: 'invalid_setting' })
  })

  test('have a line for each row, and say why a row has none', () => {
    const columns = ['userId', 'traits', 'removedTraits']
    const rows = [
      ['595', '24, 26,,26', '28'],
      ['595', null, 29],
      ['a:b', '24', null],
      ['a%3ab', '24', null],
      ['a b', '24', null],
      [null, '24', null],
      ['595', 'sports', null],
      ['595', ' , ', null],
    ]
    const batch = batchOf(columns, rows)
    const lines = [...rowsOf(batch)].map((row) => inboundLine(row, { dataSourceId: '478' }))
    assert.deepEqual(
      lines.flatMap((line) => ('read' in line ? [line.read] : [])),
      ['595\td_sid=24,d_sid=26,d_unsid=28', '595\td_unsid=29'],
    )
    const preset = { line: inboundLine } as unknown as Parameters<typeof rejectionsOf>[0]
    assert.deepEqual(
      rejectionsOf(preset, { dataSourceId: '478' })(batch).map(({ index, field }) => [index, field]),
      [
        [2, 'userId'],
        [3, 'userId'],
        [4, 'userId'],
        [5, 'userId'],
        [6, 'traits'],
        [7, 'traits'],
      ],
    )
  })

  test('have IDs of devices in the case that Adobe wants', () => {
    const line = (id: string, dataSourceId: string) => {
      const [row] = rowsOf(batchOf(['userId', 'traits'], [[id, '1']]))
      assert.ok(row)
      const read = inboundLine(row, { dataSourceId })
      return 'read' in read ? read.read : read.field
    }
    assert.equal(line(idfa.toLowerCase(), '20915'), `${idfa}\td_sid=1`)
    assert.equal(line(idfa, '20914'), `${idfa.toLowerCase()}\td_sid=1`)
    assert.equal(line('595', '20914'), 'userId')
  })
})

describe('files from Audience Manager', () => {
  const preset = {
    layout: () => ({ delimiter: ' ', columns: ['userId', 'segments', 'removedSegments'], shortRows: true }),
    names: /_(?:iter|full)_\d{13,}\.sync(?:\.gz)?$/,
    order: orderOfOutbound,
  }
  const files = {
    'out/S3_1234_45454_Acme_full_1486140844000.sync.gz': gzipSync('u1 1,2 3\nu2 4\nu3  5\n'),
    'out/S3_1234_45454_Acme_iter_1486140844000001.sync': 'u4 6 7 8\nu5 9\n',
    'out/S3_1234_45454_Acme_iter_1486140844000001.sync.info': 'sha1=1',
  }
  const readAfter = async (all: Record<string, Buffer | string>, cursor?: Json) => {
    const context = testContext(cursor === undefined ? {} : { cursor })
    const reader = await readNew(preset, context, memoryStore(all))
    const rows = []
    let last: Json | undefined
    for await (const chunk of reader.read()) {
      assert.deepEqual(chunk.columns, ['userId', 'segments', 'removedSegments'])
      assert.equal(last, undefined, 'only the last chunk has a cursor')
      rows.push(...chunk.rows.map((row, index) => chunk.errors?.get(index) ?? row))
      last = chunk.cursor
    }
    await reader.close()
    return { rows, cursor: last }
  }

  test('are read without a header, and rows may lack the segments that were removed', async () => {
    const { rows, cursor } = await readAfter(files)
    assert.deepEqual(rows, [
      ['u1', '1,2', '3'],
      ['u2', '4', null],
      ['u3', null, '5'],
      'The row has 4 values, but the header has 3.',
      ['u5', '9', null],
    ])
    assert.deepEqual(cursor, { after: '1486140844000001' })
  })

  test('are read once, by the time in their names and not by the names', async () => {
    const { cursor } = await readAfter(files)
    assert.ok(cursor)
    assert.deepEqual(await readAfter(files, cursor), { rows: [], cursor: undefined })
    const later = { ...files, 'out/S3_1234_45454_Acme_full_1486140855000.sync': 'u6 1\n' }
    assert.deepEqual(await readAfter(later, cursor), { rows: [['u6', '1', null]], cursor: { after: '1486140855000' } })
  })
})
