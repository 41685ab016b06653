import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { connectors } from '../../index.ts'

/**
 * `testReportSource` tests next pages that cannot be used, refused accounts and transient refusals. Its types require the facts for these
 * tests.
 */
test('every source of reports and every list of the catalogue is tested by examples', () => {
  const folder = new URL('../../', import.meta.url)
  const tests = globSync('*/*.test.ts', { cwd: folder }).filter((file) =>
    /^await testReportSource\(\{$/m.test(readFileSync(new URL(file, folder), 'utf8')),
  )
  const slugs = connectors
    .filter(({ source }) => source?.open && source.fields?.accountIds && source.fields.vanishedRows)
    .map(({ slug }) => slug)
  assert.ok(slugs.length >= 20, `${slugs.length} sources`)
  const without = slugs.filter((slug) => !tests.some((file) => new RegExp(`/${slug}(-\\w+)?\\.test\\.ts$`).test(file)))
  assert.deepEqual(without, [])
})
