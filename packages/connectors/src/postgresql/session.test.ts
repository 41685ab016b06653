import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { startTcpProxy, testAuthority } from '../../test/database-proxy.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
const proxy = await startTcpProxy({ host: server.host, port: server.port }, { postgresqlTls: true })
after(async () => {
  await proxy.close()
  await server.close()
})

const settings = { dataSourceType: 'SQL Query', sqlQuery: 'select 1 as one' }
const read = (given: Values) =>
  readAll(postgresql, { secrets: { ...server.secrets, port: proxy.port, ...given }, settings })

describe('the way to PostgreSQL', () => {
  test('is encrypted for any server, or only for one with a trusted certificate', async () => {
    const verified = { tlsMode: 'verify-full', host: 'localhost', caCertificate: testAuthority }
    for (const secrets of [{ tlsMode: 'require' }, { tlsMode: 'require', host: 'localhost' }, verified]) {
      assert.deepEqual(rowsOf(await read(secrets)), [[1]])
    }
    assert.deepEqual(rowsOf(await read({ ...verified, caCertificate: testAuthority.replaceAll('\n', '\\n') })), [[1]])
  })

  test('is not taken where the certificate is another’s, of another host, or no certificate was given', async () => {
    const refused = ['reconfigure', 'certificate_not_trusted']
    assert.deepEqual(await connectorErrorOf(read({ tlsMode: 'verify-full', host: 'localhost' })), refused)
    const elsewhere = { tlsMode: 'verify-full', host: '127.0.0.1', caCertificate: testAuthority }
    assert.deepEqual(await connectorErrorOf(read(elsewhere)), refused)
    const nonsense = {
      tlsMode: 'verify-full',
      host: 'localhost',
      caCertificate: '-----BEGIN CERTIFICATE-----\nnonsense',
    }
    assert.equal((await connectorErrorOf(read(nonsense)))[0], 'reconfigure')
  })

  test('is not taken unencrypted where encryption is asked for', async () => {
    const plain = { port: server.port, tlsMode: 'require' }
    assert.deepEqual(await connectorErrorOf(read(plain)), ['reconfigure', 'not_supported'])
  })

  test('leads to a refusal for wrong databases and users, and to retries for transient errors', async () => {
    const direct = { port: server.port, tlsMode: 'disable' }
    assert.deepEqual(await connectorErrorOf(read({ ...direct, database: 'absent' })), [
      'reconfigure',
      'table_not_found',
    ])
    assert.deepEqual(await connectorErrorOf(read({ ...direct, user: 'nobody' })), [
      'reauthenticate',
      'invalid_credentials',
    ])
    const ended = `select pg_terminate_backend(pg_backend_pid()) as ended`
    const attempt = readAll(postgresql, { secrets: server.secrets, settings: { ...settings, sqlQuery: ended } })
    assert.equal((await connectorErrorOf(attempt))[0], 'retry')
  })
})
