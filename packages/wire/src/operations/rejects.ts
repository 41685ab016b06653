import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { ofConfiguration, page, q } from '../parameters.ts'
import {
  DataSubject,
  EditedRejects,
  EditRejects,
  EraseAtDestination,
  ErasedAtDestination,
  ErasedDataSubject,
  ErasureDestination,
  FoundDataSubject,
  Reject,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** Rejected records, and the data of one person in them. */
export const rejects = {
  listRejects: operation({
    tag: 'Transfers',
    summary: 'List the records that a transfer rejected',
    description:
      'Lists rejected records in the order of the source, each with its reason and its values. A page shows 8 MiB of values at most: if values are omitted, request a smaller page. With `Accept: application/x-ndjson` or `text/csv`, all of them are streamed. Reading records is recorded in the audit log.',
    actsIn: 'account',
    scope: 'records:read',
    query: {
      q: Type.Optional({
        ...q,
        description: `Keeps records whose number, field, reason or values contain this text, in any letter case. The first ${limits.rejectsSearchedMax} entries are searched`,
        examples: ['jane.doe'],
      }),
      ...page,
    },
    reply: Reject,
    list: 'paged',
    streams: ['application/x-ndjson', 'text/csv'],
    done: 'Rejected records listed',
  }),
  editRejects: operation({
    tag: 'Transfers',
    summary: 'Correct the values of rejected records',
    description: `Stores corrected values of up to ${limits.rejectEditsMax} rejected records of a transfer that has ended; a replay sends them. The original values are kept, too. Each correction replaces an earlier correction of the same record. The audit log records the numbers of the records and the names of the columns, but no values.`,
    actsIn: 'account',
    scope: 'records:edit',
    body: EditRejects,
    reply: EditedRejects,
    done: 'Rejected records corrected',
    refusals: ['transfer_active'],
  }),
  findDataSubject: operation({
    tag: 'Transfers',
    summary: 'Find a person in the kept records',
    description:
      'Lists the rejected records of one person with the transfers that rejected them, in one sub-account, or in all sub-accounts if `accountId` is omitted. Accepted records are not kept. Each call searches a part; send `next` to continue. Reading records is recorded in the audit log, without the values.',
    reads: true,
    actsIn: 'organization or account',
    scope: 'records:read',
    body: DataSubject,
    reply: FoundDataSubject,
    done: 'Records searched',
  }),
  eraseDataSubject: operation({
    tag: 'Transfers',
    summary: 'Erase a person from the kept records',
    description:
      'Erases the values and reasons of the rejected records of one person, in one sub-account, or in all sub-accounts if `accountId` is omitted. The records are still counted, but cannot be replayed. Each call searches a part; send `next` to continue until it is null. The audit log records an event without the person. Erase At Destination asks the platforms of destinations.',
    actsIn: 'organization or account',
    scope: 'records:erase',
    body: DataSubject,
    reply: ErasedDataSubject,
    done: 'Records erased',
  }),
  listErasureDestinations: operation({
    tag: 'Transfers',
    summary: 'List the destinations at which a person can be erased',
    description:
      'Lists the configured destinations of a sub-account, by connector and name, with the kinds of identifiers by which each platform erases a person, and what it deletes. Read it before Erase At Destination.',
    actsIn: 'account',
    scope: 'records:erase',
    query: { ...page },
    reply: ErasureDestination,
    list: 'paged',
    done: 'Destinations listed',
  }),
  eraseAtDestination: operation({
    tag: 'Transfers',
    summary: 'Erase a person at a destination',
    description:
      'Asks the platform of one configured destination to erase a person, by each identifier of a kind that List Erasure Destinations names, and waits up to a minute for the answers. This cannot be undone. If the call is interrupted, the outcome is not known: repeat it. The audit log records the beginning and the outcomes as numbers, without the person.',
    ownTransaction: true,
    actsIn: 'account',
    scope: 'records:erase',
    query: { ...ofConfiguration },
    body: EraseAtDestination,
    reply: ErasedAtDestination,
    done: 'Platform asked',
    refusals: ['connector_not_added', 'connector_not_configured'],
  }),
} as const
