import { example } from '../examples.ts'
import { operation } from '../operation.ts'
import { exactText, optionalTime, page } from '../parameters.ts'
import { AuditEvent } from '../schemas.ts'

/** The audit log. */
export const audit = {
  listAudit: operation({
    tag: 'Audit',
    summary: 'List the audit log',
    description:
      'Lists the events of the organization, newest first: every change, sign-in and refusal, and who read records. With `accountId`, only events of that sub-account. With `Accept: application/x-ndjson`, all matching events are streamed.',
    actsIn: 'organization or account',
    scope: 'audit:read',
    query: {
      actorId: exactText('Keeps what this client, session or person did', example.clientId),
      action: exactText('Keeps this action, such as an operation of this API', 'editAccount'),
      targetId: exactText('Keeps what was done to this resource', example.accountId),
      from: optionalTime('Keeps events at this time or later'),
      to: optionalTime('Keeps events at this time or earlier'),
      ...page,
    },
    reply: AuditEvent,
    list: 'paged',
    streams: ['application/x-ndjson'],
    done: 'Audit log listed',
  }),
} as const
