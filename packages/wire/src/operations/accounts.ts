import { example } from '../examples.ts'
import { operation } from '../operation.ts'
import { filter, page, q, yes } from '../parameters.ts'
import {
  Account,
  AccountEntry,
  AccountFigures,
  AddAccount,
  accountFiguresOrders,
  EditAccount,
  Usage,
} from '../schemas.ts'
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
  listAccountFigures: operation({
    tag: 'Accounts',
    summary: 'List the figures of sub-accounts',
    description:
      'Lists each sub-account with its connections by state, the rows of this month, and its last incident. By default, the sub-account with the most failing connections is listed first.',
    actsIn: 'organization',
    scope: 'connections:read',
    query: {
      q: Type.Optional(q),
      failing: yes('true: sub-accounts with a failing connection; false: sub-accounts without one'),
      sort: filter(
        accountFiguresOrders,
        'Order of the list; - reverses it. failing, connections, rows: by number. incident: by the time when the last incident began; sub-accounts without an incident come last in -incident',
      ),
      ...page,
    },
    reply: AccountFigures,
    list: 'paged',
    done: 'Figures of sub-accounts listed',
  }),
  getUsage: operation({
    tag: 'Accounts',
    summary: 'Get the figures of the organization',
    description:
      'Returns the sub-accounts, connections, rows of this month and open incidents of the organization, with their limits.',
    actsIn: 'organization',
    scope: 'connections:read',
    reply: Usage,
    done: 'Figures found',
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
