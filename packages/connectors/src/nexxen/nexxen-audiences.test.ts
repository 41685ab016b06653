import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination } from '@penstock/connector/acceptance'
import { startSftpInbox } from '../../test/sftp-inbox.ts'
import { connectorErrorOf } from '../../test/tables.ts'
import { nexxenAudiences } from './nexxen-audiences.ts'

const inbox = await startSftpInbox()
const settings: Values = { path: inbox.path, dataProviderId: '4711' }
const columns = ['categoryIds', 'userIdentifier']
const device = (number: number) => `38400000-8cf0-11bd-b23e-${String(number).padStart(12, '0')}`

acceptDestination({
  ...inbox.facts,
  connector: nexxenAudiences,
  columns,
  rows: Array.from({ length: 2000 }, (_, index): Row => [`${index},base`, device(index)]),
  settings,
  missing: { ...settings, path: join(inbox.path, 'absent') },
  badRows: [
    { row: ['1', 'ada@example.com'], reason: /only hashed/, field: 'userIdentifier' },
    { row: ['1', 'two words'], reason: /white space/, field: 'userIdentifier' },
    { row: [' , ', device(1)], reason: /no category ID/, field: 'categoryIds' },
    { row: ['1,2\t3', device(1)], reason: /separate IDs with commas/, field: 'categoryIds' },
    { row: ['1', null], reason: /no identifier/, field: 'userIdentifier' },
    { row: ['1', 'a\u0000b'], reason: /control characters/, field: 'userIdentifier' },
    { row: [null, device(1)], reason: /no category ID/, field: 'categoryIds' },
  ],
  readBack: async () =>
    (await inbox.texts()).flatMap((text) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t').reverse()),
    ),
})

describe('files for Nexxen', () => {
  beforeEach(inbox.facts.reset)

  const writeAll = (own: Values, batches: Row[][]) =>
    inbox.write(nexxenAudiences, columns, { ...settings, ...own }, batches)

  test('hold a line for each row, the identifier first, and are named after the data provider', async () => {
    await writeAll({ dataProviderId: ' 4711 ' }, [[[' 12, 13,,12 ', ` ${device(1)} `]], [[14, device(2)]]])
    assert.deepEqual(await inbox.files(), ['4711_20260131T120000Z-0f1e2d3c4b5a6978.txt'])
    assert.deepEqual(await inbox.texts(), [`${device(1)}\t12,13\n${device(2)}\t14\n`])
  })

  test('are compressed where that is set', async () => {
    await writeAll({ gzip: true }, [[['12', 'a*b+c/d=']], [['13', '192.0.2.7']]])
    assert.deepEqual(await inbox.files(), ['4711_20260131T120000Z-0f1e2d3c4b5a6978.txt.gz'])
    const bytes = await inbox.read((await inbox.files())[0] ?? '')
    assert.equal(gunzipSync(bytes).toString(), 'a*b+c/d=\t12\n192.0.2.7\t13\n')
  })

  test('are not written without a row that can go', async () => {
    await writeAll({}, [])
    await writeAll({}, [[['12', 'ada@example.com']]])
    assert.deepEqual(await readdir(inbox.path), [])
  })

  test('have no name that leads elsewhere', async () => {
    for (const dataProviderId of ['../4711', '4711/', 'a b']) {
      assert.deepEqual(await connectorErrorOf(writeAll({ dataProviderId }, [])), ['reconfigure', 'invalid_setting'])
    }
  })
})
