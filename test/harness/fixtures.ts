import assert from 'node:assert/strict'
import type { Connector } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import type { Account, Connection } from '@penstock/wire'
import type { Organization, TestService } from './service.ts'

/** Things that many tests need, made through the interface as a caller would. */

export function connectorBySlug(slug: string): Connector {
  const connector = connectors.find((candidate) => candidate.slug === slug)
  assert(connector, `the catalogue has no ${slug}`)
  return connector
}

/** A source and a destination that fit, with every kind of field that tests care about. */
export const source = connectorBySlug('amazon-s3-source')
export const destination = connectorBySlug('snowflake-destination')

export const sourceSecrets = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'canary-s3-secret' }
export const sourceSettings = { bucketUri: 's3://bucket/prefix' }
export const destinationSecrets = { authType: 'basic', username: 'loader', password: 'canary-snowflake-password' }
export const destinationSettings = { warehouse: 'W', database: 'D', schema: 'S', table: 'T', writeMode: 'Append' }

/** A caller of one organization, who never forgets the token. */
export type Caller = ReturnType<typeof callerOf>

export function callerOf(test: TestService, { token }: Organization) {
  const call: TestService['call'] = (operation, options) => test.call(operation, { token, ...options })
  const expect = async <T>(reply: Promise<{ status: number; text: string; response: T }>): Promise<T> => {
    const { status, text, response } = await reply
    assert(status < 300, `expected success, got ${status}: ${text}`)
    return response
  }
  return {
    call,
    /** The payload of a reply that must be a success. */
    expect,
    addAccount: (name = 'Account'): Promise<Account> => expect(call('addAccount', { body: { name } })),
    addConnectors: (accountId: string, ...added: Connector[]) =>
      expect(call('addConnectors', { accountId, body: { connectorIds: added.map(({ id }) => id) } })),
    /** An account with the source and the destination added. */
    addAccountWithSides: async (name = 'Account'): Promise<Account> => {
      const account: Account = await expect(call('addAccount', { body: { name } }))
      const connectorIds = [source.id, destination.id]
      await expect(call('addConnectors', { accountId: account.id, body: { connectorIds } }))
      return account
    },
    configureSides: async (accountId: string): Promise<void> => {
      await expect(call('configureConnector', { accountId, id: source.id, body: { secretConfig: sourceSecrets } }))
      await expect(
        call('configureConnector', { accountId, id: destination.id, body: { secretConfig: destinationSecrets } }),
      )
    },
    /** A connection between the source and the destination, with complete settings. */
    createConnection: (accountId: string, name = 'Connection'): Promise<Connection> =>
      expect(
        call('createConnection', {
          accountId,
          body: {
            name,
            srcConnectorId: source.id,
            destConnectorId: destination.id,
            srcConnectionConfig: sourceSettings,
            destConnectionConfig: destinationSettings,
          },
        }),
      ),
  }
}

/** A file that anyone can upload. */
export const anyFile: Uint8Array<ArrayBuffer> = new TextEncoder().encode('email,name\nada@example.com,Ada\n')
