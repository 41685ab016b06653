import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { connectors } from '@penstock/connectors'
import { tables } from './echoes/tables.ts'

/** Connectors that `server-echoes-*.test.ts` covers. */

test('every connector that reaches a platform is looked at', () => {
  const reaching = connectors.filter(
    ({ slug, readsEvents, check, source, destination }) =>
      // The first reads and writes files of this machine, the others what this service has.
      slug !== 'local-folder' &&
      slug !== 'file-upload' &&
      slug !== 'rejected-records' &&
      !readsEvents &&
      (check ?? source?.open ?? destination?.deliver) !== undefined,
  )
  const seen = new Set(Object.values(tables).flatMap((sides) => sides.map(({ slug }) => slug)))
  // The destinations over SFTP share the session and its errors with the source.
  const overSftp = ['sftp-destination', 'nexxen-audiences', 'liveramp-id-match']
  assert.deepEqual(
    reaching.map(({ slug }) => slug).filter((slug) => !seen.has(slug) && !overSftp.includes(slug)),
    [],
  )
})

test('every table is looked at by a test file', () => {
  const files = globSync('server-echoes-*.test.ts', { cwd: import.meta.dirname })
  const calls = files.map((file) => readFileSync(`${import.meta.dirname}/${file}`, 'utf8'))
  const named = calls.flatMap((text) => [...(/^testEchoes\((.+)\)$/m.exec(text)?.[1] ?? '').matchAll(/'(\w+)'/g)])
  assert.deepEqual(named.map(([, name]) => name).sort(), Object.keys(tables).sort())
})
