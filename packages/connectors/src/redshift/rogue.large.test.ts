import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ConnectorError, type Row, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { type RogueScript, rogueScripts, startRoguePostgresql } from '../../test/rogue-postgresql.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { amazonRedshiftDestination } from './amazon-redshift-destination.ts'
import { amazonRedshiftSource } from './amazon-redshift-source.ts'

const server = await startRedshiftServer()
after(() => server.close())
const { routes } = server

before(() =>
  server.query(`
    create table crm.source (id bigint, name varchar(20));
    insert into crm.source select i, 'name ' || i from generate_series(1, 20) i;
    create table crm.target (id bigint, name varchar(20))`),
)

const rows: Row[] = [
  ['1', 'a'],
  ['2', 'b'],
]

/** The operations on a server. Each resolves on success. */
const works: Readonly<Record<string, (secrets: Values) => Promise<unknown>>> = {
  async read(secrets) {
    const settings = { schema: 'crm', table: 'source', keyColumns: 'id', statementTimeoutSeconds: 20 }
    assert.equal(
      rowsOf(await readAll(amazonRedshiftSource, { secrets, settings })).length,
      20,
      'all are read, or it fails',
    )
  },
  async write(secrets) {
    const settings = {
      schema: 'crm',
      table: 'target',
      stagingPath: `s3://${stagingBucket}/`,
      writeMode: 'Upsert',
      keyColumns: 'id',
    }
    // A batch of another transfer each time: the same one is written only once.
    const transferId = Math.random().toString(16).slice(2)
    const context = { secrets, settings, routes, transferId }
    const { rejected } = await deliver(amazonRedshiftDestination, context, batchOf(['id', 'name'], rows))
    assert.equal(rejected, undefined, 'all rows are taken, or it fails')
  },
  async check(secrets) {
    const settings = { schema: 'crm', table: 'source' }
    const steps = await amazonRedshiftSource.check?.(testContext({ secrets, settings }))
    const failed = steps?.find(({ ok }) => !ok)
    if (failed) throw new ConnectorError('unexpected_response', failed.message)
  },
}

/** Does some work with a rogue server, which must end in a connector error, or well if nothing could be seen. */
async function attempt(script: RogueScript, name: string): Promise<void> {
  const rogue = await startRoguePostgresql(script, server.address)
  try {
    const [result] = await Promise.allSettled([works[name]?.({ ...server.secrets, port: rogue.port })])
    if (result?.status === 'fulfilled') return assert.ok(!script.visible, `${name} went well though it ${script.name}`)
    const reason: unknown = result?.reason
    assert.ok(
      reason instanceof ConnectorError,
      `${name} of a server that ${script.name}: ${String((reason as Error)?.stack)}`,
    )
    assert.match(reason.code, /^(?!internal$)[a-z][a-z0-9_]*$/)
    assert.match(reason.message, /^[A-Z0-9].*\.$/s)
    assert.ok(reason.message.length <= 1000)
    for (const secret of [server.secrets.password, server.secrets.secretAccessKey]) {
      assert.ok(!reason.message.includes(String(secret)))
    }
  } finally {
    await rogue.close()
  }
}

describe('a server that is no Redshift', { concurrency: 8 }, () => {
  for (const name of Object.keys(works)) {
    for (const script of rogueScripts().filter(({ silent }) => !silent)) {
      test(`${script.name} – ${name}`, { timeout: 60_000 }, () => attempt(script, name))
    }
  }
})
