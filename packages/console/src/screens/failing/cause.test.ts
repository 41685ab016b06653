import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TransferError } from '@penstock/wire'
import { causeGroupsOf, causeOf, type FailingConnection, failedSince } from './cause.ts'
import { matches, titleOf } from './titles.ts'

const side = (connectorId: string, configured = true) => ({
  connectorId,
  connectorName: connectorId.toUpperCase(),
  connectorLogo: '',
  configured,
})
let made = 0
function failing(
  error: Partial<TransferError> | null,
  of: Partial<FailingConnection> = {},
  status: 'failed' | 'running' = 'failed',
): FailingConnection {
  made += 1
  return {
    id: String(made),
    accountId: 'acme',
    accountName: 'Acme Outdoor',
    name: `Feed ${made}`,
    status: 'broken',
    src: side('shop'),
    dest: side('meta'),
    lastTransfer: {
      id: `t${made}`,
      status,
      finishedTime: 100 + made,
      error: error && {
        code: 'expired_credentials',
        message: 'Expired.',
        side: 'destination',
        connectorId: null,
        ...error,
      },
    },
    ...of,
  }
}
const kinds = (connections: readonly FailingConnection[]) =>
  causeGroupsOf(connections).map((group) => [group.cause.kind, group.connections.length, titleOf(group)])

describe('the cause of failing connections', () => {
  test('is one for all that use a configuration whose credentials expired', () => {
    const eight = Array.from({ length: 8 }, () => failing({ message: `Expired ${made}.` }))
    const other = failing({}, { destConfigurationId: 'staging' })
    const elsewhere = failing({}, { accountId: 'urban' })
    const read = failing({}, { src: side('meta'), dest: side('shop') })
    assert.deepEqual(kinds([...eight, other, elsewhere, read]), [
      ['credentials', 8, 'META reports that the credentials have expired'],
      ['credentials', 1, 'META reports that the credentials have expired'],
      ['credentials', 1, 'META reports that the credentials have expired'],
      ['credentials', 1, 'SHOP reports that the credentials have expired'],
    ])
    const source = failing({ side: 'source' }, { src: side('meta'), dest: side('shop') })
    assert.equal(causeOf(source).key, causeOf(eight[0] as FailingConnection).key, 'whichever side uses it')
    assert.equal(failedSince(eight), Math.min(...eight.map(({ lastTransfer }) => lastTransfer?.finishedTime ?? 0)))
  })

  test('needs a person before it heals by itself, and larger groups come first', () => {
    const offline = () => failing({ code: 'unreachable' }, { status: 'offline' })
    const columns = () => failing({ code: 'columns_changed', message: 'Columns changed: vat.', side: 'service' })
    const file = (name: string) => failing({ code: 'object_not_found', message: `${name} does not exist. Check it.` })
    assert.deepEqual(
      kinds([
        ...[offline(), offline(), offline(), file('stock.csv'), columns(), file('leads.csv'), columns()],
        ...[failing({ code: 'invalid_credentials' }), failing({ code: 'confirmation_needed' }, { status: 'active' })],
        ...[failing({ code: 'unreachable' }, { status: 'active' }, 'running'), failing({ code: 'host_not_found' })],
        ...[failing(null, { dest: side('meta', false) }), failing({ code: 'internal', side: 'service', message: 'x' })],
      ]),
      [
        ['columns', 2, 'Columns changed in SHOP'],
        ['credentials', 1, 'META refused the credentials'],
        ['configuration', 1, 'META was not found'],
        ['configuration', 1, 'META is not configured'],
        ['confirmation', 1, 'Waiting for confirmation'],
        ['connection', 1, 'stock.csv does not exist'],
        ['connection', 1, 'leads.csv does not exist'],
        ['connection', 1, 'x'],
        ['waiting', 3, 'META does not answer'],
        ['waiting', 1, 'A transfer is retrying'],
      ],
    )
  })

  test('is the same for errors of rows or tables only in the same words, and never for confirmations', () => {
    const missing = { code: 'table_not_found', message: 'There is no table people.' }
    assert.equal(
      kinds([failing(missing), failing(missing), failing({ ...missing, message: 'Another one.' })]).length,
      2,
    )
    const confirmation = { code: 'confirmation_needed' }
    assert.equal(kinds([failing(confirmation), failing(confirmation)]).length, 2)
  })

  test('is found by name, sub-account, connector and reason', () => {
    const one = failing({ message: 'The token expired.' }, { name: 'Winter sale' })
    for (const text of ['winter', 'OUTDOOR', 'meta', ' token ', '']) assert(matches(one, text), text)
    assert(!matches(one, 'summer'))
  })
})
