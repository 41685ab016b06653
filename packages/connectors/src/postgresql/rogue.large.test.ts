import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import { ConnectorError, type Row, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startPostgresql } from '../../test/postgresql.ts'
import { type RogueScript, rogueScripts, startRoguePostgresql } from '../../test/rogue-postgresql.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())

before(() =>
  server.query(`
    create table crm.source (id bigint primary key, name text);
    insert into crm.source select i, 'name ' || i from generate_series(1, 20) i;
    create table crm.target (id bigint primary key, name text)`),
)

const rows: Row[] = [
  ['1', 'a'],
  ['2', 'b'],
]

/** The operations on a server. Each resolves on success. */
const works: Readonly<Record<string, (secrets: Values) => Promise<unknown>>> = {
  async check(secrets) {
    const steps = await postgresql.check?.(testContext({ secrets, settings: { schema: 'crm' } }))
    const failed = steps?.find(({ ok }) => !ok)
    for (const { message } of steps ?? []) assertSafe(message)
    if (failed) throw new ConnectorError('unexpected_response', failed.message)
  },
  async read(secrets) {
    const settings = { schema: 'crm', table: 'source', statementTimeoutSeconds: 20 }
    const chunks = await readAll(postgresql, { secrets, settings })
    assert.equal(rowsOf(chunks).length, 20, 'all rows are read, or it fails')
  },
  async write(secrets) {
    const settings = { schema: 'crm', table: 'target', writeMode: 'Upsert', keyColumns: 'id' }
    // A batch of another transfer each time: the same one is written only once.
    const transferId = Math.random().toString(16).slice(2)
    const { rejected } = await deliver(postgresql, { secrets, settings, transferId }, batchOf(['id', 'name'], rows))
    assert.equal(rejected, undefined, 'all rows are taken, or it fails')
  },
}

function assertSafe(message: string): void {
  assert.ok(message.length <= 1000, `a message of ${message.length} characters`)
  assert.doesNotMatch(message, /\p{Cc}/u)
  assert.ok(!message.includes(String(server.secrets.password)))
}

/** Does some work with a rogue server, which must end in a connector error, or well if nothing could be seen. */
async function attempt(
  script: RogueScript,
  name: string,
  { tlsMode = 'disable', onceSilent }: { tlsMode?: string; onceSilent?: (silent: Promise<unknown>) => void } = {},
): Promise<void> {
  const rogue = await startRoguePostgresql(script, server)
  try {
    const work = works[name]?.({ ...server.secrets, host: '127.0.0.1', port: rogue.port, tlsMode })
    onceSilent?.(rogue.silent())
    const [result] = await Promise.allSettled([work])
    if (result?.status === 'fulfilled') return assert.ok(!script.visible, `${name} went well though it ${script.name}`)
    const reason: unknown = result?.reason
    assert.ok(
      reason instanceof ConnectorError,
      `${name} of a server that ${script.name}: ${String((reason as Error)?.stack)}`,
    )
    assert.match(reason.code, /^(?!internal$)[a-z][a-z0-9_]*$/)
    assert.match(reason.message, /^[A-Z0-9].*\.$/s)
    assertSafe(reason.message)
  } finally {
    await rogue.close()
  }
}

const scripts = rogueScripts()

describe('a server that is none', { concurrency: 8 }, () => {
  for (const name of Object.keys(works)) {
    for (const script of scripts.filter(({ silent }) => !silent)) {
      test(`${script.name} – ${name}`, { timeout: 60_000 }, () => attempt(script, name))
    }
  }

  for (const script of scripts.filter(({ name, silent }) => name.startsWith('answers the sign-in') && !silent)) {
    test(`${script.name}, where TLS is asked for`, { timeout: 60_000 }, () =>
      attempt(script, 'check', { tlsMode: 'require' }),
    )
  }

  test('has enough ways to be none', () => {
    assert.ok(scripts.length > 60)
    assert.equal(new Set(scripts.map(({ name }) => name)).size, scripts.length)
  })
})

describe('a server that says no more', () => {
  for (const name of Object.keys(works)) {
    for (const script of scripts.filter(({ silent }) => silent)) {
      test(`${script.name} until a deadline – ${name}`, { timeout: 60_000 }, async () => {
        mock.timers.enable({ apis: ['setTimeout'] })
        try {
          const onceSilent = async (silent: Promise<unknown>) => {
            await silent
            mock.timers.tick(3_600_000)
          }
          await attempt(script, name, { onceSilent })
        } finally {
          mock.timers.reset()
        }
      })
    }
  }
})
