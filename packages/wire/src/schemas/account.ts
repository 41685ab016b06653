import { example } from '../examples.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, flag, identifier, name, text, unixSeconds } from './kinds.ts'

const accountFields = {
  id: identifier('the sub-account', example.accountId),
  name: text('Account name', 'Acme Outdoor'),
  enabled: flag('Whether the account is enabled; no transfer starts in a disabled account'),
  connections: Type.String({
    pattern: '^[0-9]+$',
    description: 'Number of connections that are not deleted, as a decimal string',
    examples: ['12'],
  }),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it last changed'),
  env: exactly(
    {
      host: text('Host of the environment', '127.0.0.1:8080'),
      id: identifier('the environment', example.environmentId),
      name: text('Name of the environment', 'production'),
    },
    { description: 'Environment in which the account was created' },
  ),
  userId: identifier(
    'the person who created it; for client credentials, the owner of the organization',
    example.ownerId,
  ),
}
const volume = count('Records delivered by the account’s connections, all time', 120_000)

/** Section 2.7, single account. */
export const Account = exactly(
  { ...accountFields, userEmail: text('E-mail address of that person', 'owner@example.com'), volume },
  { description: 'Sub-account' },
)
export type Account = Static<typeof Account>

/** Section 2.7, entry of the list. */
export const AccountEntry = exactly({ ...accountFields, volume }, { description: 'Entry of the list of sub-accounts' })
export type AccountEntry = Static<typeof AccountEntry>

export const AddAccount = exactly(
  { name: name('Acme Outdoor'), enabled: Type.Optional(accountFields.enabled) },
  { description: 'Sub-account to create' },
)
export const EditAccount = Type.Object(
  { name: Type.Optional(name('Acme Outdoor')), enabled: Type.Optional(accountFields.enabled) },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'Changes to the sub-account; at least one of both',
  },
)
