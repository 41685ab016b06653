import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination } from '@penstock/connector/acceptance'
import { startSftpInbox } from '../../test/sftp-inbox.ts'
import { liverampIdMatch } from './liveramp-id-match.ts'

const inbox = await startSftpInbox()
const settings: Values = { path: inbox.path }
const columns = ['EMAIL1', 'AUDIENCEKEY', 'LASTNAME', 'ADDRESS1']
const rows = Array.from({ length: 2000 }, (_, n): Row => [`${n}@example.com`, `k${n}`, `O"Neil, ${n}`, null])
const header = 'AUDIENCEKEY,FIRSTNAME,LASTNAME,ADDRESS1,ADDRESS2,CITY,STATE,ZIP,EMAIL1,EMAIL2,PHONE1,PHONE2'

acceptDestination({
  ...inbox.facts,
  connector: liverampIdMatch,
  columns,
  rows,
  settings,
  missing: { ...settings, path: join(inbox.path, 'absent') },
  badRows: [
    { row: ['a@example.com', null, 'Smith', null], reason: /no audience key/, field: 'AUDIENCEKEY' },
    { row: [null, 'k', 'Smith', null], reason: /no e-mail address/, field: 'EMAIL1' },
    { row: [null, 'k', 'Smith', '1 Main St'], reason: /need a first/, field: 'FIRSTNAME' },
    { row: ['a@example.com', 'k', 'a\nb', null], reason: /line break/, field: 'LASTNAME' },
  ],
  readBack: async () =>
    (await inbox.texts()).flatMap((text) => {
      const [first, ...lines] = text.split('\n').slice(0, -1)
      assert.equal(first, header)
      return lines.map((line): Row => {
        const [, key = '', name = '', email = ''] = /^"(\w+)",,"(.*)",,,,,,"(.*)",,,$/.exec(line) ?? assert.fail(line)
        return [email, key, name.replaceAll('""', '"'), null]
      })
    }),
})

test('a compressed file has the header once, and no file is left without a person', async () => {
  await inbox.facts.reset()
  for (const people of [[], [[null, 'k', null, null]], rows.slice(0, 3)]) {
    await inbox.write(liverampIdMatch, columns, { ...settings, gzip: true }, [people as Row[]])
  }
  const [name = '', ...others] = await inbox.files()
  assert.deepEqual([name, others], ['PII_20260131T120000Z-0f1e2d3c4b5a6978.csv.gz', []])
  const text = gunzipSync(await inbox.read(name)).toString()
  assert.equal(text.split('\n').length, 5)
  assert.equal(text.split(header).length, 2)
})
