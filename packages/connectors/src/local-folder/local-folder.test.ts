import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ConnectorError, type ErrorAction, type Row, type SourceReader } from '@penstock/connector'
import { acceptDestination, acceptSource, testContext } from '@penstock/connector/acceptance'
import { usualPartBytes } from '@penstock/connector/files'
import { localFolder } from './local-folder.ts'

const top = await mkdtemp(join(tmpdir(), 'penstock-local-folder-'))
after(() => rm(top, { recursive: true, force: true }))
const allowed = join(top, 'allowed')
const elsewhere = join(top, 'elsewhere')
const testServer = 'the file system of this machine'
const wrongSecrets = { folder: elsewhere }

/** Rows enough for some chunks of a megabyte. */
const people = Array.from(
  { length: 30_000 },
  (_, index): Row => [`person-${index}@example.com`, index % 3 === 0 ? null : `Name, "${index}"`, 'ü'.repeat(40)],
)
const csvOf = (rows: readonly Row[]): string =>
  rows
    .map((row) => row.map((cell) => (cell === null ? '' : `"${String(cell).replaceAll('"', '""')}"`)).join(','))
    .join('\n')

const exports = join(allowed, 'exports')
await mkdir(exports, { recursive: true })
await mkdir(elsewhere)
const header = 'email,name,umlauts\n'
await writeFile(join(exports, 'people-1.csv'), `${header}${csvOf(people.slice(0, 20_000))}\n`)
await writeFile(join(exports, 'people-2.csv.gz'), gzipSync(`${header}${csvOf(people.slice(20_000))}`))
await writeFile(join(exports, '.people-3.csv.partial'), 'half of')

acceptSource({
  connector: localFolder,
  testServer,
  secrets: { folder: allowed },
  wrongSecrets,
  settings: { files: 'exports/people-*' },
  missing: { files: 'exports/nobody-*.csv' },
  columns: ['email', 'name', 'umlauts'],
  rows: people,
  context: { localFolders: [allowed] },
})

for (const [name, settings] of [
  ['CSV', {}],
  ['packed CSV in a subfolder', { gzip: true, subfolder: 'a/b', prefix: 'people-' }],
  ['NDJSON', { fileFormat: 'NDJSON' }],
  ['Parquet', { fileFormat: 'Parquet' }],
] as const) {
  const folder = join(allowed, name.replaceAll(' ', '-'))
  const target = join(folder, 'subfolder' in settings ? settings.subfolder : '')
  await mkdir(folder)
  acceptDestination({
    connector: localFolder,
    testServer: `${testServer}, as ${name}`,
    secrets: { folder },
    wrongSecrets,
    settings,
    missing: { ...settings, subfolder: '../elsewhere' },
    columns: ['email', 'name', 'umlauts'],
    rows: people.slice(0, 1000),
    context: { localFolders: [allowed] },
    deduplicates: true,
    visible: 'when finished' as const,
    readBack: () => readBack(target),
    async reset() {
      await rm(folder, { recursive: true })
      await mkdir(folder)
    },
  })
}

/** The rows of all files that can be seen in a folder. */
async function readBack(folder: string): Promise<Row[]> {
  const names = await readdir(folder).catch(() => [])
  const rows: Row[] = []
  for (const name of names.filter((each) => !each.startsWith('.'))) {
    const reader = await openSource({ files: name }, folder)
    for await (const chunk of reader.read()) rows.push(...chunk.rows)
    await reader.close()
  }
  return rows
}

function openSource(settings: Record<string, string>, folder: string, folders = [allowed]): Promise<SourceReader> {
  assert.ok(localFolder.source?.open)
  return localFolder.source.open(testContext({ secrets: { folder }, settings, localFolders: folders }))
}

async function openWriter(folder: string, settings: Record<string, string> = {}, deliveryStates: unknown[] = []) {
  assert.ok(localFolder.destination?.deliver)
  const context = testContext({ secrets: { folder }, settings, localFolders: [allowed], columns: ['x'] })
  return localFolder.destination.deliver.open({ ...context, deliveryStates: deliveryStates as [] })
}

