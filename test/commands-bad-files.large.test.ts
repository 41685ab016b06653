import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createEmptyDatabase } from './harness/database.ts'
import { type Ended, prepareStage, type Stage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** Commands whose files are damaged, missing or something else: a sentence and an exit code, and nothing is changed. */

const masterKey = randomBytes(32).toString('base64')
const leaving: (() => Promise<void>)[] = []
let stage: Stage
let env: Record<string, string>
let target: Record<string, string>
let backup: Buffer
before(async () => {
  stage = await prepareStage({ after: (work) => leaving.unshift(work) })
  const [from, to] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()])
  leaving.unshift(from.drop, to.drop)
  env = { DATABASE_URL: from.url, PENSTOCK_MASTER_KEY: masterKey }
  target = { ...env, DATABASE_URL: to.url }
  await succeed(['migrate'])
  await succeed(['org', 'create', '--name', 'Acme', '--owner-email', 'ada@example.com'])
  // Enough rows that the file is read in pieces.
  await withSession(from.url, async (session) => {
    await session.query(
      "insert into environments (name, id, host) values ('production', 'production', 'localhost') on conflict do nothing",
    )
    await session.query(
      `insert into accounts (id, organization_id, name, enabled, env)
       select substr(md5(i::text), 1, 16), (select id from organizations), md5(random()::text) || md5(random()::text), true, 'production'
       from generate_series(1, 20000) i`,
    )
  })
  await succeed(['backup', join(stage.base, 'whole.backup')])
  backup = await readFile(join(stage.base, 'whole.backup'))
})
after(async () => {
  for (const leave of leaving) await leave()
})

const succeed = async (args: readonly string[], given = env) => {
  const ended = await stage.penstock(args, { env: given })
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

/** It failed with messages in sentences for a person, and without a stack. */
function assertExplained({ code, stderr, stdout }: Ended, message: RegExp): void {
  assert(code === 1 || code === 2, `exit code ${code}: ${stderr}${stdout}`)
  assert.match(stderr, message)
  assert.doesNotMatch(stderr, /\n\s+at |node:internal|unsettled|undefined|\[object|^penstock: E[A-Z]+:/m)
}

const unzipped = () => gunzipSync(backup).toString('utf8')
const withByte = (at: number): Buffer => {
  const bytes = Buffer.from(backup)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  return bytes
}
const restoring: readonly [string, () => Buffer | string, RegExp][] = [
  ['is empty', () => '', /not complete|not a backup/],
  ['is a text', () => 'hello\n', /not a backup/],
  ['is random', () => randomBytes(5_000), /not a backup/],
  ['is another compressed file', () => gzipSync('hello\n'), /not a backup/],
  ['is cut in its header', () => backup.subarray(0, 15), /not complete/],
  ['is cut early', () => backup.subarray(0, 400), /not complete/],
  ['is cut in the middle', () => backup.subarray(0, backup.length / 2), /not complete/],
  ['lacks its last byte', () => backup.subarray(0, -1), /not complete/],
  ['has garbage at its end', () => Buffer.concat([backup, randomBytes(1_000)]), /damaged/],
  [
    'has garbage in the middle',
    () => Buffer.concat([backup.subarray(0, backup.length / 2), randomBytes(9_000)]),
    /damaged/,
  ],
  ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part): [string, () => Buffer, RegExp] => [
    `has another byte at ${part * 100} %`,
    () => withByte(Math.floor(backup.length * part)),
    /damaged|not a backup|not complete|does not know/,
  ]),
  ['lacks a line', () => gzipSync(unzipped().split('\n').toSpliced(3, 1).join('\n')), /damaged/],
  ['lacks its last line', () => gzipSync(unzipped().split('\n').slice(0, -2).join('\n')), /not complete/],
  ['has another line', () => gzipSync(unzipped().replace('Acme', 'Emca')), /damaged/],
  ['is of a later form', () => gzipSync(unzipped().replace('"version":1', '"version":2')), /does not know the schema/],
  [
    'has a header without its parts',
    () => gzipSync('{"format":"penstock-backup","version":1}\n'),
    /damaged|does not know/,
  ],
  [
    'has a header of other types',
    () => gzipSync('{"format":"penstock-backup","version":1,"migrations":7,"tables":"x","masterKeys":{}}\n'),
    /damaged|does not know/,
  ],
]
describe('a backup that', () => {
  for (const [title, make, message] of restoring) {
    test(`${title} is not restored, and changes nothing`, async () => {
      const file = join(stage.base, `${randomBytes(4).toString('hex')}.backup`)
      await writeFile(file, make())
      assertExplained(await stage.penstock(['restore', file], { env: target }), message)
      await withSession(target.DATABASE_URL ?? '', async (session) => {
        const { rows } = await session.query(
          "select from pg_tables where schemaname = 'public' and tablename <> 'migrations'",
        )
        assert.equal(rows.length, 0)
      })
    })
  }

  test('is refused after it was read in part is explained, whatever its size', async () => {
    const header = unzipped().split('\n', 1)[0]
    for (const bytes of [32_000, 64_000, 96_000, 128_000, 512_000]) {
      const file = join(stage.base, `${bytes}.backup`)
      await writeFile(file, gzipSync(`${header}\n${randomBytes(bytes).toString('hex')}\n`))
      assertExplained(await stage.penstock(['restore', file], { env }), /not empty.*Nothing was changed/)
    }
  })

  test('is a directory or missing is not restored, and one that cannot be written is explained', async () => {
    const whole = join(stage.base, 'whole.backup')
    await mkdir(join(stage.base, 'directory'))
    assertExplained(await stage.penstock(['restore', join(stage.base, 'directory')], { env: target }), /is a directory/)
    assertExplained(await stage.penstock(['restore', join(stage.base, 'none')], { env: target }), /none cannot be read/)
    assertExplained(await stage.penstock(['backup', '/dev/full/x'], { env }), /cannot be written/)
    assertExplained(await stage.penstock(['backup', join(stage.base, 'none/x')], { env }), /cannot be written/)
    await succeed(['restore', whole], target)
  })
})

