import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { localFolder } from './local-folder.ts'

const folder = await realpath(await mkdtemp(join(tmpdir(), 'penstock-discover-')))
after(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'inner/exports/2026'), { recursive: true })
for (const name of ['inner/people.csv', 'inner/.hidden', 'inner/exports/a.csv', 'secret.csv']) {
  await writeFile(join(folder, name), 'id\n1\n')
}
await symlink(join(folder, 'secret.csv'), join(folder, 'inner/way-out.csv'))
await symlink(join(folder, 'inner/people.csv'), join(folder, 'inner/link.csv'))
await symlink(folder, join(folder, 'inner/up'))

const find = (field: string, asked: Asked = {}) =>
  discover(localFolder, { folder: join(folder, 'inner') }, field, {
    ...asked,
    localFolders: [join(folder, 'inner')],
  } as Asked)

test('a local folder lists its files and folders, and none that a link leads out to', async () => {
  assert.deepEqual((await find('files')).items, [
    { value: 'exports/', kind: 'folder' },
    { value: 'link.csv', kind: 'file' },
    { value: 'people.csv', kind: 'file' },
  ])
  assert.deepEqual(valuesOf(await find('files', { search: 'PEOP' })), ['people.csv'])
  assert.deepEqual(valuesOf(await find('files', { search: 'exports/' })), ['exports/2026/', 'exports/a.csv'])
  assert.deepEqual(valuesOf(await find('subfolder', { role: 'destination', search: 'exports/' })), ['exports/2026/'])
})

test('a local folder lists no other place', async () => {
  for (const search of ['../', 'exports/../../', '/etc/', 'up/']) {
    await assert.rejects(find('files', { search }), { code: 'path_not_allowed' }, search)
  }
  await assert.rejects(find('files', { search: 'nowhere/' }), { code: 'object_not_found' })
  const outside = discover(localFolder, { folder: '/etc' }, 'files', {})
  await assert.rejects(outside, { code: 'path_not_allowed' })
})