/** Large enough to be written immediately. */
const long = 'two'.repeat(usualPartBytes / 2)
const batch = { key: 'a'.repeat(32), columns: ['x'], rows: [['one'], [long]], firstRow: 1 }

async function assertFails(work: Promise<unknown>, action: ErrorAction, code: string, says = /\.$/) {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ConnectorError, String(error))
    assert.deepEqual([error.action, error.code], [action, code], error.message)
    assert.match(error.message, says)
    return true
  })
}

/** Reads everything that settings name. */
async function readOf(settings: Record<string, string>, folder: string, folders?: string[]): Promise<Row[]> {
  const reader = await openSource(settings, folder, folders)
  try {
    const rows: Row[] = []
    for await (const chunk of reader.read()) rows.push(...chunk.rows)
    return rows
  } finally {
    await reader.close()
  }
}

describe('local-folder', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(allowed, 'each-'))
    await writeFile(join(folder, 'a.csv'), 'x\n1\n')
  })

  test('keeps to the folders that the operator allows, whatever leads out of them', async () => {
    await writeFile(join(elsewhere, 'secret.csv'), 'x\nsecret\n')
    await symlink(elsewhere, join(folder, 'out'))
    await symlink(join(elsewhere, 'secret.csv'), join(folder, 'b.csv'))
    for (const [files, from, folders] of [
      ['a.csv', elsewhere, [allowed]],
      ['a.csv', folder, []],
      ['a.csv', `${folder}/../../elsewhere`, [allowed]],
      ['a.csv', `${allowed}-too`, [allowed]],
      ['a.csv', 'relative', [allowed]],
      ['secret.csv', join(folder, 'out'), [allowed]],
      ['out/secret.csv', folder, [allowed]],
      ['out/*.csv', folder, [allowed]],
      ['*.csv', folder, [allowed]],
      ['../../elsewhere/secret.csv', folder, [allowed]],
      [join(elsewhere, 'secret.csv'), folder, [allowed]],
      ['a\0.csv', folder, [allowed]],
    ] as const) {
      await assertFails(readOf({ files }, from, [...folders]), 'reconfigure', 'path_not_allowed')
    }
    for (const settings of [{ subfolder: 'out' }, { subfolder: 'out/new' }, { subfolder: '../x' }, { prefix: '../' }]) {
      await assertFails(openWriter(folder, settings), 'reconfigure', 'path_not_allowed')
    }
    assert.deepEqual(await readdir(elsewhere), ['secret.csv'])
  })

  test('takes a link that stays within, and an allowed folder that is a link itself', async () => {
    await symlink(join(folder, 'a.csv'), join(folder, 'link.csv'))
    assert.deepEqual(await readOf({ files: 'link.csv' }, folder), [['1']])
    const link = join(top, 'link')
    await symlink(allowed, link)
    assert.deepEqual(await readOf({ files: 'a.csv' }, join(link, folder.slice(allowed.length)), [link]), [['1']])
    await unlink(link)
  })

  test('reads what a pattern fits, by name, and neither hidden files nor folders', async () => {
    await mkdir(join(folder, 'd-1'))
    await mkdir(join(folder, 'd-2.csv'))
    await writeFile(join(folder, 'b.csv'), 'x\n2\n')
    await writeFile(join(folder, 'c+.csv'), 'x\n3\n')
    await writeFile(join(folder, '.hidden.csv'), 'x\n4\n')
    await writeFile(join(folder, 'd-1', 'e.csv'), 'x\n5\n')
    for (const [files, rows] of [
      ['*.csv', ['1', '2', '3']],
      ['a*', ['1']],
      ['c+.csv', ['3']],
      ['*+*', ['3']],
      ['d-*/*.csv', ['5']],
      ['d-1/e.csv', ['5']],
      ['.h*.csv', ['4']],
      ['./a.csv', ['1']],
    ] as const) {
      assert.deepEqual((await readOf({ files }, folder)).flat(), rows, files)
    }
    for (const files of ['A.csv', 'a?csv', '[a].csv', 'd-2.csv', 'a.csv/x', 'no/*']) {
      await assertFails(readOf({ files }, folder), 'reconfigure', 'object_not_found')
    }
  })

  test('fails where a file changes while it is read', async () => {
    const path = join(folder, 'large.csv')
    for (const change of [() => appendFile(path, 'more\n'), () => truncate(path, 2_500_000), () => unlink(path)]) {
      await writeFile(path, `x\n${'123456789\n'.repeat(300_000)}`)
      const reader = await openSource({ files: 'large.csv' }, folder)
      const chunks = reader.read()[Symbol.asyncIterator]()
      const { value } = await chunks.next()
      await change()
      const rest = async () => {
        for await (const _ of { [Symbol.asyncIterator]: () => chunks });
        // A removed file is still whole for a process that has it open, and missing for one that opens it.
        for await (const _ of reader.read(value?.checkpoint));
      }
      await assertFails(rest(), 'fail', 'source_changed', /^large\.csv /)
      await reader.close()
    }
  })

  test('cuts off what was written without a delivery state, and refuses to resume where parts are lost', async () => {
    const writer = await openWriter(folder)
    const { deliveryState } = await writer.deliver(batch)
    await writer.deliver(batch)
    const [partial = ''] = (await readdir(folder)).filter((name) => name.startsWith('.'))
    assert.match(partial, /\.csv\.partial$/)
    await appendFile(join(folder, partial), 'half a ro')
    const next = await openWriter(folder, {}, [deliveryState])
    await next.finish?.()
    await next.finish?.()
    const [name = ''] = (await readdir(folder)).filter((each) => each !== 'a.csv')
    assert.equal(name, '20260131T120000Z-0f1e2d3c4b5a6978.csv')
    assert.equal(await readFile(join(folder, name), 'utf8'), `x\r\none\r\n${long}\r\n`)
    await unlink(join(folder, name))
    await assertFails(
      openWriter(folder, {}, [deliveryState]).then((each) => each.finish?.()),
      'fail',
      'upload_lost',
    )
    await assertFails(
      openWriter(folder, {}, [deliveryState]).then((each) => each.deliver(batch)),
      'fail',
      'upload_lost',
    )
  })

  test('publishes what no attempt that wakes up later can alter or replace', async () => {
    await unlink(join(folder, 'a.csv'))
    const path = join(folder, '20260131T120000Z-0f1e2d3c4b5a6978.csv')
    const whole = `x\r\none\r\n${long}\r\n`
    // The process sleeps while its file is open, before it has opened one, and when only publishing is left.
    for (const wakesWith of ['its file', 'nothing', 'all parts'] as const) {
      const old = await openWriter(folder)
      const { deliveryState } = wakesWith === 'nothing' ? {} : await old.deliver(batch)
      const handles = await Promise.all(
        (await readdir(folder)).map((name) => openFile(join(folder, name), constants.O_RDWR)),
      )
      const next = await openWriter(folder, {}, deliveryState === undefined ? [] : [deliveryState])
      if (wakesWith !== 'all parts') await next.deliver(batch)
      await next.finish?.()
      const published = await stat(path)
      const text = await readFile(path, 'utf8')
      assert.equal(text.length, wakesWith === 'its file' ? 2 * whole.length - 3 : whole.length)
      for (const handle of handles) {
        await handle.truncate(10)
        await handle.write('late')
        await handle.close()
      }
      if (wakesWith !== 'all parts') await old.deliver(batch).catch(() => {})
      await old.finish?.().catch(() => {})
      await old.abort?.()
      await old.close?.()
      await next.close?.()
      const after = await stat(path)
      assert.deepEqual([after.ino, after.size, after.mtimeMs], [published.ino, published.size, published.mtimeMs])
      assert.equal(await readFile(path, 'utf8'), text)
      assert.deepEqual(await readdir(folder), ['20260131T120000Z-0f1e2d3c4b5a6978.csv'], 'nothing is left over')
      await unlink(path)
    }
  })

  test('leaves a file of what was confirmed where a transfer is aborted, and nothing where nothing was', async () => {
    await unlink(join(folder, 'a.csv'))
    for (const settings of [{}, { gzip: true }, { fileFormat: 'Parquet' }] as const) {
      const made = Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]))
      const open = (deliveryStates: unknown[] = []) => openWriter(folder, made, deliveryStates)
      // Random, so that they stay large enough to be written immediately when they are compressed.
      const rows = Array.from({ length: 2200 }, () => [randomBytes(usualPartBytes / 2048).toString('hex')])
      const writer = await open()
      const { deliveryState } = await writer.deliver({ ...batch, rows })
      assert.ok(deliveryState, 'the batch is large enough to be confirmed')
      await writer.deliver({ ...batch, rows: rows.toReversed() })
      for (let time = 0; time < 2; time++) await (await open([deliveryState])).abort?.()
      const [name = '', ...more] = await readdir(folder)
      assert.match(name, /^20260131T120000Z-0f1e2d3c4b5a6978\./)
      assert.deepEqual(more, [])
      assert.deepEqual(await readBack(folder), rows)
      await unlink(join(folder, name))

      await (await open()).deliver({ ...batch, rows })
      await (await open()).abort?.()
      assert.deepEqual(await readdir(folder), [])
    }
  })

  test('writes through no symbolic link that was created at the path of the file', async () => {
    const target = join(elsewhere, 'target')
    await writeFile(target, 'as it was')
    await symlink(target, join(folder, '.20260131T120000Z-0f1e2d3c4b5a6978.csv.partial'))
    await assertFails(
      openWriter(folder).then((each) => each.deliver(batch)),
      'reconfigure',
      'object_not_found',
    )
    assert.equal(await readFile(target, 'utf8'), 'as it was')
  })

  test('says what may be done in the folder', async () => {
    const check = async (path: string) =>
      localFolder.check?.(testContext({ secrets: { folder: path }, localFolders: [allowed] }))
    assert.deepEqual(
      (await check(folder))?.map(({ name, ok }) => [name, ok]),
      [
        ['connectivity', true],
        ['permissions', true],
      ],
    )
    assert.deepEqual(await readdir(folder), ['a.csv'])
    for (const path of [join(folder, 'nowhere'), join(folder, 'a.csv'), elsewhere]) {
      assert.deepEqual(
        (await check(path))?.map(({ name, ok }) => [name, ok]),
        [['connectivity', false]],
        path,
      )
    }
  })

  test('is refused what the user that it runs as may not do', { skip: !canBeNobody() }, async () => {
    await chmod(join(folder, 'a.csv'), 0o600)
    await chmod(folder, 0o755)
    await asNobody(async () => {
      await assertFails(
        readOf({ files: 'a.csv' }, folder),
        'reconfigure',
        'permission_denied',
        /^a\.csv may not be used/,
      )
      await assertFails(
        openWriter(folder).then((each) => each.deliver(batch)),
        'reconfigure',
        'permission_denied',
      )
      const steps = await localFolder.check?.(testContext({ secrets: { folder }, localFolders: [allowed] }))
      assert.match(steps?.[1]?.message ?? '', /read, but not written/)
    })
  })

  test('says that the disk is full', { skip: process.platform !== 'linux' }, async () => {
    const { asDiskError } = await import('./disk-error.ts')
    // A device of Linux that is always full returns exactly the error of a full disk.
    const error: unknown = await writeFile('/dev/full', 'x').catch((each: unknown) => each)
    await assertFails(Promise.reject(asDiskError(error, 'x.csv')), 'fail', 'disk_full', /^x\.csv cannot be written/)
  })
})

/** Whether this process can run as a user without rights, as root can. */
function canBeNobody(): boolean {
  return process.platform === 'linux' && process.geteuid?.() === 0
}

async function asNobody(work: () => Promise<void>): Promise<void> {
  // The path to the folder must be accessible to everyone.
  await chmod(top, 0o755)
  process.seteuid?.(65534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}