describe('a file of a command that', () => {
  const contents: readonly [string, string | Buffer | undefined][] = [
    ['is missing', undefined],
    ['is a directory', '/directory/'],
    ['is empty', ''],
    ['is random', randomBytes(3_000)],
    ['is half a document', '{"a": [1, '],
  ]
  const commands: readonly [string, (file: string) => readonly string[]][] = [
    ['plan', (file) => ['plan', file]],
    ['apply', (file) => ['apply', file]],
    ['import-source', (file) => ['import-source', file]],
    ['connector add', (file) => ['connector', 'add', file]],
    ['connector import', (file) => ['connector', 'import', file]],
    ['connector try', (file) => ['connector', 'try', file, '--rows', file, '--operation', 'x']],
    ['connector test', (file) => ['connector', 'test', file]],
    ['oauth-app set', (file) => ['oauth-app', 'set', 'google', '--client-id', 'x', '--secret-file', file]],
    ['mcp', (file) => ['mcp', '--credentials', file]],
  ]
  for (const [title, content] of contents) {
    test(`${title} is explained`, async () => {
      const file = join(stage.base, `a-${title.replaceAll(' ', '-')}.yaml`)
      if (content === '/directory/') await mkdir(file)
      else if (content !== undefined) await writeFile(file, content)
      const problems: string[] = []
      for (const [name, args] of commands) {
        const url = { PENSTOCK_URL: 'http://127.0.0.1:1', PENSTOCK_CLIENT_ID: 'x', PENSTOCK_CLIENT_SECRET: 'y' }
        const ended = await stage.penstock(args(file), { env: { ...env, ...url } })
        try {
          assertExplained(ended, /\S/)
        } catch (error) {
          problems.push(
            `${name}: ${ended.code} ${ended.stderr.slice(0, 600)} ${(error as Error).message.slice(0, 100)}`,
          )
        }
      }
      assert.deepEqual(problems, [])
    })
  }
})
