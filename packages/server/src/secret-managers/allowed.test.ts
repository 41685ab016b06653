import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asConnectorError } from '@penstock/connector'
import type { SecretManagerSettings } from '../secret-manager-settings.ts'
import { allowedSecret, type Tenant } from './allowed.ts'

/** Which secrets a tenant reaches, whatever reference it writes. */

const mine: Tenant = { organizationId: 'a'.repeat(16), accountId: 'b'.repeat(16), secretName: 'webhook/other' }
const theirs: Tenant = { organizationId: 'a'.repeat(16), accountId: 'c'.repeat(16), secretName: 'x' }
const vaultAccess = {
  type: 'vault',
  address: 'https://vault.internal:8200',
  mount: 'secret',
  namespace: undefined,
  auth: { method: 'token', tokenFile: '/token' },
} as const
const one = (prefix: string, of: { organizationId?: string; accountId?: string } = {}) => ({
  prefix,
  organizationId: of.organizationId,
  accountId: of.accountId,
})
const managers: readonly SecretManagerSettings[] = [
  {
    name: 'vault',
    access: vaultAccess,
    allow: [one('penstock/{organizationId}/{accountId}/'), one('shared/{organizationId}/')],
  },
  { name: 'closed', access: vaultAccess, allow: [] },
  { name: 'one', access: vaultAccess, allow: [one('team/', { accountId: mine.accountId })] },
  {
    name: 'azure',
    access: {
      type: 'azure',
      tenantId: 't',
      clientId: 'c',
      auth: { method: 'federated', tokenFile: '/token' },
    },
    allow: [one('example-vault/p-{accountId}-')],
  },
  {
    name: 'google',
    access: { type: 'google', auth: { method: 'service-account', keyFile: '/key' } },
    allow: [one('projects/example/secrets/p-{accountId}-')],
  },
  {
    name: 'aws',
    access: { type: 'aws', region: 'eu-central-1', auth: { method: 'web-identity', roleArn: '', tokenFile: '/t' } },
    allow: [
      one('penstock/{accountId}/'),
      one('arn:aws:secretsmanager:eu-central-1:123456789012:secret:p/{accountId}/'),
    ],
  },
]
const own = `penstock/${mine.organizationId}/${mine.accountId}`

const pathOf = (reference: string, tenant = mine) => {
  const { manager, path, key } = allowedSecret(managers, reference, tenant)
  return [manager.name, path, key]
}
function codeOf(reference: string, tenant = mine): string {
  try {
    return `allowed: ${pathOf(reference, tenant)}`
  } catch (error) {
    const known = asConnectorError(error)
    assert(known, String(error))
    return known.code
  }
}

