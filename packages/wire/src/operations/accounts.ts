import { example } from '../examples.ts'
import { operation } from '../operation.ts'
import { page, q } from '../parameters.ts'
import { Account, AccountEntry, AddAccount, EditAccount } from '../schemas.ts'
import { Type } from '../type.ts'

/** Sub-accounts. */
export const accounts = {
  getAccount: operation({
    tag: 'Accounts',
    summary: 'Get a sub-account',
    description: 'Returns a sub-account of the organization.',
    actsIn: 'organization',
    scope: 'accounts:read',
    reply: Account,
    done: 'Account found',
    concurrency: 'etag',
  }),
  listAccounts: operation({
    tag: 'Accounts',
    summary: 'List the sub-accounts',
    description: 'Lists the sub-accounts of the organization, newest first.',
    actsIn: 'organization',
    scope: 'accounts:read',
    query: { q: Type.Optional(q), ...page },
    reply: AccountEntry,
    list: 'paged',
    done: 'Accounts listed',
  }),
  addAccount: operation({
    tag: 'Accounts',
    summary: 'Add a sub-account',
    description: 'Creates a sub-account. It is enabled by default.',
    actsIn: 'organization',
    scope: 'accounts:write',
    body: AddAccount,
    reply: Account,
    success: 201,
    done: 'Account created',
    refusals: ['quota_exceeded'],
    shows: { connections: '0', updatedTime: example.createdTime, volume: 0 },
  }),
  editAccount: operation({
    tag: 'Accounts',
    summary: 'Edit a sub-account',
    description:
      'Changes the name of a sub-account, enables or disables it, or both. No transfer starts in a disabled sub-account. Everything else is still possible.',
    actsIn: 'organization',
    scope: 'accounts:write',
    body: EditAccount,
    reply: Account,
    done: 'Account changed',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),
  deleteAccount: operation({
    tag: 'Accounts',
    summary: 'Delete a sub-account and everything in it',
    description:
      'Deletes a sub-account with its connectors and connections immediately. Your operator can restore it for 30 days.',
    actsIn: 'organization',
    scope: 'accounts:write',
    reply: Account,
    done: 'Account deleted',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),
} as const