describe('a reference', () => {
  test('names a secret beneath the paths of its sub-account', () => {
    assert.deepEqual(pathOf(`secret://vault/${own}/ads#token`), ['vault', `${own}/ads`, 'token'])
    assert.deepEqual(pathOf(`secret://vault/${own}/ads#a#b c`), ['vault', `${own}/ads`, 'a#b c'])
    assert.deepEqual(pathOf(`secret://vault/${own}/ads`), ['vault', `${own}/ads`, null])
    assert.deepEqual(pathOf(`secret://vault/shared/${mine.organizationId}/ads#token`)[0], 'vault')
    assert.deepEqual(pathOf('secret://one/team/ads#token')[1], 'team/ads')
    assert.deepEqual(pathOf('secret://one#token', { ...mine, secretName: 'team/by-name' }), [
      'one',
      'team/by-name',
      'token',
    ])
    const arn = `arn:aws:secretsmanager:eu-central-1:123456789012:secret:p/${mine.accountId}/ads-AbCdEf`
    assert.deepEqual(pathOf(`secret://aws/${arn}#token`)[1], arn)
    // Names in Azure are the same in upper and lower case.
    const name = `p-${mine.accountId}-ads`
    assert.deepEqual(pathOf(`secret://azure/Example-Vault/${name.toUpperCase()}`)[1], `example-vault/${name}`)
    assert.deepEqual(pathOf(`secret://google/projects/example/secrets/${name}/versions/4`)[0], 'google')
  })

  test('reaches nothing of another sub-account, of another manager, or of the operator', () => {
    const refused = [
      `secret://vault/${own}`,
      `secret://vault/${own.toUpperCase()}/ads#token`,
      `secret://vault/penstock/${mine.organizationId}/${theirs.accountId}/ads#token`,
      `secret://vault/penstock/${mine.organizationId}/ads#token`,
      'secret://vault/operator/master#token',
      'secret://closed/team/ads#token',
      'secret://none/team/ads#token',
      'secret://one/teams/ads#token',
      'secret://one/team',
      'secret://vault#token',
      'secret://vault',
      `secret://google/projects/other/secrets/p-${mine.accountId}-ads`,
      `secret://azure/other-vault/p-${mine.accountId}-ads`,
      'secret://aws/arn:aws:secretsmanager:eu-central-1:999999999999:secret:p/ads#token',
    ]
    for (const reference of refused) assert.equal(codeOf(reference), 'secret_not_allowed', reference)
    assert.equal(codeOf('secret://one/team/ads#token', theirs), 'secret_not_allowed')
    assert.equal(codeOf('secret://one#token', { ...theirs, secretName: 'team/ads' }), 'secret_not_allowed')
    // The name of the secrets is a text of a tenant, too.
    const escaping = { ...mine, secretName: 'team/../operator' }
    assert.equal(codeOf('secret://one#token', escaping), 'secret_not_allowed')
  })

  test('contains nothing that a server could decode, normalise or expand', () => {
    const hostile = [
      `secret://vault/${own}/../../../operator/master#token`,
      `secret://vault/${own}/./ads#token`,
      `secret://vault/${own}/...#token`,
      `secret://vault/${own}/%2e%2e/master#token`,
      `secret://vault/${own}/..%2fmaster#token`,
      `secret://vault/${own}/%2Fmaster#token`,
      `secret://vault/${own}\\..\\master#token`,
      `secret://vault/${own}//ads#token`,
      `secret://vault//${own}/ads#token`,
      `secret://vault/${own}/ads/#token`,
      `secret://vault/${own}/*#token`,
      `secret://vault/${own}/a?version=1#token`,
      `secret://vault/${own}/a b#token`,
      `secret://vault/${own}/a\n#token`,
      `secret://vault/${own}/ads#to\nken`,
      `secret://vault/${own}/ads#`,
      `secret://vault/${own}/ads# token`,
      `secret://vault/${own}/ａds#token`,
      `secret://vault/${own}/ads\u202e#token`,
      `secret://Vault/${own}/ads#token`,
      `secret://vault@evil/${own}/ads#token`,
      `secret://vault:8200/${own}/ads#token`,
      `secret://vault/${'a'.repeat(1_000)}#token`,
      `secret:/vault/${own}/ads#token`,
      'secret://',
      'secret:///ads#token',
    ]
    for (const reference of hostile) assert.equal(codeOf(reference), 'invalid_setting', reference)
    // Beneath an allowed beginning, a path still has the form that its manager knows.
    const odd = [
      `secret://google/projects/example/secrets/p-${mine.accountId}-a/versions/latest/x`,
      `secret://google/projects/example/secrets/p-${mine.accountId}-a/other/1`,
      `secret://google/projects/example/secrets/p-${mine.accountId}-a:access`,
      `secret://azure/example-vault/p-${mine.accountId}-a/4387e9f3d6e14c459867679a90fd0f79`,
      `secret://azure/example-vault/p-${mine.accountId}-a.b`,
      `secret://vault/${own}/a:b`,
      `secret://aws/penstock/${mine.accountId}/a:b`,
    ]
    for (const reference of odd) assert.equal(codeOf(reference), 'invalid_setting', reference)
  })
})
